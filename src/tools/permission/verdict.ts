// What is decided about one call, with everything a person or a transcript wants to know about it.
import type { GivenRule } from '../../settings/rule-list.ts'
import type { ReadOnlyRun } from '../tool.ts'

/**
 * default: read-only calls run, the rest is asked about. acceptEdits: changes of files in the project run too. plan:
 * only what looks. dontAsk: what would be asked about is refused. bypass: everything runs that no rule denies.
 */
export const permissionModes = ['default', 'acceptEdits', 'plan', 'dontAsk', 'bypass'] as const
export type PermissionMode = (typeof permissionModes)[number]

export interface Verdict {
  readonly kind: 'allow' | 'ask' | 'deny'
  /** One sentence: what was found. */
  readonly why: string
  /** Who decided: a rule, a mode, or the nature of the call. */
  readonly by: 'rule' | 'mode' | 'nature'
  readonly rule?: GivenRule | undefined
  /** The call is read-only, as far as that is known. */
  readonly looks: boolean
  /** How a command that is let run as read-only has to run. */
  readonly readOnly?: ReadOnlyRun | undefined
  /** The rules that would let such a call run; empty when none short of the whole tool would. */
  readonly offers: readonly string[]
  /** Real paths that the path gate must let through if the call may run. */
  readonly reads?: readonly string[] | undefined
  readonly writes?: readonly string[] | undefined
}

const verdict = (
  kind: Verdict['kind'],
  why: string,
  by: Verdict['by'],
  more: Partial<Verdict> = {},
): Verdict => ({ kind, why, by, looks: false, offers: [], ...more })
export const allowed = (why: string, by: Verdict['by'], more?: Partial<Verdict>): Verdict =>
  verdict('allow', why, by, more)
export const asked = (why: string, more?: Partial<Verdict>): Verdict => verdict('ask', why, 'nature', more)
export const denied = (why: string, by: Verdict['by'], more?: Partial<Verdict>): Verdict =>
  verdict('deny', why, by, more)
