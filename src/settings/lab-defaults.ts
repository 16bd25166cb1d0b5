// The numbers of the lab; part of `defaults`.
import { KB, MB, minute, second } from './units.ts'

export const labDefaults = {
  /** Largest recording that is read, unpacked. */
  maxImportBytes: 2048 * MB,
  /** How many beginnings are tried when looking for a whole record inside a damaged line. */
  salvageTries: 64,
  /** Lines looked at to find out the format. */
  detectLines: 200,
  /** Largest file that is read as one JSON value; above it only files of lines are read. */
  maxWholeBytes: 256 * MB,
  /** Larger files are read piece by piece. */
  streamBytes: 32 * MB,
  pieceBytes: MB,
  /** A longer line is passed over, with its number. */
  mostLineBytes: 64 * MB,
  /** System prompt and tools of a recording that does not say how large they were. */
  unknownFixedTokens: 8000,
  /** Time from one turn to the next where the recording has none. */
  stepMs: 20 * second,
  /** Reasoning whose text was not recorded weighs this for each character of its signature. */
  tokensPerSignatureChar: 0.19,
  /** What the simulator's counter is multiplied by, by what stands in the model's name; fitted on recorded contexts (docs/measures.md). */
  families: [
    { name: 'Claude 4.7 and 4.8', names: /claude-opus-4-[78]/, scale: 1.53 },
    { name: 'Claude 5', names: /claude-(?:[a-z]+)-5/, scale: 1.36 },
    { name: 'Claude up to 4.6', names: /claude/, scale: 1.36 },
    { name: 'GPT', names: /gpt-/, scale: 0.92 },
    { name: 'DeepSeek', names: /deepseek/, scale: 0.87 },
    { name: 'Gemini', names: /gemini/, scale: 0.96 },
    { name: 'others', names: /(?:)/, scale: 1 },
  ],
  /** What a call puts out that looks something up: the median of recorded answers that are one call and nothing else. */
  lookUpOutputTokens: 142,
  /** A longer line counts as several, so that a page without line ends is not one neighbourhood. */
  lineChars: 400,
  /** Shortest text of an edit that is looked for. */
  editTextChars: 3,
  /** Largest bag of words. */
  bagChars: 24_000,
  /** What remains of a result that alone does not fit. */
  cutResultChars: 2000,
  /** What counts in input-token equivalents: a token read from the cache, written for each lifetime, or put out. */
  equivalents: { fresh: 1, read: 0.1, write5m: 1.25, write1h: 2, output: 5 },
  /** Every so many sessions one is held out and shown apart. */
  heldOutEvery: 3,
  compactions: {
    /** The rooms in which our text is judged beside a vendor's. */
    rooms: [4300, 6300, 10_000, 18_000, 25_000],
    /** A shorter text of a vendor says nothing: it is sealed. */
    leastTextChars: 400,
    /** Characters around an atom that count as said of it. */
    unitChars: 240,
    /** Decisions that are looked for, the newest, and the share of its words by which one is told. */
    decisions: 60,
    statedShare: 0.6,
    /** Simulated boundaries: turns between them, turns that are the future, turns before the first and after the last. */
    everyTurns: 40,
    futureTurns: 200,
    leastTurns: 40,
    perSession: 6,
  },
  /** The wire rules judge each request after an edit, the first and the last, and of the others one in so many. */
  checkEvery: 8,
  /** Longest policy file. */
  maxPolicyBytes: 64 * KB,
  /** Own sessions: the largest file that is read, how many of the newest, and how long playing them may take. */
  ownMaxBytes: 64 * MB,
  ownLimit: 30,
  ownMs: 75 * second,
  /** Sessions that are made up: their sizes, how long a person pauses, and which files are edited. */
  sample: {
    sessions: [
      { requests: 30, files: 10, lines: 120 },
      { requests: 70, files: 14, lines: 160 },
      { requests: 110, files: 20, lines: 200 },
      { requests: 180, files: 24, lines: 180 },
    ],
    pauses: [20 * second, 45 * second, 90 * second, 3 * minute, 4 * minute, 11 * minute, 100 * minute],
    recentReads: 3,
    oldEdits: 0.25,
    outputLines: 160,
  },
} as const
