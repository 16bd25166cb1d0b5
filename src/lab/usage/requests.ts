// What a session file says was used, request by request. Everything that was answered was paid for: branches, what was
// taken back and sub-agents too, so this reads the lines themselves and not the conversation they make.
import { estimateBlocks } from '../../projection/tokens.ts'
import { jsonIn } from '../../transcript/json.ts'
import { isSimulated } from '../../transcript/fact.ts'
import type { Failure } from '../../transcript/store.ts'
import { anthropicUsage, messageBlocks } from '../importers/blocks.ts'
import { isClaudeCodeLine } from '../importers/claude-code.ts'
import { codexUsage, isCodexLine } from '../importers/codex.ts'
import { isCorpusHeader } from '../importers/corpus.ts'
import { geminiLinesIn, geminiUsage, isGeminiLine } from '../importers/gemini-cli.ts'
import {
  fieldsOf,
  numberOf,
  readLines,
  streamLines,
  stringOrNull,
  timeOf,
  unpack,
  type Fields,
} from '../importers/lines.ts'
import { isPiLine, piUsage } from '../importers/pi.ts'
import { isEntryLine } from '../importers/transcript.ts'
import { exportedMessages, opencodeRequests } from './opencode.ts'
import type { BilledRequest } from './totals.ts'

/** What a session of ours noted of work in the background; one that has a transcript of its own is counted there. */
export interface BilledFork {
  readonly child: string
  readonly at: number | null
  readonly tokens: number
  readonly dollars: number
}

interface BilledFile {
  readonly requests: readonly BilledRequest[]
  readonly forks: readonly BilledFork[]
  /** When the simulator answered, which costs nothing. */
  readonly simulated: readonly { readonly at: number | null }[]
  /** Lines that could not be read. */
  readonly skipped: number
}

export type Billed = ({ readonly ok: true } & BilledFile) | { readonly ok: false; readonly failure: Failure }

type Counted = Pick<BilledFile, 'requests'> & Partial<Pick<BilledFile, 'forks' | 'simulated'>>

interface Reader {
  readonly isLine: (value: Fields) => boolean
  readonly read: (name: string, lines: readonly Fields[]) => Counted
}

const requestsOf =
  (read: (name: string, lines: readonly Fields[]) => readonly BilledRequest[]): Reader['read'] =>
  (name, lines) => ({ requests: read(name, lines) })

const readers: readonly Reader[] = [
  { isLine: isEntryLine, read: ours },
  { isLine: isCorpusHeader, read: requestsOf(corpus) },
  { isLine: isClaudeCodeLine, read: requestsOf(claudeCode) },
  { isLine: isCodexLine, read: requestsOf(codex) },
  { isLine: isPiLine, read: requestsOf(pi) },
  { isLine: isGeminiLine, read: requestsOf(gemini) },
]

/** The requests of a session file with what the provider counted. */
export function requestsIn(name: string, packed: Uint8Array): Billed {
  const unpacked = unpack(name, packed)
  if (!unpacked.ok) return unpacked
  const whole = wholeIn(unpacked.bytes)
  const exported = exportedMessages(whole)
  if (exported !== null)
    return { ok: true, forks: [], simulated: [], requests: opencodeRequests(name, exported), skipped: 0 }
  const messages = geminiLinesIn(whole)?.records.map(({ value }) => value)
  if (messages !== undefined) return billedIn(name, messages, 0)
  const lines = readLines(unpacked.bytes, isCountedLine)
  return billedIn(
    name,
    lines.records.map(({ value }) => value),
    lines.skipped.length,
  )
}

/** Longer files are no conversation in one piece. */
const mostBytes = 256 * 1024 * 1024
const openBrace = 0x7b
const lineEnd = 0x0a

/** A file that is one object over several lines, parsed. */
const wholeIn = (bytes: Uint8Array): unknown =>
  bytes.length > mostBytes || bytes[0] !== openBrace || bytes[1] !== lineEnd
    ? undefined
    : jsonIn(Buffer.from(bytes).toString('utf8'))

const isCountedLine = (value: Fields): boolean => readers.some(({ isLine }) => isLine(value))

/** The same of a file that is too long to be held whole: its lines come one by one, without what was said in them. */
export async function requestsInLong(path: string, isOver: () => boolean): Promise<Billed> {
  const values: Fields[] = []
  let skipped = 0
  for await (const read of streamLines(path, { isWhole: isCountedLine })) {
    if (read.skipped !== null) skipped++
    if (read.record !== null && hasCounts(read.record.value)) values.push(read.record.value)
    if (isOver()) break
  }
  return billedIn(path, values, skipped)
}

/** Lines with counts, and those that say whose they are. */
const hasCounts = (value: Fields): boolean =>
  'usage' in fieldsOf(value['message']) ||
  'tokens' in value ||
  'projectHash' in value ||
  ['session-start', 'assistant-message', 'fork-end'].includes(
    stringOrNull(fieldsOf(value['fact'])['type']) ?? '',
  ) ||
  ['session', 'session_meta', 'turn_context', 'event_msg'].includes(stringOrNull(value['type']) ?? '')

function billedIn(name: string, values: readonly Fields[], skipped: number): Billed {
  const reader = readers.find(({ isLine }) => values.some(isLine))
  if (reader === undefined)
    return { ok: false, failure: { code: 'unknown-format', message: `${name}: no format that is known` } }
  return { ok: true, forks: [], simulated: [], ...reader.read(name, values), skipped }
}

function claudeCode(name: string, lines: readonly Fields[]): readonly BilledRequest[] {
  const found = new Map<string, BilledRequest>()
  const estimates = new Map<string, number>()
  for (const [index, value] of lines.entries()) {
    const message = fieldsOf(value['message'])
    const usage = anthropicUsage(message['usage'])
    if (value['type'] !== 'assistant' || usage === undefined || message['model'] === '<synthetic>') continue
    // One answer is written as several lines, each with its counts, which grow.
    const id = stringOrNull(message['id']) ?? `line ${index}`
    const before = found.get(id)
    const blocks = messageBlocks(message['content'], 'assistant').map(({ block }) => block)
    estimates.set(id, (estimates.get(id) ?? 0) + estimateBlocks(blocks))
    const isLater = before === undefined || (before.output ?? 0) <= usage.output
    found.set(id, {
      program: 'claude-code',
      session: stringOrNull(value['sessionId']) ?? name,
      chain: `${name} ${value['isSidechain'] === true ? (stringOrNull(value['agentId']) ?? 'agents') : ''}`,
      project: stringOrNull(value['cwd']),
      model: stringOrNull(message['model']) ?? 'unknown',
      at: before?.at ?? timeOf(value['timestamp']),
      isAgent: value['isSidechain'] === true,
      usage: isLater ? usage : before.usage,
      output: isLater ? usage.output : before.output,
      id: stringOrNull(message['id']),
    })
  }
  const all = [...found.values()]
  const reported = all.reduce((sum, { output }) => sum + (output ?? 0), 0)
  // Some versions wrote the count as it stood when the answer began: far less than what is there to be seen.
  const isPartial = reported < [...estimates.values()].reduce((sum, each) => sum + each, 0) / 2
  return isPartial ? all.map((request) => ({ ...request, output: null })) : all
}

function codex(name: string, lines: readonly Fields[]): readonly BilledRequest[] {
  const requests: BilledRequest[] = []
  let meta: Fields = {}
  let model = 'unknown'
  let counted: number | null = null
  for (const value of lines) {
    const payload = fieldsOf(value['payload'])
    if (value['type'] === 'session_meta') meta = { ...payload, ...meta }
    if (value['type'] === 'turn_context') model = stringOrNull(payload['model']) ?? model
    if (value['type'] !== 'event_msg' || payload['type'] !== 'token_count') continue
    const info = fieldsOf(payload['info'])
    const usage = codexUsage(info)
    const total = numberOf(fieldsOf(info['total_token_usage'])['total_tokens'])
    const at = timeOf(value['timestamp'])
    // Counts come again without a new answer; a child begins with rows of its parent, from before it was there.
    const isAgain = total !== null && total === counted
    counted = total ?? counted
    const begun = timeOf(meta['timestamp'])
    if (usage === undefined || isAgain || (at !== null && begun !== null && at < begun)) continue
    requests.push({
      program: 'codex',
      session: stringOrNull(meta['id']) ?? name,
      chain: name,
      project: stringOrNull(meta['cwd']),
      model,
      at,
      isAgent: false,
      usage,
      output: usage.output,
      id: at === null || total === null ? null : `codex ${at} ${total}`,
    })
  }
  return requests
}

function pi(name: string, lines: readonly Fields[]): readonly BilledRequest[] {
  const header = fieldsOf(lines.find((value) => value['type'] === 'session'))
  return lines.flatMap((value) => {
    const message = fieldsOf(value['message'])
    const usage = message['role'] === 'assistant' ? piUsage(message['usage']) : undefined
    if (value['type'] !== 'message' || usage === undefined) return []
    const at = timeOf(message['timestamp']) ?? timeOf(value['timestamp'])
    const id = stringOrNull(value['id'])
    return [
      {
        program: 'pi',
        session: stringOrNull(header['id']) ?? name,
        chain: name,
        project: stringOrNull(header['cwd']),
        model: stringOrNull(message['model']) ?? 'unknown',
        at,
        isAgent: false,
        usage,
        output: usage.output,
        id: id === null ? null : `pi ${id} ${at}`,
      },
    ]
  })
}

function ours(name: string, lines: readonly Fields[]): Counted {
  const facts = lines.map((value) => ({ value, fact: fieldsOf(value['fact']) }))
  const start = facts.find(({ fact }) => fact['type'] === 'session-start')?.fact
  const session = stringOrNull(start?.['session']) ?? name
  const answers = facts.filter(
    ({ fact }) => fact['type'] === 'assistant-message' && numberOf(fieldsOf(fact['usage'])['input']) !== null,
  )
  const isPaid = ({ fact }: (typeof answers)[number]): boolean =>
    !isSimulated(stringOrNull(fact['messageId']) ?? '')
  const paid = answers.filter(isPaid)
  return {
    simulated: answers.filter((one) => !isPaid(one)).map(({ value }) => ({ at: timeOf(value['at']) })),
    forks: facts
      .filter(({ fact }) => fact['type'] === 'fork-end')
      .map(({ value, fact }) => ({
        child: stringOrNull(fact['child']) ?? '',
        at: timeOf(value['at']),
        tokens: numberOf(fieldsOf(fact['spent'])['tokens']) ?? 0,
        dollars: numberOf(fieldsOf(fact['spent'])['dollars']) ?? 0,
      })),
    requests: paid.map(({ value, fact }) => {
      const usage = fieldsOf(fact['usage'])
      const count = (field: string): number => numberOf(usage[field]) ?? 0
      const output = count('output')
      return {
        program: 'palimpsest',
        session,
        chain: name,
        project: stringOrNull(start?.['cwd']),
        model: stringOrNull(fact['model']) ?? 'unknown',
        at: timeOf(value['at']),
        isAgent: start?.['purpose'] !== 'main',
        usage: {
          input: count('input'),
          cacheRead: count('cacheRead'),
          cacheWrite: count('cacheWrite'),
          cacheWrite1h: numberOf(usage['cacheWrite1h']) ?? undefined,
          output,
          ...(usage['estimated'] === true ? { estimated: true as const } : {}),
        },
        output,
        id: `palimpsest ${session} ${numberOf(value['seq'])}`,
      }
    }),
  }
}

function corpus(name: string, [header = {}, ...lines]: readonly Fields[]): readonly BilledRequest[] {
  const isPartial = header['output_tokens'] === 'partial'
  const session = stringOrNull(header['session']) ?? name
  return lines.flatMap((value, index) => {
    const usage = anthropicUsage(value['usage'])
    if (value['role'] !== 'assistant' || usage === undefined) return []
    return [
      {
        program: (stringOrNull(header['client']) ?? 'unknown').split(' ')[0]!,
        session,
        chain: name,
        project: stringOrNull(header['project']),
        model: stringOrNull(value['model']) ?? stringOrNull(header['model']) ?? 'unknown',
        at: timeOf(value['timestamp']),
        isAgent: false,
        usage,
        output: isPartial ? null : usage.output,
        id: `corpus ${session} ${index}`,
      },
    ]
  })
}

/** A line for each message, written again when it changes, and lines that set fields. */
function gemini(name: string, lines: readonly Fields[]): readonly BilledRequest[] {
  const header = fieldsOf(lines.find((value) => typeof value['projectHash'] === 'string'))
  const session = stringOrNull(header['sessionId']) ?? name
  const found = new Map<string, BilledRequest>()
  for (const value of lines) {
    const usage = geminiUsage(value['tokens'])
    const id = stringOrNull(value['id'])
    if (value['type'] !== 'gemini' || usage === undefined || id === null) continue
    found.set(id, {
      program: 'gemini-cli',
      session,
      chain: name,
      project: null,
      model: stringOrNull(value['model']) ?? 'unknown',
      at: timeOf(value['timestamp']),
      isAgent: header['kind'] === 'subagent',
      usage,
      output: usage.output,
      id: `gemini-cli ${id}`,
    })
  }
  return [...found.values()]
}
