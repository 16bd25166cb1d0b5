// `pal compact`: shows what a compaction would do, lets its text be edited, and does it. The text can be changed in an
// editor, or written to a file and given back from one, so that nobody needs a terminal for it.
import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSections, renderSections } from '../../compaction/sections.ts'
import { partsOf } from '../../compaction/summary.ts'
import type { CompactAsk, Compacted } from '../../engine/compacting/ask.ts'
import type { Session } from '../../engine/session.ts'
import type { Preset } from '../../preset.ts'
import { defaults } from '../../settings/defaults.ts'
import { exits, refuse, type Exit, type Refusal } from '../exit-codes.ts'
import { complain } from '../headless.ts'
import type { LookFlags } from '../look-at.ts'
import { describePreview } from './compaction-preview.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { changing, describeCompaction, placeIn } from './undo.ts'

export interface CompactFlags extends LookFlags {
  readonly preview?: boolean | undefined
  readonly instructions?: string | undefined
  /** Places of messages: what follows the first, or precedes the second, is put away. */
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
    io.out(
      flags.json === true ? `${safeJson({ session: session.id, ...made }, 2)}\n` : describeCompaction(made),
    )
    return exits.done
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
      `${places.from === null ? from : upTo} is no place of a message; pal messages lists them`,
    )
  if (flags.edit === true && !(io.inIsTerminal && io.outIsTerminal))
    return refuse(
      exits.usage,
      'there is no terminal to edit in; --write-summary FILE writes the text, --summary-file FILE takes it back',
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
      return complain(
        io,
        refuse(exits.failed, `${flags.writeSummary} cannot be written: ${(error as Error).message}`),
      )
    }
  }
  io.out(
    flags.json === true
      ? `${safeJson({ session: session.id, ...made }, 2)}\n`
      : describePreview(made, session, preset),
  )
  return exits.done
}

// ---- a text of one's own ----

/** What of the texts can be changed: without the frame that goes around it in any case. */
export function bodyOf({ texts }: Compacted): string {
  return texts
    .map((text) => {
      const { account, rest } = partsOf(text)
      const sections = parseSections(rest)
      return [account ?? '', sections === null ? '' : renderSections(sections)]
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
  const [program = 'vi', ...words] = wanted.split(/\s+/).filter((word) => word !== '')
  return new Promise((resolve) => {
    const child = spawn(program, [...words, file], { stdio: 'inherit' })
    child.once('error', (error) => resolve(`${program} cannot be started: ${error.message}`))
    child.once('close', (code) => resolve(code === 0 ? null : `${program} ended with ${code}`))
  })
}
