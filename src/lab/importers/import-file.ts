// One entry for every format: looks at what a file holds, not at its name, and hands it to the importer that knows it.
import { readFile } from 'node:fs/promises'
import { defaults } from '../../settings/defaults.ts'
import type { Imported } from '../recording.ts'
import { importClaudeCode, isClaudeCodeLine } from './claude-code.ts'
import { importCodex, isCodexLine } from './codex.ts'
import { importCorpus, isCorpusHeader } from './corpus.ts'
import { readLines, unpack, type Fields, type Lines } from './lines.ts'
import { importMessages, isMessage, messagesIn } from './messages.ts'
import { importPi, isPiLine } from './pi.ts'
import { importTranscript, isEntryLine } from './transcript.ts'

interface Format {
  readonly isLine: (value: Fields) => boolean
  readonly load: (name: string, lines: Lines) => Imported
}

/** The first whose lines are the most wins; the order settles a tie. */
const formats: readonly Format[] = [
  { isLine: isEntryLine, load: importTranscript },
  { isLine: isCorpusHeader, load: importCorpus },
  { isLine: isClaudeCodeLine, load: importClaudeCode },
  { isLine: isCodexLine, load: importCodex },
  { isLine: isPiLine, load: importPi },
]

/** Reads a recording. Never throws: what cannot be read is a failure that names the file and the line. */
export async function importFile(path: string): Promise<Imported> {
  let bytes: Uint8Array
  try {
    bytes = await readFile(path)
  } catch (error) {
    return {
      ok: false,
      failure: { code: 'io-error', message: `${path}: cannot be read (${(error as Error).message})` },
    }
  }
  return importBytes(path, bytes)
}

/** Reads a session file of any known format. */
export function importBytes(name: string, packed: Uint8Array): Imported {
  const unpacked = unpack(name, packed)
  if (!unpacked.ok) return unpacked
  const { bytes } = unpacked
  const whole = parseWhole(bytes)
  if (whole.ok && messagesIn(whole.value) !== null) return importMessages(name, whole.value)
  const lines = readLines(bytes, (value) => formats.some(({ isLine }) => isLine(value)))
  const format = formatOf(lines)
  if (format !== null && !startsArray(bytes)) return format.load(name, lines)
  const messages = lines.records.map(({ value }) => value)
  if (messages.length > 0 && messages.every(isMessage)) return importMessages(name, messages)
  const where = `${name}, line ${whole.ok ? 1 : whole.line()}`
  const why = whole.ok ? 'no format that is known' : whole.why
  return { ok: false, failure: { code: 'unknown-format', message: `${where}: ${why}` } }
}

function formatOf(lines: Lines): Format | null {
  const sample = lines.records.slice(0, defaults.lab.detectLines)
  let best: Format | null = null
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
