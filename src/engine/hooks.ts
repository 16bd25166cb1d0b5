// Hooks: what others may say at certain moments. The port; `hook-commands` runs them as commands.
// A hook that fails is shown; where it was to judge a call it blocks it, and is ignored everywhere else.
import { pass, type Judge } from '../tools/permission/pipeline.ts'
import type { Emit } from './live.ts'

export type HookName =
  | 'SessionStart'
  | 'InstructionsLoaded'
  | 'UserPromptSubmit'
  | 'PreToolUse'
  | 'PostToolUse'
  | 'PreCompact'
  | 'PostCompact'
  | 'Stop'

export interface HookAnswer {
  /** Text for the model, appended as an attachment. */
  readonly context: string | null
  /** The step must not be taken, and why. Only where the moment can be stopped. */
  readonly block: string | null
  /** What went wrong with the hook itself; to be shown. */
  readonly failures: readonly string[]
}

export interface Hooks {
  fire(name: HookName, payload: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<HookAnswer>
}

export const noAnswer: HookAnswer = { context: null, block: null, failures: [] }
export const noHooks: Hooks = { fire: () => Promise.resolve(noAnswer) }

interface Fired {
  readonly options: { readonly hooks?: Hooks | undefined }
  readonly session: string
}

/** Fires one moment; what goes wrong with a hook itself is shown. */
export async function fireHooks(
  { options: { hooks = noHooks }, session }: Fired,
  name: HookName,
  payload: Readonly<Record<string, unknown>>,
  emit: Emit,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const answer = await hooks.fire(name, { session, ...payload }, signal)
  for (const message of answer.failures) emit({ type: 'notice', code: 'hook-failed', message })
  return answer
}

/** What an agent hears of its parent's hooks: those that judge its calls. The talk they belong to is another's. */
export const toolHooks = (hooks: Hooks | undefined): Hooks | undefined =>
  hooks && {
    fire: (name, payload, signal) =>
      name === 'PreToolUse' || name === 'PostToolUse'
        ? hooks.fire(name, payload, signal)
        : Promise.resolve(noAnswer),
  }

/** The hooks as the first judge of a call: they may stop it, and allow nothing. */
export const hookJudge = (core: Fired, emit: Emit): Judge => ({
  name: 'hooks',
  async judge({ sent, call }, signal) {
    const through = sent.name === call.name ? {} : { through: sent.name }
    const payload = { tool: call.name, input: call.input, ...through }
    const answer = await fireHooks(core, 'PreToolUse', payload, emit, signal)
    return answer.block === null ? pass('no hook blocks it') : { kind: 'deny', why: answer.block }
  },
})
