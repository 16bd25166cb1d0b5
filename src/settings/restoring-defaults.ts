// The numbers of what stands beside a compaction: what it gives back, spans archived before it, and its preparation; part
// of `defaults`.
import { second } from './units.ts'

export const restoringDefaults = {
  restoration: {
    /** Whether files are read again; plan, mode and tasks come back in any case. */
    files: true,
    /** Most recently read files that are read again, what one of them may take, and all together. */
    fileCount: 5,
    fileTokens: 5000,
    filesTokens: 50_000,
    /** A file that would get less than this is shown by its outline instead. */
    leastFileTokens: 250,
    /** Further files of which the declarations are shown, and what they may take: each, and together. */
    outlineCount: 20,
    outlineTokens: 400,
    outlinesTokens: 3000,
    outlineLineChars: 160,
    /** Further files of which only the name is shown. */
    pathCount: 60,
    pathsTokens: 800,
    /** What a restorer gives back is cut to this; the plan is not cut. */
    standingTokens: 5000,
    /** Files that come with the instructions anyway, by their names. */
    instructionFiles: [
      'AGENTS.md',
      'CLAUDE.md',
      'AGENTS.local.md',
      'CLAUDE.local.md',
      'MEMORY.md',
    ] as readonly string[],
  },
  collapse: {
    /** Shares of the threshold at which spans are staged, and at which they are committed. */
    stageShare: 0.7,
    commitShare: 0.9,
    /** The newest turns stay as they are. */
    turnsKept: 3,
    /** A span is at least so large; one that reaches the other number ends at the next round. */
    leastTokens: 4000,
    spanTokens: 12_000,
    /** How much more an old span weighs than a new one of its size, and one that nothing refers to than one all refer to. */
    ageWeight: 1,
    referenceWeight: 3,
    /** Names of a span that are looked for in what follows it. */
    names: 200,
    /** The text of a span: its share and its most tokens; and what the audit may add. */
    textShare: 0.12,
    textTokens: 1500,
    ledgerTokens: 300,
    /** A model's account of a span may take this. */
    accountTokens: 3000,
    /** New spans are staged when the view has grown by this share of the room. */
    growthShare: 0.05,
    /** Failed texts of a model in a row after which they are extracted. */
    failures: 3,
  },
  preparation: {
    /** Share of the threshold at which a summary is asked for ahead. */
    share: 0.9,
    /** A text still being written when it is needed is waited for this long. */
    waitMs: 30 * second,
  },
} as const
