// The numbers of what people touch: preset, command line, demo; part of `defaults`.
import { MB, second } from './units.ts'

export const surfaceDefaults = {
  preset: {
    /** Who answers where nobody has said. */
    model: 'claude-sonnet-5',
  },
  cli: {
    /** Width where the terminal does not say. */
    columns: 80,
    /** Most that is read from standard input, from a settings file, and of a recording. */
    stdinBytes: 10 * MB,
    settingsBytes: 1 * MB,
    recordingBytes: 256 * MB,
    /** Somebody who waits for an open pipe is told so after this time. */
    stdinNoticeMs: 3 * second,
    /** Shortest beginning of a session's id that names it. */
    idPrefixChars: 4,
    /** First words of a session shown in the list. */
    firstWordsChars: 60,
    /** Sessions shown where nothing else is asked for. */
    listedSessions: 20,
    /** What the doctor wants of Node, how long it waits for a program, and how many sessions it reads through. */
    leastNode: [20, 19] as const,
    probeMs: 5 * second,
    probedSessions: 5,
  },
  demo: {
    /** Small, so that everything that makes room has to. */
    windowTokens: 16_500,
    maxOutputTokens: 4000,
    model: 'claude-sonnet-4-6',
    /** What the results of one answer may take together. */
    messageChars: 10_000,
    /** Newest results that stay whole. */
    keep: 2,
  },
} as const
