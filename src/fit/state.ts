// What a call leaves for the next one: names of what was given and sent, and what was decided. Plain JSON of some 20 bytes for
// each block, to be kept wherever the conversation is. It is read as anybody's JSON: wrong shapes are refused, never guessed.
import type { WireName } from '../model/model.ts'
import type { Calibration } from '../projection/calibration.ts'
import { isRecord } from '../transcript/content.ts'
import type { Boundary } from './compaction.ts'
import type { Pace } from './pace.ts'

export const stateVersion = 1

/** How a result is shortened; from this and the result its text is made the same every time. */
export interface StoredEdit {
  readonly why: 'large' | 'repeated'
  /** Of one that was too large: what is shown, and where the whole is. */
  readonly headChars: number
  readonly tailChars: number
  readonly ref: string
  readonly wayBack: string
  /** Of one that repeats another: the call that gave it. */
  readonly call: string
  /** Estimated tokens that are not sent. */
  readonly saved: number
}

/** A result that is sent whole, by the unit it is: what it says, named, and which call gave it. */
export interface StoredWhole {
  readonly text: string
  readonly call: string
}

/** Opaque: take it from one call and give it to the next. */
export interface FitState {
  readonly v: number
  readonly wire: WireName
  readonly head: string
  /** The beginnings of what was given, and of what was returned where that is not the same. */
  readonly given: readonly string[]
  readonly sent: readonly string[] | null
  /** Estimated tokens of each unit that was given. */
  readonly tokens: readonly number[]
  readonly edits: Readonly<Record<string, StoredEdit>>
  readonly boundaries: Readonly<Record<string, Boundary>>
  readonly wholes: Readonly<Record<string, StoredWhole>>
  /** What was returned: its size by estimate and in bytes. */
  readonly estimate: number
  readonly bytes: number
  /** When the last call was, where somebody said so. */
  readonly at: number | null
  /** What a provider counted, and the estimate of the same. */
  readonly anchor: { readonly tokens: number; readonly estimate: number } | null
  readonly pace: Pace | null
  readonly calibration: Calibration
}

const newState = (wire: WireName): FitState => ({
  v: stateVersion,
  wire,
  head: '',
  given: [],
  sent: null,
  tokens: [],
  edits: {},
  boundaries: {},
  wholes: {},
  estimate: 0,
  bytes: 0,
  at: null,
  anchor: null,
  pace: null,
  calibration: { models: {} },
})

export type StateRead =
  | { readonly ok: true; readonly state: FitState }
  | { readonly ok: false; readonly code: 'bad-state' | 'newer-state'; readonly message: string }

/** A state that somebody gives back, checked; a new one where there is none. */
export function readState(given: unknown, wire: WireName): StateRead {
  if (given === undefined || given === null) return { ok: true, state: newState(wire) }
  if (!isRecord(given)) return bad('it is no object')
  const version = given['v']
  if (typeof version === 'number' && version > stateVersion)
    return {
      ok: false,
      code: 'newer-state',
      message: `the state is of version ${version} and this release reads up to ${stateVersion}; use the release that wrote it, or leave \`state\` out to start anew (what was shortened is then sent whole once more)`,
    }
  if (version !== stateVersion) return bad('it has no version')
  if (given['wire'] !== wire) return bad(`it was made for the wire ${String(given['wire'])}, not ${wire}`)
  const wrong = Object.entries(shapes).find(([key, fits]) => !fits(given[key]))
  return wrong === undefined
    ? { ok: true, state: given as object as FitState }
    : bad(`its ${wrong[0]} is damaged`)
}

const bad = (why: string): StateRead => ({
  ok: false,
  code: 'bad-state',
  message: `this state cannot be used: ${why}. Pass what the last call returned, or leave \`state\` out to start anew`,
})

type Shape = (value: unknown) => boolean
const isText: Shape = (value) => typeof value === 'string'
const isCount: Shape = (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0
const isNumber: Shape = (value) => typeof value === 'number' && Number.isFinite(value)
const listOf =
  (fits: Shape): Shape =>
  (value) =>
    Array.isArray(value) && value.every(fits)
const mapOf =
  (fits: Shape): Shape =>
  (value) =>
    isRecord(value) && Object.values(value).every(fits)
const withKeys =
  (keys: Readonly<Record<string, Shape>>): Shape =>
  (value) =>
    isRecord(value) && Object.entries(keys).every(([key, fits]) => fits(value[key]))
const orNull =
  (fits: Shape): Shape =>
  (value) =>
    value === null || fits(value)

const shapes: Readonly<Record<Exclude<keyof FitState, 'v' | 'wire'>, Shape>> = {
  head: isText,
  given: listOf(isText),
  sent: orNull(listOf(isText)),
  tokens: listOf(isCount),
  edits: mapOf(
    withKeys({
      why: (value) => value === 'large' || value === 'repeated',
      headChars: isCount,
      tailChars: isCount,
      ref: isText,
      wayBack: isText,
      call: isText,
      saved: isNumber,
    }),
  ),
  boundaries: mapOf(
    withKeys({
      from: isCount,
      to: isCount,
      text: isText,
      without: listOf(isText),
      savedChars: isNumber,
      kept: isText,
    }),
  ),
  wholes: mapOf(withKeys({ text: isText, call: isText })),
  estimate: isCount,
  bytes: isCount,
  at: orNull(isNumber),
  anchor: orNull(withKeys({ tokens: isCount, estimate: isCount })),
  pace: orNull(withKeys({ sizes: listOf(isCount), answeredAt: isNumber, charsPerToken: isCount })),
  calibration: withKeys({ models: mapOf(withKeys({ factor: isCount, weight: isCount })) }),
}
