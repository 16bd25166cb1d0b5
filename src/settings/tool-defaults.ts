// The numbers of the tools; part of `defaults`.
import { MB, second, minute, KB } from './units.ts'

export const toolDefaults = {
  /** Largest result that enters the view whole. */
  maxResultChars: 50_000,
  /** Read-only calls of one response that run at the same time. */
  parallel: 8,
  /** After an abort a running tool gets this long to say what it did. */
  abortGraceMs: 3 * second,
  /** Files whose last reading is remembered. */
  readFiles: 500,
  /** One page of Read: whichever comes first. */
  readPageTokens: 25_000,
  readPageLines: 2000,
  readLineChars: 2000,
  /** Read goes through a file once per page, so it refuses larger ones. */
  readFileBytes: 256 * MB,
  imageBytes: 3.75 * MB,
  /** Edit and Write hold the whole file in memory. */
  editFileBytes: 16 * MB,
  /** Unchanged lines around a change that is shown. */
  contextLines: 3,
  newFileMode: 0o644,
  newFolderMode: 0o755,
  bashTimeoutMs: 2 * minute,
  bashMaxTimeoutMs: 10 * minute,
  /** What is shown of each end of an output that was kept elsewhere. */
  bashPreviewChars: 2048,
  /** A command that says more than this is stopped. */
  bashOutputBytes: 64 * MB,
  /** Between the polite signal and the one that cannot be refused. */
  bashKillGraceMs: second,
  /** After the shell has gone, what it left in the pipe may still come in. */
  bashDrainMs: second / 4,
  backgroundJobs: 16,
  /** As much of a command as a list of jobs shows. */
  jobListChars: 200,
  /** Most that is read of the file that tells of a session's jobs. */
  jobsFileBytes: 256 * 1024,
  /** Newest output kept of a background job. */
  backgroundJobChars: 1 * MB,
  /** Most of it that one look shows. */
  backgroundReadChars: 30_000,
  /** Longest time one look waits for something new. */
  backgroundWaitMs: 30 * second,
  searchLimit: 250,
  searchMaxLimit: 5000,
  searchLineChars: 500,
  searchOutputBytes: 8 * MB,
  searchMs: 30 * second,
  searchContextLines: 50,
  /** A pattern that our own matcher needs longer for on one file is given up. */
  patternStallMs: 3 * second,
  patternChars: 1024,
  braceBudget: 1000,
  /** Our own search skips larger files. */
  scanFileBytes: 16 * MB,
  globLimit: 200,
  globMaxLimit: 2000,
  walkFiles: 500_000,
  expandChars: 20_000,
  expandMaxChars: 50_000,
  fetchMs: 30 * second,
  fetchBytes: 5 * MB,
  fetchRedirects: 5,
  fetchUrlChars: 2048,
  tasks: 100,
  taskChars: 500,
  /** A plan that is shown to the user. */
  planChars: 20_000,
} as const

// The numbers of permissions and of the sandbox; part of `defaults`.

export const permissionDefaults = {
  /** A longer command is not judged: it is refused. */
  commandChars: 128 * KB,
  /** Ways to read the parts of one command; beyond, it is refused. */
  readings: 400,
  /** Commands wrapped in commands. */
  nesting: 12,
  /** Words of one command line; with more it is asked about, or refused by a rule. */
  words: 4000,
  /** Folders that one command may be in, where a change of folder may fail. */
  folders: 4,
  /** Files that a command may name; with more it is asked about. */
  namedFiles: 300,
  /** Files that a pattern of a command may stand for; with more it is asked about. */
  globMatches: 300,
  /** Largest file that says where a repository lies. */
  gitPointerBytes: 64 * KB,
  /** Largest git configuration that is read, and how long git may take to read it. */
  gitConfigBytes: 4 * 1024 * KB,
  gitConfigMs: 10 * second,
  /** Longest list of the files in an index of git's, and how long git may take to print it. */
  gitIndexBytes: 512 * 1024 * KB,
  gitIndexMs: 60 * second,
  /** Folders that are looked through for files that hold keys, before a search reads them all; with more it is asked about. */
  keyFolders: 20_000,
  /** A longer ignore file is not read, and may say anything. */
  ignoreFileBytes: 256 * 1024,
  /** How long the sandbox may take to show that it works. */
  sandboxProbeMs: 5 * second,
} as const
