// The numbers of jobs that run on a session's prefix; part of `defaults`.
import { second, KB, minute } from './units.ts'

export const forkDefaults = {
  summary: {
    /** A sign of life at least so often while a summary is written. */
    signMs: 30 * second,
    /** What a direct call may put out. */
    directTokens: 20_000,
    /** A fork that could say less than this is not asked. */
    leastTokens: 4000,
    /** Of a window that only our estimate speaks for, this share stays free. */
    slackShare: 0.1,
    /** Shorter requests after a refusal for length, and the share of rounds that go where it names no numbers. */
    retries: 3,
    dropShare: 0.2,
    /** A talk that would need more pieces than this is not summarised by a model. */
    pieces: 16,
    /** One block of a piece takes at most this share of it; the middle of a longer one is left out. */
    blockShare: 0.25,
    /** Fewest characters in one token, so that a text cut to so many surely fits. */
    charsPerToken: 2,
    /** Words that surely fit into a token, where a summary must be short. */
    wordsPerToken: 0.5,
    /** Shorter quotations are not looked up. */
    leastQuoteChars: 12,
    leastNextQuoteChars: 20,
    /** Of a quotation that nobody said this much is shown. */
    shownQuoteChars: 80,
    /** With this share of its words in one line of what was said, a quotation is told otherwise and not made up. */
    nearShare: 0.7,
    /** Of the sections that are asked for so many may be missing; the others must say this much beside the user's words. */
    mostMissing: 2,
    leastBodyChars: 80,
    /** Of so many names a summary gives, this share must occur in the session; with fewer names nothing is concluded. */
    mostNames: 40,
    leastNames: 8,
    knownShare: 0.5,
    /** Of the message at a chosen place this much is shown to tell where it is. */
    pivotChars: 200,
    /** What a cached token is taken to cost of a plain one, where no price is known. */
    cachedShare: 0.1,
  },
  notes: {
    /** Notes begin here, in tokens of the conversation; later so many must have been added. */
    firstTokens: 10_000,
    furtherTokens: 5000,
    /** And this share of what is in view: each update reads all of it. */
    furtherShare: 0.25,
    /** With so many calls since, or with an answer that makes none. */
    calls: 3,
    /** Longest section, and longest file. */
    sectionTokens: 2000,
    fileTokens: 12_000,
    /** A compaction waits so long for an update, unless that has been running for so long already. */
    waitMs: 15 * second,
    staleMs: 60 * second,
    /** Failures in a row after which none are kept in this session. */
    failures: 3,
    /** Longest file of the user's own words that is read: a template, a prompt. */
    maxConfigBytes: 64 * 1024,
    maxFileBytes: 1024 * 1024,
    /** Rounds an update may take. */
    rounds: 6,
  },
} as const

// The numbers of extraction and consolidation; part of `defaults`.

const hour = 60 * minute

export const memoryJobDefaults = {
  extraction: {
    /** Turns between two looks. */
    every: 1,
    /** Model turns of one look. */
    rounds: 5,
    /** How long the end of a session waits for one that runs. */
    exitMs: 60 * second,
    /** Failures in a row after which none is tried in this session. */
    failures: 3,
    /** Memories named to it, the newest. */
    manifestFiles: 200,
    /** Memories compared with a new one, so that nothing is saved twice; the newest. */
    comparedFiles: 1000,
    /** The telling words of a line a person said that a newer statement must share to take its place. */
    replacedShare: 0.4,
  },
  consolidation: {
    /** Time since the last one, and since the last look at the sessions. */
    everyMs: 24 * hour,
    scanMs: 10 * minute,
    /** Sessions that must have been worked in since. */
    sessions: 5,
    /** A lock that cannot be read, or whose owner cannot be seen from here, is given up after this time. */
    staleLockMs: 60 * minute,
    /** Model turns of one. */
    rounds: 30,
    /** Memories it looks at, the newest, and pages of the diary. */
    files: 200,
    diaryPages: 30,
    /** What may be lost at once: a share of all lines, and this many whatever the share. */
    lossShare: 0.2,
    lossLines: 3,
    /** The telling words of a retired memory that the one in its place must share. */
    successorShare: 0.5,
    /** Versions looked through for the day on which a line was written. */
    versionsRead: 50,
    /** Longest journal, and how many are read for an undo. */
    setBytes: 4096 * KB,
    setsRead: 100,
    /** Of the sessions since the last one: how many, sentences of each, and the longest. */
    sessionsRead: 20,
    sentencesRead: 10,
    sentenceChars: 300,
    /** Of a project, to see what still holds: files, bytes in all and of one, the longest line, and bytes of what is known. */
    projectFiles: 20_000,
    projectBytes: 32_768 * KB,
    projectFileBytes: 256 * KB,
    projectLineChars: 500,
    claimsBytes: 2048 * KB,
  },
  memoryJobs: {
    /** Turns and ended jobs that are kept for people to look at. */
    turns: 30,
    ended: 20,
    /** Of one turn's words this many. */
    turnChars: 400,
  },
} as const
