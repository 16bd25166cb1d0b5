// The client's session file read on from where the last hook stopped. The file is hostile: lines and counts are bounded, a
// torn line is passed over, unknown kinds are skipped before they are parsed, no path in it is opened. Nothing of it is ever
// quoted, so what is kept are names of files and programs that match a plain pattern, and counts.
import type { FailedCommand } from '../block-input.ts'
import { isPlainPath, isProgramName } from '../clean.ts'
import { readFileWith, type OpenedFile } from './files.ts'
import { isRecord, objectIn, fieldsOf, listOf, numberOf, textOf, type Fields } from '../../transcript/json.ts'
import { readRecord, scanFile, writeRecord, type SessionState } from './state.ts'

const limits = {
  /** Of a longer file only the end is read. */
  fileBytes: 64 * 1024 * 1024,
  blockBytes: 1024 * 1024,
  lineBytes: 4 * 1024 * 1024,
  /** Where the kind of a line must stand. */
  kindBytes: 2048,
  files: 60,
  failures: 12,
  tasks: 100,
  openCalls: 200,
  pathChars: 240,
}

export interface ScannedFile {
  readonly path: string
  readonly edits: number
}

export interface Scan {
  readonly identity: string
  /** Behind the last whole line that was read. */
  readonly offset: number
  /** Lines before the offset; null where the beginning of the file was left out. */
  readonly lines: number | null
  /** Compactions the file records. */
  readonly boundaries: number
  /** The newest last. */
  readonly files: readonly ScannedFile[]
  readonly failures: readonly FailedCommand[]
  /** Of the client's list: how many are open, and how many of them are begun. */
  readonly openTasks: readonly boolean[]
}

/** What one line adds. */
export interface LineFacts {
  readonly boundary?: boolean
  readonly files?: readonly { readonly path: string; readonly isEdit: boolean }[]
  /** Commands by the id of their call, until their result is read. */
  readonly commands?: readonly { readonly id: string; readonly program: string }[]
  readonly results?: readonly {
    readonly id: string
    readonly exitCode: number | null
    readonly isError: boolean
  }[]
  readonly tasks?: readonly boolean[]
  /** Tasks that are made and moved one by one. */
  readonly moved?: readonly { readonly id: string; readonly state: 'open' | 'begun' | 'over' }[]
}

/** A line as bytes. */
export interface RawLine {
  readonly head: () => string
  readonly tail: () => string
  readonly has: (text: string) => boolean
  readonly whole: () => string
}

export interface LineReader {
  /** Decides by the beginning of a line, its end and what stands in it whether it is worth parsing. */
  readonly isWanted: (line: RawLine) => boolean
  readonly factsOf: (line: Fields) => LineFacts
}

interface Folding {
  lines: number | null
  boundaries: number
  readonly files: Map<string, number>
  failures: FailedCommand[]
  readonly commands: Map<string, string>
  tasks: Map<string, boolean>
}

/** Reads on and keeps how far it came; what does not fit the time is read by the next hook. */
export function scanOn(
  state: SessionState,
  transcript: string,
  reader: LineReader,
  isLate: () => boolean,
): Scan | null {
  const before = notedScan(state)
  const scan = readFileWith(transcript, (file) => readOn(file, before, reader, isLate))
  if (scan === null) return null
  if (scan.offset !== before?.offset || scan.identity !== before.identity) writeRecord(state, scanFile, scan)
  return scan
}

/** Adds what a client tells of itself, where it has no file to read. */
export function noteFacts(state: SessionState, facts: LineFacts): void {
  const folding = foldingOf(notedScan(state))
  fold(folding, facts)
  writeRecord(state, scanFile, scanned(folding, { identity: 'noted', offset: 0, isInside: false }))
}

/** What has been noted so far. */
export const notedScan = (state: SessionState): StoredScan | null => storedScan(readRecord(state, scanFile))

function readOn(
  file: OpenedFile,
  stored: StoredScan | null,
  reader: LineReader,
  isLate: () => boolean,
): StoredScan {
  // Another file, or one that was cut, is read anew.
  const before =
    stored !== null && stored.identity === file.identity && stored.offset <= file.bytes ? stored : null
  const begin = Math.max(before?.offset ?? 0, file.bytes - limits.fileBytes)
  const isWhole = begin === (before?.offset ?? 0)
  const folding = foldingOf(before)
  if (!isWhole) folding.lines = null
  const stop = eachLine(file, begin, isWhole && before?.isInside !== true, isLate, (raw) => {
    if (folding.lines !== null) folding.lines++
    if (!reader.isWanted(raw)) return
    const line = objectIn(raw.whole())
    if (line !== null) fold(folding, reader.factsOf(line))
  })
  return scanned(folding, { identity: file.identity, ...stop })
}

const scanned = (folding: Folding, stop: Stop & Pick<Scan, 'identity'>): StoredScan => ({
  ...stop,
  lines: folding.lines,
  boundaries: folding.boundaries,
  files: [...folding.files].map(([path, edits]) => ({ path, edits })),
  failures: folding.failures,
  openTasks: [...folding.tasks.values()],
  commands: [...folding.commands],
  tasks: [...folding.tasks],
})

interface Stop {
  readonly offset: number
  /** Inside a line that is too long, whose end must not be taken for a line. */
  readonly isInside: boolean
}

/** Calls back for each whole line and says where the last one ended. A line that is too long is passed over. */
function eachLine(
  file: OpenedFile,
  begin: number,
  isLineStart: boolean,
  isLate: () => boolean,
  hear: (line: RawLine) => void,
): Stop {
  let offset = begin
  let skips = !isLineStart
  let rest: Buffer = Buffer.alloc(0)
  for (let at = begin; at < file.bytes && !isLate();) {
    const block = file.read(at, Math.min(limits.blockBytes, file.bytes - at))
    if (block.length === 0) break
    const bytes = rest.length === 0 ? block : Buffer.concat([rest, block])
    let from = 0
    for (let end = bytes.indexOf(newline, from); end >= 0; end = bytes.indexOf(newline, from)) {
      if (isLate()) return { offset, isInside: skips }
      const line = bytes.subarray(from, end)
      if (!skips) hear(rawLine(line))
      skips = false
      offset += end + 1 - from
      from = end + 1
    }
    rest = bytes.subarray(from)
    at += block.length
    if (rest.length > limits.lineBytes) {
      offset += rest.length
      rest = Buffer.alloc(0)
      skips = true
    }
  }
  return { offset, isInside: skips }
}
const newline = 10

const rawLine = (line: Buffer): RawLine => ({
  head: () => line.toString('latin1', 0, limits.kindBytes),
  tail: () => line.toString('latin1', Math.max(0, line.length - limits.kindBytes)),
  has: (text) => line.includes(text, 0, 'latin1'),
  whole: () => line.toString('utf8'),
})

function fold(into: Folding, facts: LineFacts): void {
  if (facts.boundary === true) into.boundaries++
  for (const { path, isEdit } of facts.files ?? []) {
    if (!isPlainPath(path, limits.pathChars)) continue
    const edits = into.files.get(path) ?? 0
    into.files.delete(path)
    into.files.set(path, edits + (isEdit ? 1 : 0))
    shorten(into.files, limits.files)
  }
  for (const { id, program } of facts.commands ?? []) {
    if (!isProgramName(program) || id.length > limits.pathChars) continue
    into.commands.set(id, program)
    shorten(into.commands, limits.openCalls)
  }
  for (const { id, exitCode, isError } of facts.results ?? []) {
    const program = into.commands.get(id)
    into.commands.delete(id)
    if (program !== undefined && isError)
      into.failures = [...into.failures, { program, exitCode }].slice(-limits.failures)
  }
  if (facts.tasks !== undefined)
    into.tasks = new Map(facts.tasks.slice(0, limits.tasks).map((isBegun, at) => [String(at), isBegun]))
  for (const { id, state } of facts.moved ?? []) {
    if (state === 'over') into.tasks.delete(id)
    else if (id.length <= limits.pathChars) into.tasks.set(id, state === 'begun')
    shorten(into.tasks, limits.tasks)
  }
}

function shorten<Value>(map: Map<string, Value>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) return
    map.delete(key)
  }
}

// ---- kept between hooks ----

interface StoredScan extends Scan, Stop {
  readonly commands: readonly (readonly [string, string])[]
  readonly tasks: readonly (readonly [string, boolean])[]
}

const foldingOf = (before: StoredScan | null): Folding => ({
  lines: before === null ? 0 : before.lines,
  boundaries: before?.boundaries ?? 0,
  files: new Map((before?.files ?? []).map(({ path, edits }) => [path, edits])),
  failures: [...(before?.failures ?? [])],
  commands: new Map(before?.commands ?? []),
  tasks: new Map(before?.tasks ?? []),
})

function storedScan(record: Fields | null): StoredScan | null {
  const identity = textOf(record?.['identity'])
  const offset = numberOf(record?.['offset'])
  if (record === null || identity === null || offset === null) return null
  const pairs = (value: unknown): readonly (readonly [string, unknown])[] =>
    listOf(value).flatMap((pair) => {
      const [key, stored] = listOf(pair)
      return typeof key === 'string' ? [[key, stored] as const] : []
    })
  const tasks = pairs(record['tasks']).map(([id, isBegun]) => [id, isBegun === true] as const)
  return {
    identity,
    offset,
    isInside: record['isInside'] === true,
    lines: numberOf(record['lines']),
    boundaries: numberOf(record['boundaries']) ?? 0,
    files: listOf(record['files'])
      .filter(isRecord)
      .flatMap((file) => {
        const path = textOf(file['path'])
        return path === null ? [] : [{ path, edits: numberOf(file['edits']) ?? 0 }]
      }),
    failures: listOf(record['failures']).flatMap((failure) => {
      const program = textOf(fieldsOf(failure)['program'])
      return program === null ? [] : [{ program, exitCode: numberOf(fieldsOf(failure)['exitCode']) }]
    }),
    openTasks: tasks.map(([, isBegun]) => isBegun),
    commands: pairs(record['commands']).flatMap(([id, program]) =>
      typeof program === 'string' ? [[id, program] as const] : [],
    ),
    tasks,
  }
}
