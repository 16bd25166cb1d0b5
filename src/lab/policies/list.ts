// Every policy that has a name, in the order of the table: what bounds the picture, other programs, ours.
import { defaults } from '../../settings/defaults.ts'
import { peers } from './peers.ts'
import { policy, type Policy } from './rules.ts'

const cutOff = { text: 'none', userWords: 'lose' } as const

const bounds: readonly Policy[] = [
  policy('append-only', 'sends everything, window or not: what keeps everything', {
    trim: cutOff,
    ignoresWindow: true,
  }),
  {
    ...policy(
      'hindsight',
      'knows the future: each block is carried only while something later needs it, and leaves for nothing',
      {
        trim: cutOff,
        ignoresWindow: true,
      },
    ),
    hindsight: true,
  },
  policy('empty', 'only the round at work is sent: what keeps nothing', {
    trim: { ...cutOff, atTokens: 0, keepTokens: 0 },
  }),
  policy('bag-of-words', 'at the threshold a list of words replaces everything: must lose', {
    trim: { text: 'bag', keepTokens: 0 },
  }),
  policy('none', 'sends everything; at the window the oldest is cut off', { trim: cutOff }),
  policy('truncate-half', 'at the threshold the older half is cut off', {
    trim: { ...cutOff, keepShare: 0.5 },
  }),
  policy('compact-keep-0', 'at 33,000 below the window a summary replaces everything', {
    trim: { belowEnd: 33_000, keepTokens: 0 },
    summaries: 'model',
  }),
]

const standardPolicy = policy('standard', 'our layers with their defaults', {
  spill: true,
  standard: {},
  // It compacts by itself: only what could not be sent at all is trimmed.
  trim: { atShare: 1 },
})

const ours: readonly Policy[] = [
  policy('clear-old', 'our clearing of old results by time, economy and pressure, alone', {
    standard: { budget: false, autocompact: false, pressureClearing: true },
  }),
  standardPolicy,
]

/** Our layers at each measured place of the dial. */
export const dial: readonly Policy[] = defaults.dial.points.map(({ at }) => ({
  ...standardPolicy,
  name: `dial-${at}`,
  about: `our layers with the dial at ${at}: 0 keeps as much as fits, 1 spends as little as is sensible`,
  standard: { thrift: at },
}))

/** What each of the layers that call no model is worth: none, each alone, and all of them, under the same boundaries. */
export const layers: readonly Policy[] = [
  ...(
    [
      ['layers-off', 'boundaries alone', { budget: false, microcompact: false }, false],
      ['budget-alone', 'boundaries and the tool-result budget', { microcompact: false }, true],
      ['microcompact-alone', 'boundaries and microcompact', { budget: false }, false],
    ] as const
  ).map(([name, about, standard, spill]) => ({ ...standardPolicy, name, about, standard, spill })),
  standardPolicy,
]

/** Who writes the text of a boundary, under the same layers, with what it costs to have it written. */
export const texts: readonly Policy[] = [
  standardPolicy,
  {
    ...standardPolicy,
    name: 'standard-model',
    about: 'our layers, and a summary by a model at each boundary, asked of a fork on the cached prefix',
    standard: { text: 'model' },
  },
  {
    ...standardPolicy,
    name: 'standard-notes',
    about: 'our layers, and notes kept by a fork after every few answers, which stand for what goes',
    standard: { text: 'notes' },
  },
]

/** The policies the lab plays. */
export const policies: readonly Policy[] = [...bounds, ...peers, ...ours]

/** A policy by its name. */
export const policyNamed = (name: string): Policy | undefined =>
  [...policies, ...dial, ...layers, ...texts].find((policy) => policy.name === name)

/** What a policy is in the picture; one from a file is its user's own. */
export function kindOf({ name }: Policy): 'bound' | 'peer' | 'ours' {
  const isIn = (list: readonly Policy[]): boolean => list.some((policy) => policy.name === name)
  return isIn(bounds) ? 'bound' : isIn(peers) ? 'peer' : 'ours'
}
