// Edit: replaces one text by another inside a file. The file must have been read in this session and must not have
// changed since; the text must be there once, or all places are meant. Everything else stays byte for byte:
// byte order mark, line ends, mode. The write is whole or not at all.
import type { OrWhy } from '../../disk/failure.ts'
import { holdsTag } from '../../disk/redact.ts'
import { defaults } from '../../settings/defaults.ts'
import { originalOf, restoredTags } from '../../transcript/fence.ts'
import { flag, optional, text, toolWith, type InputOf } from '../input.ts'
import { failed, headOf, succeeded } from '../outcome.ts'
import type { Tool } from '../tool.ts'
import { fileChange } from './file-change.ts'
import type { PathGate } from './path-gate.ts'
import {
  endsWithReturns,
  holdsHalfCharacter,
  loadText,
  shownDoubt,
  withReturns,
  writeNoted,
} from './text-file.ts'

const fields = {
  file_path: text('As for Read'),
  old_string: text(''),
  new_string: text(''),
  replace_all: optional(flag('')),
}
type EditInput = InputOf<typeof fields>

/** Replaces text in a file that was read. */
export function editTool(gate: PathGate): Tool<EditInput> {
  return toolWith(fields, {
    name: 'Edit',
    description:
      'Replace exact text in a file you have read. `old_string` must match the file character for character, without the line-number prefix, and occur once: include a few surrounding lines, or set `replace_all`. On "not found", Read the place again instead of guessing.',
    policy: { readOnly: false, results: 'clear', maxResultChars: defaults.tools.maxResultChars },
    async run(input, env) {
      const { file_path: path } = input
      const refused = inputRefusal(input) ?? (await gate.writeRefusal(env.cwd, path))?.message
      if (refused !== undefined) return failed(refused)
      const loaded = await loadText(gate, env.cwd, path)
      if (!loaded.ok)
        return failed(
          loaded.failure.code === 'not-found'
            ? `${path} was not found. Use Write to create it.`
            : loaded.failure.message,
        )
      const known = env.readFiles.get(loaded.path)
      if (known === undefined) return failed(`${path} was not read in this session. Read it first.`)
      if (known.sha256 !== loaded.sha256) return failed(`${path} changed since it was read. Read it again.`)
      const another = shownDoubt(env, loaded.path, loaded.sha256)
      if (another !== null) return failed(another)
      const change = changed(loaded.text, input)
      if (!change.ok) return failed(`${path} was not changed: ${change.why}`)
      const bytes = Buffer.from(change.text)
      const was = { path: loaded.path, text: loaded.text, mark: loaded.stat.mark }
      const written = await writeNoted(gate, env, path, bytes, was)
      if (!written.ok) return failed(`${path} was not changed: ${written.failure.message}`)
      return {
        ...succeeded(
          `Edited ${path}: ${change.count === 1 ? 'one place' : `${change.count} places`}, line ${change.lines.join(', ')}.`,
        ),
        change: fileChange(path, 'edit', loaded.text, change.text),
      }
    },
  })
}

function inputRefusal({ old_string: old, new_string: next }: EditInput): string | undefined {
  if (old === '') return '`old_string` is empty. Give the text to replace, or use Write for a new file.'
  if (old === next) return '`old_string` and `new_string` are the same; there is nothing to change.'
  if (holdsHalfCharacter(old) || holdsHalfCharacter(next))
    return 'The text holds half of a character (a lone surrogate). Nothing was changed.'
  return undefined
}

type Change = OrWhy<{ readonly text: string; readonly count: number; readonly lines: readonly number[] }>

const mostLinesListed = 10

/** The text with the replacement made. Pure. */
export function changed(
  text: string,
  { old_string: asked, new_string: wanted, replace_all: all = false }: EditInput,
): Change {
  const returns = endsWithReturns(text)
  const given = returns && !text.includes(asked) ? withReturns(asked) : asked
  // Copied from a block in which tags of ours are made harmless: the file has them as they are.
  const original = text.includes(given) ? null : originalOf(text, given)
  const old = original?.text ?? given
  const next = original === null ? wanted : restoredTags(wanted, original)
  const places = placesOf(text, old)
  if (places.length === 0) return { ok: false, why: missing(text, asked) }
  if (places.length > 1 && !all) {
    const lines = linesAt(text, places.slice(0, mostLinesListed)).join(', ')
    return {
      ok: false,
      why: `the text occurs ${places.length} times (line ${lines}). Give more of its surroundings, or set replace_all.`,
    }
  }
  if (holdsTag(next) && !holdsTag(old)) {
    return {
      ok: false,
      why: '`new_string` holds a [secret:…] tag, which only marks what was hidden from you. Leave the secret out of the replaced text.',
    }
  }
  return {
    ok: true,
    text: text.split(old).join(returns ? withReturns(next) : next),
    count: places.length,
    lines: linesAt(text, places.slice(0, mostLinesListed)),
  }
}

function missing(text: string, asked: string): string {
  if (holdsTag(asked))
    return 'the text holds a [secret:…] tag; the file has the secret there. Choose a text without it.'
  const near = closestTo(asked, text)
  return `old_string was not found. ${near === '' ? 'Read the lines you want to change and copy them exactly.' : near}`
}

function placesOf(text: string, wanted: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) places.push(at)
  return places
}

function linesAt(text: string, places: readonly number[]): number[] {
  let [line, from] = [1, 0]
  return places.map((place) => {
    for (let at = text.indexOf('\n', from); at >= 0 && at < place; at = text.indexOf('\n', at + 1)) {
      line++
      from = at + 1
    }
    return line
  })
}

// What the model probably meant when the text it wants to replace is not in the file: the same lines with other white
// space, or else the line most like the longest line it gave.

const limits = { lines: 20_000, lineChars: 400, shownLines: 8, likeness: 0.5 }

/** A sentence for the error message, or an empty one when nothing is near. */
function closestTo(wanted: string, text: string): string {
  const lines = text.split(/\r?\n/).slice(0, limits.lines)
  const asked = wanted.split(/\r?\n/)
  const loose = sameButSpace(asked, lines)
  if (loose !== null) {
    const found = lines.slice(loose, loose + asked.length)
    return `Lines ${loose + 1} to ${loose + asked.length} differ from it in white space only. They are:\n${shown(found)}`
  }
  const longest = asked.reduce((best, line) => (line.trim().length > best.trim().length ? line : best), '')
  const near = mostAlike(longest, lines)
  if (near === null) return ''
  const from = Math.max(0, near - asked.indexOf(longest))
  return `The nearest is at line ${near + 1}:\n${shown(lines.slice(from, from + Math.max(3, asked.length)))}`
}

const squeeze = (line: string) => line.replace(/\s+/g, ' ').trim()
const shown = (lines: readonly string[]) =>
  lines
    .slice(0, limits.shownLines)
    .map((line) => headOf(line, limits.lineChars))
    .join('\n')

function sameButSpace(asked: readonly string[], lines: readonly string[]): number | null {
  const wanted = asked.map(squeeze)
  if (wanted.every((line) => line === '')) return null
  const squeezed = lines.map(squeeze)
  for (let at = 0; at + wanted.length <= squeezed.length; at++) {
    if (wanted.every((line, step) => squeezed[at + step] === line)) return at
  }
  return null
}

function mostAlike(wanted: string, lines: readonly string[]): number | null {
  const asked = pairsOf(wanted)
  if (asked.size === 0) return null
  let [best, bestLine]: [number, number | null] = [limits.likeness, null]
  for (const [at, line] of lines.entries()) {
    const pairs = pairsOf(line)
    if (pairs.size === 0) continue
    let shared = 0
    for (const pair of pairs) if (asked.has(pair)) shared++
    const likeness = (2 * shared) / (asked.size + pairs.size)
    if (likeness > best) [best, bestLine] = [likeness, at]
  }
  return bestLine
}

function pairsOf(line: string): Set<string> {
  const plain = squeeze(line).slice(0, limits.lineChars).toLowerCase()
  const pairs = new Set<string>()
  for (let at = 0; at + 1 < plain.length; at++) pairs.add(plain.slice(at, at + 2))
  return pairs
}
