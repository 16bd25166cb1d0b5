// The options of the companion, from one file of the user's in its own folder. No variable of the environment and no file of
// a project is asked: a project's settings can set the one and hold the other.
import { join } from 'node:path'
import { isMissing, readSmall } from './files.ts'
import { objectIn, fieldsOf, listOf, numberOf, textOf } from '../../transcript/json.ts'

export const hookClients = ['claude', 'codex', 'opencode'] as const
export type HookClient = (typeof hookClients)[number]

export interface HookOptions {
  /** Adds the user's rules to the client's compaction prompt. */
  readonly steer: boolean
  /** Shortens long outputs of commands; the original is kept in the session's folder. */
  readonly shrink: boolean
  /** Dollars from which the price of a return to a cold cache is shown. */
  readonly coldUsd: number
  /** Milliseconds after which a hook gives up. */
  readonly clockMs: number
  /** Points of clients that `pal companion doctor` found not working, as `claude:SessionStart`. */
  readonly off: readonly string[]
}

export const optionsFile = 'options.json'
const mostBytes = 16_384
const defaultOptions: HookOptions = {
  steer: false,
  shrink: false,
  coldUsd: 0.5,
  clockMs: 250,
  off: [],
}
const mostClockMs = 60_000

/** Null where the file is there and cannot be understood: then nothing is done at all. */
export function readOptions(root: string): HookOptions | null {
  const path = join(root, optionsFile)
  if (isMissing(path)) return defaultOptions
  const fields = objectIn(readSmall(path, mostBytes) ?? '')
  if (fields === null) return null
  const { steer, shrink, off } = fields
  const clockMs = numberOf(fields['clockMs']) ?? defaultOptions.clockMs
  return {
    steer: steer === true,
    shrink: shrink === true,
    coldUsd: numberOf(fields['coldUsd']) ?? defaultOptions.coldUsd,
    clockMs: Math.min(Math.max(clockMs, 1), mostClockMs),
    off: listOf(off).flatMap((one) => textOf(one) ?? []),
  }
}

export const isOff = ({ off }: HookOptions, client: HookClient, event: string): boolean =>
  off.includes(`${client}:${event}`)

/** The rest of a file that holds other options stays. */
export const withOff = (text: string | null, off: readonly string[]): string =>
  `${JSON.stringify({ ...fieldsOf(text === null ? {} : objectIn(text)), off }, null, 2)}\n`
