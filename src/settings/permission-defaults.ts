// The numbers of permissions and of the sandbox; part of `defaults`.
import { KB, second } from './units.ts'

export const permissionDefaults = {
  /** A longer command is not judged: it is refused. */
  commandChars: 128 * KB,
  /** Ways to read the parts of one command; beyond, it is refused. */
  readings: 400,
  /** Commands wrapped in commands. */
  nesting: 12,
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
  /** Folders that are looked through for files that hold keys, before a search reads them all; with more it is asked about. */
  keyFolders: 20_000,
  /** A longer ignore file is not read, and may say anything. */
  ignoreFileBytes: 256 * 1024,
  /** How long the sandbox may take to show that it works. */
  sandboxProbeMs: 5 * second,
} as const
