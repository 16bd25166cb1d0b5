// The numbers of memory; part of `defaults`.
import { KB, MB, second } from './units.ts'

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
  /** How long a writer waits for others, and how long it pauses between two looks: first, and at most. */
  lockWaitMs: 30 * second,
  lockPollMs: 5,
  lockMaxPollMs: 40,
  /** How often giving the lock back is tried. */
  releaseTries: 3,
  /** Memories that only tools vouch for, at most. */
  fencedFiles: 500,
  /** A sentence shorter than this is too common to be known again. */
  printWords: 5,
  /** A sentence of a memory is carried by a typed one that holds this share of its telling words. */
  supportShare: 0.75,
  /** Words shorter than this tell nothing; two that begin alike for so many letters are one. */
  supportWordChars: 4,
  supportStemChars: 6,
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
