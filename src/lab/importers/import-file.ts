// One entry for every format: looks at what a file holds, not at its name, and hands it to the importer that knows it.
import { open, readFile, stat } from 'node:fs/promises'
import { defaults } from '../../settings/defaults.ts'
import type { Imported } from '../recording.ts'
import { importClaudeCode, isClaudeCodeLine } from './claude-code.ts'
import { importCodex, isCodexLine } from './codex.ts'
import { importCorpus, isCorpusHeader } from './corpus.ts'
import { geminiLinesIn, importGemini, isGeminiLine } from './gemini-cli.ts'
import { readLines, streamLines, unpack, type Fields, type JsonLine, type Lines } from './lines.ts'
import { importMessages, isMessage, messagesIn } from './messages.ts'
import { exportIn, importOpencode } from './opencode.ts'
import { importPi, isPiLine } from './pi.ts'
import { importTranscript, isEntryLine } from './transcript.ts'

export interface LineFormat {
  readonly isLine: (value: Fields) => boolean
  readonly load: (name: string, lines: Lines) => Imported
}

/** The first whose lines are the most wins; the order settles a tie. */
const formats: readonly LineFormat[] = [
  { isLine: isEntryLine, load: importTranscript },
  { isLine: isCorpusHeader, load: importCorpus },
  { isLine: isClaudeCodeLine, load: importClaudeCode },
  { isLine: isCodexLine, load: importCodex },
  { isLine: isPiLine, load: importPi },
  { isLine: isGeminiLine, load: importGemini },
]

/** Whether a record is one of a format that is known. */
export const isKnownLine = (value: Fields): boolean => formats.some(({ isLine }) => isLine(value))

/** Reads a recording. Never throws: what cannot be read is a failure that names the file and the line. */
export async function importFile(path: string): Promise<Imported> {
  try {
    if (await isLong(path)) return await importLong(path)
    return importBytes(path, await readFile(path))
  } catch (error) {
    return {
      ok: false,
      failure: { code: 'io-error', message: `${path}: cannot be read (${(error as Error).message})` },
    }
  }
}

/** Too long to be held beside what is made of it; what is packed or one JSON value has to be. */
export async function isLong(path: string): Promise<boolean> {
  if ((await stat(path)).size <= defaults.lab.streamBytes) return false
  const file = await open(path, 'r')
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return buffer[0] === 0x7b && buffer[1] !== 0x0a
  } finally {
    await file.close()
  }
}

async function importLong(path: string): Promise<Imported> {
  const records: JsonLine[] = []
  const skipped: Lines['skipped'][number][] = []
  for await (const read of streamLines(path, { isWhole: isKnownLine })) {
    if (read.record !== null) records.push(read.record)
    if (read.skipped !== null) skipped.push(read.skipped)
  }
  const lines = { total: records.length + skipped.length, records, skipped }
  const format = formatOf(lines)
  return (
    format?.load(path, lines) ?? {
      ok: false,
      failure: { code: 'unknown-format', message: `${path}: no format that is known` },
    }
  )
}

/** Reads a session file of any known format. */
export function importBytes(name: string, packed: Uint8Array): Imported {
  const unpacked = unpack(name, packed)
  if (!unpacked.ok) return unpacked
  const { bytes } = unpacked
  const whole = parseWhole(bytes)
  const exported = whole.ok ? exportIn(whole.value) : null
  if (exported !== null) return importOpencode(name, exported)
  const gemini = whole.ok ? geminiLinesIn(whole.value) : null
  if (gemini !== null) return importGemini(name, gemini)
  if (whole.ok && messagesIn(whole.value) !== null) return importMessages(name, whole.value)
  const lines = readLines(bytes, isKnownLine)
  const format = formatOf(lines)
  if (format !== null && !startsArray(bytes)) return format.load(name, lines)
  const messages = lines.records.map(({ value }) => value)
  if (messages.length > 0 && messages.every(isMessage)) return importMessages(name, messages)
  const where = `${name}, line ${whole.ok ? 1 : whole.line()}`
  const why = whole.ok ? 'no format that is known' : whole.why
  return { ok: false, failure: { code: 'unknown-format', message: `${where}: ${why}` } }
}

/** The format most of the first lines have. */
export function formatOf(lines: Pick<Lines, 'records'>): LineFormat | null {
  const sample = lines.records.slice(0, defaults.lab.detectLines)
  let best: LineFormat | null = null
  let most = 0
  for (const format of formats) {
    const votes = sample.filter(({ value }) => format.isLine(value)).length
    if (votes > most) [best, most] = [format, votes]
  }
  return best
}

type Parsed =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly line: () => number; readonly why: string }

// Lines of JSON fail here at their second line, which costs nothing: a parser stops at the first error.
function parseWhole(bytes: Uint8Array): Parsed {
  if (bytes.length > defaults.lab.maxWholeBytes)
    return { ok: false, line: () => 1, why: 'too large to be one JSON value' }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8')
  if (text.trim() === '') return { ok: false, line: () => 1, why: 'empty' }
  try {
    return { ok: true, value: JSON.parse(text) }
  } catch (error) {
    const { message } = error as Error
    return { ok: false, line: () => errorLine(text), why: `not JSON (${message})` }
  }
}

// The parser does not always say where it stopped. A beginning of the text that lacks only its end is sound, so the
// first line with which it is no longer sound is the one.
function errorLine(text: string): number {
  const lines = text.split('\n')
  let sound = 0
  let broken = lines.length
  while (sound + 1 < broken) {
    const middle = Math.floor((sound + broken) / 2)
    if (isSoundStart(lines.slice(0, middle).join('\n'))) sound = middle
    else broken = middle
  }
  return broken
}

function isSoundStart(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const { message } = error as Error
    const position = Number(/position (\d+)/.exec(message)?.[1] ?? 0)
    return message.includes('end of JSON input') || position >= text.length
  }
}

const startsArray = (bytes: Uint8Array): boolean => {
  const first = bytes.find((byte) => byte > 0x20)
  return first === 0x5b
}
