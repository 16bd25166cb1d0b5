// Every policy that has a name, in the order of the table: what bounds the picture, other programs, ours.
import { defaults } from '../../settings/defaults.ts'
import { policy, type Policy } from './rules.ts'

const KB = 1024
const hour = 3_600_000
const fiftyKB = { overChars: 50 * KB, keepChars: 50 * KB }

/**
 * The rules of other programs, under their names. Their numbers are those of their sources and documentation; they run in our
 * engine, on whole rounds, and where they would ask a model for a summary our own extract stands for it.
 */
const peers: readonly Policy[] = [
  policy(
    'pi',
    'results to 50 KB; at 16,384 below the window a summary replaces all but the newest 20,000 tokens',
    {
      cap: fiftyKB,
      trim: { belowEnd: 16_384, keepTokens: 20_000 },
      summaries: 'model',
    },
  ),
  policy(
    'opencode',
    'results to 50 KB; at 20,000 below the window a summary replaces all but the newest 15,000 tokens',
    {
      cap: fiftyKB,
      trim: { belowEnd: 20_000, keepTokens: 15_000 },
      summaries: 'model',
    },
  ),
  policy(
    'opencode-prune',
    'opencode with its pruning switched on: results beyond the newest 40,000 tokens and the last 2 turns are cleared when that frees 20,000',
    {
      cap: fiftyKB,
      clear: { atTokens: 0, keepTokens: 40_000, keepTurns: 2, minFreedTokens: 20_000 },
      trim: { belowEnd: 20_000, keepTokens: 15_000 },
      summaries: 'model',
    },
  ),
  policy(
    'gemini-cli',
    'results to 40,000 characters; those beyond the newest 50,000 tokens and the last turn are masked when that frees 30,000; at half the window a summary replaces all but the newest 30 %',
    {
      cap: { overChars: 40_000, keepChars: 40_000 },
      clear: { atTokens: 0, keepTokens: 50_000, keepTurns: 1, minFreedTokens: 30_000 },
      trim: { atShare: 0.5, keepShare: 0.3 },
      summaries: 'model',
    },
  ),
  policy(
    'qwen-code',
    'results to 25,000 characters; after an hour idle all but 5 results are cleared, above 500,000 characters down to half; at 85 % or 33,000 below the window a summary replaces everything, with 5 files of 5,000 tokens behind it',
    {
      cap: { overChars: 25_000, keepChars: 2000 },
      clear: { idleMs: hour, atChars: 500_000, toChars: 250_000, keepResults: 5 },
      trim: {
        atShare: 0.85,
        belowEnd: 33_000,
        keepTokens: 0,
        restore: { files: 5, tokensEach: 5000 },
      },
      summaries: 'model',
    },
  ),
  policy(
    'codex',
    'results to 10,000 tokens; at 90 % of the window a summary replaces everything but what the user said',
    {
      cap: { overChars: 40_000, keepChars: 40_000 },
      trim: { atShare: 0.9, keepTokens: 0 },
      summaries: 'model',
    },
  ),
  policy(
    'cline',
    'results to 8,000 characters; out-of-date copies of files go in batches of 64 KB; at 81 % of the window a summary replaces all but the newest 20,000 tokens',
    {
      cap: { overChars: 8000, keepChars: 8000 },
      stale: { minBytes: 64 * KB },
      trim: { atShare: 0.81, keepTokens: 20_000 },
      summaries: 'model',
    },
  ),
  policy(
    'langchain-summarize',
    'at 85 % of the window a summary replaces all but the newest tenth of the window, as deepagents sets it',
    {
      trim: { atShare: 0.85, keepWindowShare: 0.1 },
      summaries: 'model',
    },
  ),
  policy(
    'langchain-clear',
    'ClearToolUsesEdit: once all messages take 100,000 tokens, all but the newest 3 results go',
    {
      clear: { atTokens: 100_000, counts: 'messages', keepResults: 3 },
    },
  ),
  policy(
    'ai-sdk-prune',
    'pruneMessages with toolCalls before-last-2-messages at every step: no threshold, no price',
    {
      prune: { keepMessages: 2 },
    },
  ),
  policy(
    'provider-clear',
    'clear_tool_uses with its defaults: the provider clears all but the newest 3 results of a request above 100,000 tokens, which comes whole each time',
    {
      clear: { atTokens: 100_000, counts: 'whole', keepResults: 3 },
    },
  ),
]

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
