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
  preparation: {
    /** Share of the threshold at which a summary is asked for ahead. */
    share: 0.9,
    /** A text still being written when it is needed is waited for this long. */
    waitMs: 30 * second,
  },
} as const
