// Every policy that has a name, in the order of the table: what bounds the picture, other programs, ours.
import { defaults } from '../../settings/defaults.ts'
import { fallback, plain, type Policy } from '../policy.ts'
import { peers } from './peers.ts'
import type { TrimRule } from './trim-rounds.ts'

const cutOff: TrimRule = { text: 'none', userWords: 'lose' }

const bounds: readonly Policy[] = [
  {
    ...plain,
    name: 'append-only',
    about: 'sends everything, window or not: what keeps everything',
    trim: cutOff,
    ignoresWindow: true,
  },
  {
    ...plain,
    name: 'hindsight',
    about:
      'knows the future: each block is carried only while something later needs it, and leaves for nothing',
    trim: cutOff,
    ignoresWindow: true,
    hindsight: true,
  },
  {
    ...plain,
    name: 'empty',
    about: 'only the round at work is sent: what keeps nothing',
    trim: { ...cutOff, atTokens: 0, keepTokens: 0 },
  },
  {
    ...plain,
    name: 'bag-of-words',
    about: 'at the threshold a list of words stands for everything: must lose',
    trim: { text: 'bag', userWords: 'keep', keepTokens: 0 },
  },
  { ...plain, name: 'none', about: 'sends everything; at the window the oldest is cut off', trim: cutOff },
  {
    ...plain,
    name: 'truncate-half',
    about: 'at the threshold the older half is cut off',
    trim: { ...cutOff, keepShare: 0.5 },
  },
  {
    ...plain,
    name: 'compact-keep-0',
    about: 'at 33,000 below the window a summary stands for everything',
    trim: { ...fallback, belowEnd: 33_000, keepTokens: 0 },
    summaries: 'model',
  },
]

const ours: readonly Policy[] = [
  {
    ...plain,
    name: 'clear-old',
    about: 'our clearing of old results by time, economy and pressure, alone',
    standard: { budget: false, autocompact: false, pressureClearing: true },
    trim: fallback,
  },
  {
    ...plain,
    name: 'standard',
    about: 'our layers with their defaults',
    spill: true,
    standard: {},
    // It compacts by itself: only what could not be sent at all is trimmed.
    trim: { ...fallback, atShare: 1 },
  },
]

const standardPolicy = ours.find(({ name }) => name === 'standard')!

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

export const policies: readonly Policy[] = [...bounds, ...peers, ...ours]

export const policyNamed = (name: string): Policy | undefined =>
  [...policies, ...dial, ...layers, ...texts].find((policy) => policy.name === name)

/** What a policy is in the picture; one from a file is its user's own. */
export function kindOf({ name }: Policy): 'bound' | 'peer' | 'ours' {
  const isIn = (list: readonly Policy[]): boolean => list.some((policy) => policy.name === name)
  return isIn(bounds) ? 'bound' : isIn(peers) ? 'peer' : 'ours'
}
