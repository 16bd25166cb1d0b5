// Around a compaction of the client's: the block is prepared before it, said behind it, and what the summary left out beside
// the block is noted for the next hook. A block is said once for a boundary, whoever asks and however often.
import { join } from 'node:path'
import type { Block, BlockInput, TypedWords } from '../block-input.ts'
import { blockOf, remainderOf } from '../block.ts'
import { belowFolder, isPlainPath, quotable } from '../clean.ts'
import { quotedWords, rulesIn, sightOf } from '../words.ts'
import { claudeLines, codexLines } from './client-lines.ts'
import { isFileOrFolder, lastLines } from './files.ts'
import type { HookRun, HookOutput } from './hook-protocol.ts'
import { scanOn, type Scan } from './scan.ts'
import { objectIn, fieldsOf, listOf, numberOf, textOf, type Fields } from '../../transcript/json.ts'
import * as stored from './state.ts'

const blockFile = 'block.json'
const saidFile = 'said.json'
const summaryFile = 'summary.json'
const remainderFile = 'remainder.json'
export const auditFile = 'audit.json'
const mostSummaryChars = 200_000
const mostAudits = 50

/** The file below the folder of work that a path names, if it is there. */
const isThere = (path: string, cwd: string | null): boolean =>
  cwd !== null && !path.startsWith('/') && isPlainPath(path, mostPathChars) && isFileOrFolder(join(cwd, path))
const mostPathChars = 240
/** 9,000 pass there whole. */
const codexChars = 8900

export function blockInput(
  run: Pick<HookRun, 'client' | 'input'>,
  scan: Scan | null,
  boundary: string,
  typed: readonly TypedWords[],
): BlockInput {
  const { client, input } = run
  return {
    session: input.session,
    boundary,
    client,
    typed,
    files: (scan?.files ?? [])
      .map((file) => ({ ...file, path: belowFolder(file.path, input.cwd) }))
      .filter(({ path }) => isThere(path, input.cwd))
      .toReversed(),
    ...(input.cwd === null ? {} : { folder: input.cwd }),
    failures: (scan?.failures ?? []).toReversed(),
    // The words of the list are a model's: it is counted.
    tasks: (scan?.openTasks ?? []).map((isStarted) => ({ text: '', isStarted })),
    ...(input.transcript !== null && scan !== null && scan.lines !== null && scan.lines > 0
      ? { wayBack: { file: input.transcript, from: 1, to: scan.lines } }
      : {}),
    ...(client === 'codex' ? { budget: codexChars } : {}),
  }
}

export const readOn = ({ client, input, state, isLate }: HookRun): Scan | null =>
  input.transcript === null
    ? null
    : scanOn(state, input.transcript, client === 'codex' ? codexLines : claudeLines, isLate)

interface Prepared {
  /** Which compaction of the session it is for. */
  readonly n: number
  readonly text: string
  /** Messages in the ledger when it was made. */
  readonly typed: number
  /** Where the client's file had been read to. */
  readonly offset: number
}

const preparedIn = (record: Fields | null): Prepared | null => {
  const [n, typed, offset] = [record?.['n'], record?.['typed'], record?.['offset']].map(numberOf)
  const text = textOf(record?.['text'])
  return n === null || typed === null || offset === null || text === null
    ? null
    : { n: n!, typed: typed!, offset: offset!, text }
}

function prepare(run: HookRun): Prepared | null {
  const scan = readOn(run)
  const typed = stored.readTyped(run.state)
  const n = (preparedIn(stored.readRecord(run.state, saidFile))?.n ?? 0) + 1
  const block: Block = blockOf(blockInput(run, scan, String(n), typed))
  const prepared = { n, text: block.text, typed: typed.length, offset: scan?.offset ?? 0 }
  return stored.writeRecord(run.state, blockFile, prepared) ? prepared : null
}

/** Before the compaction. Prints nothing, unless the user wants the summary steered. */
export function beforeCompaction(run: HookRun): HookOutput {
  stored.noteSource(run.state, run.input.transcript)
  prepare(run)
  if (!run.options.steer || run.client !== 'claude') return {}
  const rules = quotedWords(stored.readTyped(run.state)).flatMap((one) => rulesIn(one))
  return { plain: steering(rules) }
}

const mostSteeringChars = 1400

function steering(rules: readonly string[]): string {
  const lines: string[] = []
  let left = mostSteeringChars
  for (const rule of rules.toReversed()) {
    left -= rule.length + 3
    if (left < 0) break
    lines.unshift(`- ${rule}`)
  }
  return lines.length === 0 ? '' : `Keep these sentences of the user word for word:\n${lines.join('\n')}`
}

/** Behind it: the block, once. */
export function afterCompaction(run: HookRun): HookOutput {
  const { state } = run
  const ready = preparedIn(stored.readRecord(state, blockFile))
  // One that an earlier compaction left when it failed does not know the newest words.
  const isFresh = ready !== null && ready.typed === stored.readTyped(state).length
  const claim = (): Prepared | null => preparedIn(stored.claimRecord(state, blockFile, saidFile))
  const said = isFresh
    ? claim()
    : stored.withLock(state, run.now, () => (isNew(run) && prepare(run) !== null ? claim() : null))
  return said === null || said.text === '' ? {} : { context: said.text }
}

/** A second client at the same boundary finds the block said and the file not grown. */
function isNew(run: HookRun): boolean {
  const said = preparedIn(stored.readRecord(run.state, saidFile))
  if (said === null) return true
  const scan = readOn(run)
  return scan !== null && scan.offset > said.offset && stored.readTyped(run.state).length >= said.typed
}

/** What the client says of its summary. Audited at once where there is time, else by the next hook. */
export function noteSummary(run: HookRun): HookOutput {
  const { state, input, client } = run
  const inEvent = textOf(input.fields['compact_summary'])
  const summary =
    inEvent ?? (client === 'codex' && input.transcript !== null ? codexSummary(input.transcript) : null)
  const record = {
    trigger: textOf(input.fields['trigger'], 20) ?? '',
    chars: summary?.length ?? 0,
    // Null where it is not there or encrypted: no audit is possible then.
    text: summary === null || summary === '' ? null : quotable(summary.slice(0, mostSummaryChars)),
  }
  if (stored.writeRecord(state, summaryFile, record)) stored.setPending(state)
  if (!run.isLate()) auditSummary(run)
  return {}
}

export interface AuditRow {
  readonly at: number
  readonly trigger: string
  readonly summaryChars: number
  /** Null where the summary cannot be read. */
  readonly words: Sighted | null
  readonly rules: Sighted | null
}

interface Sighted {
  readonly all: number
  readonly kept: number
  readonly shown: number
}

/** Compares what was typed with the summary and the block; what neither shows waits for the next hook. */
function auditSummary(run: HookRun): void {
  const { state, now } = run
  stored.withLock(state, now, () => {
    const record = stored.readRecord(state, summaryFile)
    if (record === null) return
    const text = textOf(record['text'])
    const summaryChars = numberOf(record['chars']) ?? 0
    const trigger = textOf(record['trigger']) ?? ''
    const typed = stored.readTyped(state)
    // Claude Code lets the block be said before the summary is told, Codex after.
    const said =
      preparedIn(stored.readRecord(state, blockFile)) ?? preparedIn(stored.readRecord(state, saidFile))
    // Codex keeps the user's messages beside its summary.
    const own = run.client === 'codex' ? typed.map(({ text: words }) => words) : []
    const summary = text === null ? null : [text, ...own].join('\n')
    const row = auditRow({ at: now, trigger, summaryChars }, summary, said?.text ?? '', typed)
    const history = listOf(stored.readRecord(state, auditFile)?.['history'])
    stored.writeRecord(state, auditFile, { history: [...history, row].slice(-mostAudits) })
    stored.claimRecord(state, summaryFile, 'summary.done.json')
    const rest =
      text === null || run.client !== 'claude'
        ? null
        : remainderOf({
            ...blockInput(run, null, String(said?.n ?? 0), typed),
            shown: `${text}\n${said?.text ?? ''}`,
          })
    if (rest !== null && rest.text !== '') stored.writeRecord(state, remainderFile, { text: rest.text })
    else stored.clearPending(state)
  })
}

function auditRow(
  about: Pick<AuditRow, 'at' | 'trigger' | 'summaryChars'>,
  summary: string | null,
  block: string,
  typed: readonly TypedWords[],
): AuditRow {
  if (summary === null) return { ...about, words: null, rules: null }
  const words = quotedWords(typed)
  const inSummary = sightOf(summary)
  const inSight = sightOf(`${summary}\n${block}`)
  const count = (texts: readonly string[]): Sighted => ({
    all: texts.length,
    kept: texts.filter(inSummary).length,
    shown: texts.filter(inSight).length,
  })
  return {
    ...about,
    words: count(words.map(({ text }) => text)),
    rules: count(words.flatMap((one) => rulesIn(one))),
  }
}

/** What the audit left, once; an audit that had no time is made now. */
export function remainder(run: HookRun): HookOutput {
  const { state } = run
  if (stored.readRecord(state, summaryFile) !== null) auditSummary(run)
  const rest = textOf(stored.claimRecord(state, remainderFile, 'remainder.done.json')?.['text'])
  if (rest === null) return {}
  stored.clearPending(state)
  return { context: rest }
}

/** How often the session was compacted and how many rules were put back. */
export function compactionsIn(record: Fields | null): { readonly count: number; readonly rules: number } {
  const history = listOf(record?.['history']).map(fieldsOf)
  const back = history.map(({ rules }) => {
    const { shown, kept } = fieldsOf(rules)
    return Math.max(0, (numberOf(shown) ?? 0) - (numberOf(kept) ?? 0))
  })
  return { count: history.length, rules: back.reduce((sum, one) => sum + one, 0) }
}

// The summary that Codex wrote into its session file at its newest compaction. On the vendor's own service it is encrypted:
// then there is a line without a text, and no audit is possible.

const tailBytes = 4 * 1024 * 1024

function codexSummary(transcript: string): string | null {
  for (const line of lastLines(transcript, tailBytes)) {
    if (!line.slice(0, 200).includes('"compacted"')) continue
    const fields = objectIn(line)
    if (fields?.['type'] === 'compacted') return textOf(fieldsOf(fields['payload'])['message'])
  }
  return null
}
