// What the companion keeps of one session, in a folder of its own: the ledger of typed words, the block that is prepared and
// the one that was said, the audit, the remainder, and how far the client's file has been read. Files are written whole or
// line by line, so a crash leaves the old text or one line that nobody can read; what cannot be read counts as missing.
import { join } from 'node:path'
import { safeName } from '../../disk/safe-name.ts'
import type { TypedWords } from '../block-input.ts'
import * as files from './files.ts'
import type { HookClient } from './options.ts'
import { objectIn, numberOf, textOf, type Fields } from '../../transcript/json.ts'

const limits = {
  /** A ledger is read from both ends; the first task stands at its head. */
  headBytes: 65_536,
  tailBytes: 2_000_000,
  ledgerBytes: 16_000_000,
  /** What one message may take; a longer one is kept by its ends. */
  messageChars: 16_000,
  recordBytes: 1_000_000,
  logBytes: 262_144,
  /** A lock that is older belongs to a process that died. */
  lockMs: 10_000,
  /** Looked at in one start. */
  swept: 50,
  keepMs: 30 * 24 * 60 * 60 * 1000,
}

export interface SessionState {
  readonly root: string
  readonly folder: string
  readonly name: string
  /** Text that no other process uses. */
  readonly unique: () => string
}

const sessionsFolder = 'sessions'
const pendingFolder = 'pending'
const ledgerFile = 'typed.jsonl'
const sourceFile = 'session.json'
const logFile = 'log.jsonl'

/** Null where the folder cannot be made, is not ours, or is open to others. */
export function openState(root: string, client: HookClient, session: string): SessionState | null {
  const name = `${client}-${safeName(session)}`
  const sessions = join(root, sessionsFolder)
  const folder = join(sessions, name)
  return [root, sessions, folder].every(files.ownFolder)
    ? { root, folder, name, unique: () => `${process.pid}-${process.hrtime.bigint().toString(36)}` }
    : null
}

/** Which file of the client it belongs to, so that it can go with it. */
export function noteSource(state: SessionState, transcript: string | null): void {
  if (transcript === null || files.modifiedMs(join(state.folder, sourceFile)) !== null) return
  writeRecord(state, sourceFile, { transcript })
}

/** Adds a message to the ledger; the text has been redacted. */
export function appendTyped({ folder }: SessionState, text: string, at: number): boolean {
  const { messageChars, ledgerBytes } = limits
  const half = messageChars / 2
  const kept =
    text.length <= messageChars
      ? { text }
      : { text: `${text.slice(0, half)}\n…\n${text.slice(-half)}`.toWellFormed(), chars: text.length }
  return files.appendLine(join(folder, ledgerFile), JSON.stringify({ at, ...kept }), ledgerBytes)
}

export function readTyped({ folder }: SessionState): readonly TypedWords[] {
  const text = files.readEnds(join(folder, ledgerFile), limits.headBytes, limits.tailBytes) ?? ''
  return text.split('\n').flatMap((line, index) => {
    const fields = line === '' ? null : objectIn(line)
    const words = textOf(fields?.['text'])
    return words === null ? [] : [{ text: words, order: index + 1, at: numberOf(fields?.['at']) }]
  })
}

export const readRecord = ({ folder }: SessionState, name: string): Fields | null =>
  objectIn(files.readSmall(join(folder, name), limits.recordBytes) ?? '')

export const writeRecord = (state: SessionState, name: string, value: object): boolean =>
  files.writeWhole(state.folder, name, JSON.stringify(value), state.unique())

/** Takes a record away under another name: of several processes at once only one gets it. */
export function claimRecord(state: SessionState, name: string, as: string): Fields | null {
  return files.moveFile(join(state.folder, name), join(state.folder, as)) ? readRecord(state, as) : null
}

/** Runs what reads and writes again; null where another process does so now. */
export function withLock<T>({ folder }: SessionState, now: number, work: () => T): T | null {
  const path = join(folder, 'lock')
  const takes = (): boolean => files.createFile(path, Buffer.from(String(process.pid)))
  if (!takes()) {
    const since = files.modifiedMs(path)
    // A clock that was set back makes a file of the future: no living hook is that old either.
    if (since === null || Math.abs(now - since) < limits.lockMs) return null
    files.removeFile(path)
    if (!takes()) return null
  }
  try {
    return work()
  } finally {
    files.removeFile(path)
  }
}

// ---- something waits for the next hook ----

/** A shell can ask for this folder, so that a tool call pays for no process while nothing waits. */
export const pendingPath = (root: string): string => join(root, pendingFolder)

export function setPending({ root, name }: Pick<SessionState, 'root' | 'name'>): boolean {
  const folder = pendingPath(root)
  const note = (): boolean => {
    const path = join(folder, name)
    return files.createFile(path, Buffer.alloc(0)) || !files.isMissing(path)
  }
  // Another hook may remove the empty folder in between.
  return (files.ownFolder(folder) && note()) || (files.ownFolder(folder) && note())
}

export function clearPending({ root, name }: Pick<SessionState, 'root' | 'name'>): void {
  files.removeFile(join(pendingPath(root), name))
  files.removeEmptyFolder(pendingPath(root))
}

/** While outputs are shortened every tool call is waited for. */
export function keepShrinkPending(root: string, isOn: boolean): void {
  const note = { root, name: 'shrink' }
  if (isOn) setPending(note)
  else if (!files.isMissing(join(pendingPath(root), note.name))) clearPending(note)
}

// ---- going away ----

/** Removes states whose session was removed, or that nobody has written to for 30 days; the log of today stays. */
export function sweepStates(root: string, now: number, isLate: () => boolean): number {
  const sessions = join(root, sessionsFolder)
  let removed = 0
  for (const name of files.namesIn(sessions).slice(0, limits.swept)) {
    if (isLate()) break
    const folder = join(sessions, name)
    if (!isOver(folder, now)) continue
    if (!files.removeTree(folder)) continue
    files.removeFile(join(pendingPath(root), name))
    removed++
  }
  if (removed > 0) files.removeEmptyFolder(pendingPath(root))
  return removed
}

function isOver(folder: string, now: number): boolean {
  const times = [folder, join(folder, ledgerFile)].flatMap((path) => files.modifiedMs(path) ?? [])
  if (times.length > 0 && now - Math.max(...times) > limits.keepMs) return true
  const source = objectIn(files.readSmall(join(folder, sourceFile), limits.recordBytes) ?? '')
  const transcript = textOf(source?.['transcript'])
  return transcript !== null && files.isMissing(transcript) && wasSeen(folder)
}

/** A client may tell the name of a file before it writes it: only one we have read can have been removed. */
const wasSeen = (folder: string): boolean => files.modifiedMs(join(folder, scanFile)) !== null
export const scanFile = 'scan.json'

/** One line of why a hook kept silent: codes alone, no text of anybody's. */
export function noteSilence(root: string, now: number, entry: Readonly<Record<string, string>>): void {
  const path = join(root, logFile)
  const line = JSON.stringify({ at: new Date(now).toISOString(), ...entry })
  if (files.appendLine(path, line, limits.logBytes)) return
  if (files.moveFile(path, `${path}.old`)) files.appendLine(path, line, limits.logBytes)
}
