// `pal compact`: shows what a compaction would do, lets its text be edited, and does it. The text can be changed in an
// editor, or written to a file and taken from one, so that nobody needs a terminal for it.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Audit } from '../../compaction/audit.ts'
import { parseSections, renderSections } from '../../compaction/sections.ts'
import { partsOf } from '../../compaction/summary.ts'
import type { CompactAsk, Compacted } from '../../engine/compacting/ask.ts'
import type { Session } from '../../engine/session.ts'
import { lookUp, ratesOf } from '../../model/models.ts'
import type { Preset } from '../../preset.ts'
import type { Part, View } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { textIn } from '../../transcript/content.ts'
import { print, complain, exits, fail, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { replacement } from '../terminal/event-text.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine, safeText } from '../terminal/safe-text.ts'
import { dollars, percent, prose, whole } from '../terminal/tables.ts'
import type { ProjectFlags } from '../workplace/workplace.ts'
import { changing, describeCompaction, placeIn } from './undo.ts'

export interface CompactFlags extends ProjectFlags {
  readonly preview?: boolean | undefined
  readonly instructions?: string | undefined
  /** Numbers of messages: what follows the first, or precedes the second, is compacted. */
  readonly from?: string | undefined
  readonly upTo?: string | undefined
  readonly edit?: boolean | undefined
  readonly summaryFile?: string | undefined
  readonly writeSummary?: string | undefined
}

export async function compact(io: Io, id: string | undefined, flags: CompactFlags): Promise<Exit> {
  const ask = await askOf(io, flags)
  if ('exit' in ask) return complain(io, ask)
  return changing(io, id, flags, async (session, preset) => {
    if (flags.preview === true || flags.writeSummary !== undefined)
      return preview(io, session, preset, ask, flags)
    const text =
      flags.edit === true ? await edited(io, await session.compact({ ...ask, dryRun: true })) : undefined
    if (typeof text === 'object') return complain(io, text)
    const made = await session.compact(text === undefined ? ask : { ...ask, text })
    return print(io, flags.json, { session: session.id, ...made }, () =>
      prose(describeCompaction(made, 'pal '), io.columns),
    )
  })
}

type Ask = Omit<CompactAsk, 'trigger' | 'overflow'>

async function askOf(io: Io, flags: CompactFlags): Promise<Ask | Refusal> {
  const { from, upTo, instructions, summaryFile } = flags
  const places = {
    from: from === undefined ? undefined : placeIn(from),
    upTo: upTo === undefined ? undefined : placeIn(upTo),
  }
  if (places.from === null || places.upTo === null)
    return refuse(
      exits.usage,
      `${places.from === null ? from : upTo} is not a message number; pal messages lists them`,
    )
  if (flags.edit === true && !(io.inIsTerminal && io.outIsTerminal))
    return refuse(
      exits.usage,
      'there is no terminal to edit in; --write-summary FILE writes the text, --summary-file FILE uses it',
    )
  const base = { instructions, from: places.from, upTo: places.upTo }
  if (summaryFile === undefined) return base
  const text = await readText(summaryFile)
  return typeof text === 'string' ? { ...base, text } : text
}

async function preview(
  io: Io,
  session: Session,
  preset: Preset,
  ask: Ask,
  flags: CompactFlags,
): Promise<Exit> {
  const made = await session.compact({ ...ask, dryRun: true })
  if (flags.writeSummary !== undefined) {
    try {
      await writeFile(flags.writeSummary, `${bodyOf(made)}\n`, { mode: 0o600 })
    } catch (error) {
      return fail(io, exits.failed, `${flags.writeSummary} cannot be written: ${(error as Error).message}`)
    }
  }
  return print(io, flags.json, { session: session.id, ...made }, () =>
    prose(describePreview(made, session, preset), io.columns),
  )
}

// ---- a text of one's own ----

/** What of the texts can be changed: without the frame that goes around it in any case. */
function bodyOf({ texts }: Compacted): string {
  return texts
    .map((text) => {
      const { summary, rest } = partsOf(text)
      const sections = parseSections(rest)
      return [summary ?? '', sections === null ? '' : renderSections(sections)]
        .filter((one) => one !== '')
        .join('\n\n')
    })
    .join('\n\n')
}

async function readText(file: string): Promise<string | Refusal> {
  try {
    const text = await readFile(file, 'utf8')
    if (text.length > defaults.cli.summaryChars)
      return refuse(exits.usage, `${file} is too long for a summary`)
    return text.trim() === '' ? refuse(exits.usage, `${file} is empty; nothing was changed`) : text
  } catch (error) {
    return refuse(exits.usage, `${file} cannot be read: ${(error as Error).message}`)
  }
}

/** The text as somebody left it in their editor; undefined when it was not touched. */
async function edited(io: Io, made: Compacted): Promise<string | undefined | Refusal> {
  const folder = await mkdtemp(join(tmpdir(), 'pal-edit-'))
  const file = join(folder, 'summary.md')
  try {
    const before = `${bodyOf(made)}\n`
    await writeFile(file, before, { mode: 0o600 })
    const failure = await inEditor(io, file)
    if (failure !== null) return refuse(exits.failed, `${failure}; nothing was changed`)
    const text = await readText(file)
    return text === before ? undefined : text
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function inEditor(io: Io, file: string): Promise<string | null> {
  const wanted = io.environment['VISUAL'] ?? io.environment['EDITOR'] ?? 'vi'
  const [program = 'vi', ...args] = wanted.split(/\s+/).filter((word) => word !== '')
  return new Promise((resolve) => {
    const child = spawn(program, [...args, file], { stdio: 'inherit' })
    child.once('error', (error) => resolve(`${program} cannot be started: ${error.message}`))
    child.once('close', (code) => resolve(code === 0 ? null : `${program} ended with ${code}`))
  })
}

// ---- what it would do: what goes, stays, is restored, costs, and what the audit says ----

function describePreview(
  made: Compacted,
  session: Session,
  preset: Pick<Preset, 'models' | 'modelId'>,
): string {
  const { tokensBefore, tokensAfter, source, texts, audit, restored, restoredTokens } = made
  const view = session.view()
  const parts = [...view.messages].flatMap((message) => message.parts)
  const { span } = made
  const gone = span === null ? [] : parts.filter((part) => part.from >= span.from && part.to <= span.to)
  return [
    `${whole(tokensBefore)} tokens would become ${whole(tokensAfter)} (${replacement(source)})`,
    goes(gone, made, view),
    `keeps     ${made.partsKept} parts as they are`,
    restored.length === 0
      ? ''
      : `restores  ${whole(restoredTokens)} tokens: ${restored.map((one) => safeLine(one)).join(', ')}`,
    cost(made, view, preset),
    audit === null ? '' : audited(audit),
    ...texts.map((text) => `\n${safeText(text)}`),
  ]
    .filter((line) => line !== '')
    .join('\n')
    .concat('\n')
}

function goes(gone: readonly Part[], { partsGone, span }: Compacted, view: View): string {
  if (span === null) return 'replaces  only the middle of large results'
  const tokens = view.factor * gone.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, 0)
  const inputs = gone.filter(({ kind }) => kind === 'input')
  const largest = gone
    .filter(({ kind }) => kind === 'result')
    .toSorted((a, b) => b.estimate - a.estimate)
    .slice(0, defaults.cli.previewLines)
  return [
    `replaces  ${partsGone} parts (#${span.from} to #${span.to}), ${whole(Math.round(tokens))} tokens`,
    ...inputs
      .slice(-defaults.cli.previewLines)
      .map((part) => `          #${part.from}  you: ${wordsOf(part)}`),
    ...largest.map(
      (part) =>
        `          #${part.from}  ${part.tool ?? 'result'}: ${whole(Math.round(view.factor * part.estimate))} tokens`,
    ),
  ].join('\n')
}

const wordsOf = (part: Part): string => {
  const text = textIn(part.blocks, ' ')
  return safeLine(text.slice(0, defaults.cli.firstWordsChars))
}

/** What stands before the span is read as ever, the rest written once; afterwards each request reads less. */
function cost(
  { tokensBefore, tokensAfter, span }: Compacted,
  view: View,
  { models, modelId }: Pick<Preset, 'models' | 'modelId'>,
): string {
  const info = lookUp(models, modelId)
  const rates = info === null ? null : ratesOf(info, tokensBefore)
  if (rates === null) return ''
  const stays = [...view.messages]
    .flatMap((message) => message.parts)
    .filter((part) => part.to < (span?.from ?? 0))
  const head = stays.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, view.fixedEstimate)
  const written = Math.max(0, tokensAfter - view.factor * head)
  const read = (tokensBefore - (tokensAfter - written)) * rates.read
  const once = (written * rates.write5m - read) / million
  const each = ((tokensBefore - tokensAfter) * rates.read) / million
  const first = once > 0 ? `${dollars(once)} more` : `${dollars(-once)} less`
  return `costs     the next request ${first} than with a warm cache, every later one ${dollars(each)} less`
}

const million = 1_000_000

function audited({ retention, lost, kinds }: Audit): string {
  const rows = Object.entries(kinds).filter(([, { found }]) => found > 0)
  return [
    `audit     ${percent(retention)} of checked details would be retained`,
    ...rows.map(([kind, { found, kept }]) => `          ${kind}:  ${kept} of ${found}`),
    ...(lost.length === 0 ? [] : [`          lost: ${lost.map((one) => safeLine(one)).join(', ')}`]),
  ].join('\n')
}
