// From which size on a result is shortened: over recorded sessions, what each gate would save of the bill, and how many later
// edits then change text that stands only in the part left out of sight (each of them pays for reading the whole again). Every n-th session is held out and counted apart.
// `npm run bench -- gateway-gate [FOLDER]`
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { chainOf } from '../src/fit/chain.ts'
import { readRequest } from '../src/fit/layouts.ts'
import { newResults, trimmed } from '../src/fit/trim.ts'
import { sha256 } from '../src/gateway/digest.ts'
import { defaults } from '../src/settings/defaults.ts'
import { isRecord } from '../src/transcript/content.ts'
import { corpusOr } from '../test/shared-data.ts'

const gates = [4000, 8000, 12_000, 16_000, 24_000, 32_000, 50_000]
const charsPerToken = 4
/** Prices of a cached prompt, as parts of plain input: what was there is read, what is new is written. */
const [readFactor, writeFactor] = [0.1, 1.25]
/** Shorter texts of an edit are found anywhere. */
const leastEditChars = 20

interface Turn {
  readonly role: string
  readonly content: readonly Record<string, unknown>[]
}
interface Counted {
  readonly direct: number
  readonly trimmed: number
  readonly edits: number
  readonly hidden: number
  readonly cut: number
}

function turnsOf(file: string): { readonly first: number; readonly turns: readonly Turn[] } {
  const [header, ...turns] = gunzipSync(readFileSync(file))
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  const first = header?.['first_request_tokens']
  return {
    first: typeof first === 'number' ? first : 15_000,
    turns: turns.map(({ role, content }) => ({
      role: String(role),
      content: Array.isArray(content) ? content.filter(isRecord) : [],
    })),
  }
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : (Array.isArray(content) ? content : [])
        .map((part: unknown) => (isRecord(part) && typeof part['text'] === 'string' ? part['text'] : ''))
        .join('\n')

/** What a result becomes under a gate, by the gateway's own code. */
function shownOf(text: string, gate: number): string {
  const body = Buffer.from(
    JSON.stringify({
      messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: text }] }],
    }),
  )
  const request = readRequest('anthropic', body)!
  const chain = chainOf('gate', request, sha256)
  const limits = { ...defaults.gateway, resultChars: gate, messageChars: Infinity }
  const edits = trimmed(
    newResults(request, 0),
    chain,
    limits,
    () => undefined,
    () => ({
      ref: 'kept',
      wayBack:
        'The whole result is in the file /home/dev/.palimpsest/gateway/tenant/kept/0123456789abcdef01234567.txt: read the part you need from it, or make a narrower call',
    }),
  )
  return edits.get(chain.links[0]!)?.texts[0] ?? text
}

/** The text that an edit looks for. */
function editedText(block: Record<string, unknown>): string | null {
  const input = isRecord(block['input']) ? block['input'] : {}
  const wanted = input['old_string'] ?? input['oldText'] ?? input['old_str']
  return typeof wanted === 'string' && wanted.length >= leastEditChars ? wanted : null
}

function counted(file: string, gate: number): Counted {
  const { first, turns } = turnsOf(file)
  let [direct, short] = [first * charsPerToken, first * charsPerToken]
  let [newDirect, newShort] = [0, 0]
  let [directCost, shortCost, edits, hidden, cut] = [0, 0, 0, 0, 0]
  const [whole, seen]: [string[], string[]] = [[], []]
  for (const { role, content } of turns) {
    for (const block of content) {
      if (block['type'] === 'tool_result') {
        const text = textOf(block['content'])
        const shown = text.length > gate ? shownOf(text, gate) : text
        if (shown !== text) cut++
        whole.push(text)
        seen.push(shown)
        newDirect += text.length
        newShort += shown.length
        continue
      }
      const size = JSON.stringify(block).length
      newDirect += size
      newShort += size
      const wanted = block['type'] === 'tool_use' ? editedText(block) : null
      if (wanted === null || !whole.some((text) => holds(text, wanted))) continue
      edits++
      if (seen.some((text) => holds(text, wanted))) continue
      hidden++
      // The agent has to read it first: one request more, and the whole in the conversation from then on.
      const again = whole.findLast((text) => holds(text, wanted))!
      seen.push(again)
      shortCost += short * readFactor
      newShort += again.length
    }
    if (role !== 'assistant') continue
    directCost += direct * readFactor + newDirect * writeFactor
    shortCost += short * readFactor + newShort * writeFactor
    direct += newDirect
    short += newShort
    ;[newDirect, newShort] = [0, 0]
  }
  return { direct: directCost, trimmed: shortCost, edits, hidden, cut }
}

/** Readers number their lines, so a text of several lines is looked for line by line. */
function holds(text: string, wanted: string): boolean {
  if (text.includes(wanted)) return true
  const rows = wanted.split('\n').filter((row) => row.trim().length > 5)
  return rows.length > 1 && rows.every((row) => text.includes(row))
}

const folder = corpusOr(process.argv[2])
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl.gz'))
  .toSorted()
const isHeldOut = (_: string, at: number): boolean => (at + 1) % defaults.lab.heldOutEvery === 0
const parts = [
  ['chosen on', files.filter((name, at) => !isHeldOut(name, at))],
  ['held out', files.filter(isHeldOut)],
] as const
for (const [title, names] of parts) {
  process.stdout.write(
    `${title} (${names.length} sessions): gate, saved of the prompt's bill, results cut, later edits of text left out of sight\n`,
  )
  for (const gate of gates) {
    const all = names.map((name) => counted(join(folder, name), gate))
    const sum = (of: (each: Counted) => number): number => all.reduce((total, each) => total + of(each), 0)
    const [direct, short, edits, hidden] = [
      sum((each) => each.direct),
      sum((each) => each.trimmed),
      sum((each) => each.edits),
      sum((each) => each.hidden),
    ]
    process.stdout.write(
      `  ${String(gate).padStart(6)}  ${((100 * (direct - short)) / direct).toFixed(1).padStart(5)}%  ${String(sum((each) => each.cut)).padStart(5)}  ${hidden} of ${edits} (${((100 * hidden) / Math.max(1, edits)).toFixed(1)}%)\n`,
    )
  }
}
