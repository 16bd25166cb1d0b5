// The rules of other programs, under their names. Their numbers are those of their sources and documentation; they run
// in our engine, on whole rounds, and where they would ask a model for a summary our own extract stands for it.
import { policy, type Policy } from './rules.ts'

const KB = 1024
const hour = 3_600_000
const fiftyKB = { overChars: 50 * KB, keepChars: 50 * KB }

export const peers: readonly Policy[] = [
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
