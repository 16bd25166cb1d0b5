// The numbers of memory; part of `defaults`.
import { KB, MB, second, minute } from './units.ts'

export const memoryDefaults = {
  /** Files and folders of memories are the user's alone. */
  fileMode: 0o600,
  folderMode: 0o700,
  /** Team memories are committed, so others read them. */
  sharedFileMode: 0o644,
  sharedFolderMode: 0o755,
  /** Largest memory, longest path of one below its folder, and how deep folders may lie in each other. */
  fileBytes: 256 * KB,
  pathChars: 200,
  nameBytes: 120,
  depth: 4,
  /** Memories listed where nothing else is asked for: the newest. */
  listed: 200,
  /** Files looked through at most. */
  scanned: 100_000,
  /** Files read at the same time. */
  parallel: 16,
  /** Lines in which the frontmatter must end, and lines of the text shown in a list. */
  headLines: 30,
  openingLines: 8,
  openingChars: 600,
  /** The index: lines and bytes that are loaded, and the length of one line. */
  indexLines: 200,
  indexBytes: 25_000,
  indexLineChars: 150,
  /** Longest ledger that is read, and the size of the pieces it is read in. */
  ledgerBytes: 256 * MB,
  ledgerBlockBytes: 256 * KB,
  /** How long a writer waits for others, how long it pauses between two looks, and after how many it asks who owns the lock. */
  lockWaitMs: 30 * second,
  lockPollMs: 5,
  lockLooks: 20,
  /** How often giving the lock back is tried. */
  releaseTries: 3,
  /** Memories that only tools vouch for, at most. */
  fencedFiles: 500,
  /** A sentence shorter than this is too common to be known again. */
  printWords: 5,
  /** Words shorter than this tell nothing; two that begin alike for so many letters are one. */
  supportWordChars: 4,
  supportStemChars: 6,
  /** How much of what a memory speaks of, by weight, a message must speak of to be quoted for it. */
  quoteShare: 0.2,
  /** The same where they share one word only. */
  quoteAlone: 0.5,
  /** Characters of typed sentences that are quoted at most. */
  quoteChars: 1_000,
  /** Messages that sentences are quoted from: the newest so many, none longer than this. */
  quotedMessages: 200,
  quotedMessageChars: 4_000,
  /** A title is no longer. */
  titleChars: 80,
  /** Instruction files: warned of above this many characters, and never read beyond this many bytes. */
  instructionChars: 40_000,
  instructionBytes: 1 * MB,
  /** Includes of one reading: nesting, files and bytes. */
  includeDepth: 5,
  includeFiles: 50,
  includeBytes: 40_000,
  /** A folder with more names, or a larger ledger, is not looked through before the first request. */
  checkedAtStart: 300,
  checkedLedgerBytes: 1 * MB,
  /** Rules files of one folder. */
  rulesFiles: 100,
} as const

// Numbers of recall and search. Weights of the rankers were measured with
// `npm run bench:recall`; docs/recall.md says what each is good for.

const day = 24 * 60 * minute

export const recallDefaults = {
  recall: {
    /** A message with fewer words asks for nothing. */
    leastWords: 2,
    /** No more is recalled once this many bytes of memories stand in the view. */
    visibleBytes: 60_000,
    /** The request waits at most this long for the local ranker. */
    localMs: 50,
    /** The same where one request may be all there is. */
    patientMs: minute,
    /** A selector that takes longer is given up for the local ranker. */
    selectorMs: 2 * second,
    /** Folders with more memories than this are looked through beside the request, never before it. */
    coldFiles: 200,
    /** No more files than this are read before a request; of others what is written down of them has to do. */
    unreadFiles: 50,
    /** Where one request may be all there is, up to so many are read first, and it waits at most this long for that. */
    patientFiles: 1000,
    patientReadMs: 2 * second,
    /** An index is kept on disk from so many memories on, and written anew after so many changes. Longer files are not read. */
    storedFrom: 50,
    storedBytes: 256 * MB,
    /** How long the first reading of such a folder waits, so that the request is out. */
    coldPauseMs: 50,
    /** Files read at a stretch before others get their turn. */
    readAtOnce: 32,
    /** Memories the selector sees, and how many of them come by rank when there are more. */
    manifestFiles: 200,
    rankedFiles: 80,
    /** Most memories the selector may choose, and most that the ranker injects by itself. */
    chosen: 5,
    local: 3,
    /** Words of the user's messages that are looked with, newest first. */
    queryWords: 100,
    /** One recalled file. */
    fileLines: 200,
    fileBytes: 4096,
    /** Of a description this much stands in the manifest. */
    descriptionChars: 300,
    /** Below this nothing is injected, and above the second a memory is injected without asking the selector. */
    floor: 10,
    strong: 15,
    /** With vectors: how near a memory must be to pass the floor without a word in common. */
    nearFloor: 0.5,
    /** What the selector sees of the message, may answer, and hears of tools. */
    messageChars: 4000,
    selectorOutputTokens: 300,
    recentTools: 10,
  },
  encoder: {
    /** The model of an endpoint where none is named: most local servers have it under this name. */
    model: 'nomic-embed-text',
    /** One request to an endpoint, and the texts in it. */
    requestMs: 20 * second,
    textsAtOnce: 64,
    /** Of a text this much is turned into a vector; of one for the packaged model less, which takes time by the word. */
    textChars: 2000,
    packagedChars: 600,
    packagedSentences: 12,
    /** Memories without a vector that are given one while a request waits; others get theirs beside it. */
    freshAtOnce: 16,
    storedBytes: 512 * MB,
  },
  serving: {
    /** Hits of a search, how many are looked through for them, and the characters of an excerpt and of all. */
    hits: 10,
    looked: 100,
    searchMs: 10 * second,
    excerptChars: 400,
    searchChars: 8000,
    /** One memory, or the turns around a place. */
    openChars: 16_000,
    /** Of a kept output at once: with the line on how to go on it is within that. */
    keptBytes: 15_900,
    turns: 2,
    mostTurns: 20,
    /** What a resumption shows: titles, and turns of the newest session. */
    resumeChars: 4000,
    resumeTurns: 6,
    /** Longest name of a memory that a caller names, and longest text. */
    nameChars: 80,
    textChars: 16_000,
    queryChars: 500,
    /** Memories that callers may save in an hour, and how many may wait for the user. */
    writes: 60,
    writesMs: 60 * minute,
    waiting: 200,
    /** What a client is told at its start. */
    instructionChars: 1000,
    /** Largest request over HTTP. */
    requestBytes: 1 * MB,
  },
  ranking: {
    k1: 1.2,
    b: 0.4,
    /** Repetitions of a word in the query count less and less. */
    querySaturation: 2,
    /** What the kinds of terms count beside a plain word. */
    everyday: 0.3,
    character: 0.2,
    subject: 0.3,
    /** Small stores are taken for this large: rarity among five memories says little. */
    leastDocuments: 100,
    /** Terms that count for less than a word are passed over when they stand in more documents than this. */
    longList: 20_000,
    fields: { name: 2, description: 2, triggers: 3, tags: 1, body: 1 },
    /** A phrase of the memory's own triggers that stands whole in the query. */
    trigger: 8,
    /** Newest memories get this much more, halved with each half-life; corrections of the user as much. */
    recency: 0.1,
    recencyHalfMs: 90 * day,
    feedback: 0.1,
    /** Share of the vectors where there are any. */
    fileVectors: 0.5,
  },
  turns: {
    k1: 0.9,
    b: 0.3,
    speaker: 2,
    date: 1,
    /** What the turns around one add to it, by distance; a long neighbour adds less. */
    neighbours: [
      [-1, 0.3],
      [1, 0.2],
      [-2, 0.15],
      [2, 0.05],
    ] as readonly (readonly [offset: number, weight: number])[],
    neighbourWords: 20,
    chunkWords: 64,
    overlapWords: 8,
    user: 2,
    session: 0.2,
    sessionK1: 1.2,
    sessionB: 0.75,
    vectors: 0.4,
  },
  search: {
    hits: 50,
    /** Sessions that are read, newest first, and the most bytes of them. */
    sessions: 200,
    sessionBytes: 256 * MB,
    /** Of one turn this much is indexed and shown. */
    turnChars: 20_000,
    shownChars: 300,
    /** Turns shown on each side when a hit is expanded. */
    around: 2,
    mostAround: 20,
    memories: 10,
    queryChars: 500,
    refChars: 1024,
  },
} as const
