// Numbers of the companion. The limits of other programs were seen by running them.
import { MB } from './units.ts'

export const companionDefaults = {
  companion: {
    /** Claude Code replaces what a hook says by a file above 10,000 characters; Codex cuts it in the middle. */
    blockChars: 9500,
    remainderChars: 1500,
    /** A message that is longer may be pasted: both its ends stand, and its place. */
    pasteChars: 1200,
    pasteEndChars: 220,
    /** A message with a rule is quoted whole up to here, else the sentences that are rules. */
    ruleMessageChars: 600,
    ruleChars: 400,
    files: 20,
    pathChars: 200,
    failures: 6,
    tasks: 12,
    taskChars: 200,
    /** Of a longer session the newest messages compete, and the first. */
    typedMessages: 2000,
    /** The first look at a home: days back, and time. */
    lookDays: 30,
    lookMs: 7000,
    /** A longer line of a session file is passed over. */
    mostLineBytes: 16 * MB,
    /** Things that an audit names as lost, for each compaction. */
    lostNamed: 12,
  },
} as const
