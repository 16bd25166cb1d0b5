// The guard of an extraction's writes. Where a text came from is told by the span it was made from, never by the text:
// the user's own words stay the user's, what tools had a part in is data. Rules come from the user's words alone; names,
// addresses and numbers that nobody said are refused; what is remembered already is not saved a second time.
import type { FileSystem } from '../../../disk/fs.ts'
import { readBytes, readMemory, shaOf } from '../../../memory/files.ts'
import { datedMemory, isRule, withoutDates } from '../../../memory/format/dating.ts'
import { readMemoryText } from '../../../memory/format/frontmatter.ts'
import { applyWrite } from '../../../memory/keeping/apply.ts'
import type { Keeper } from '../../../memory/keeping/keeper.ts'
import { diaryFolder, indexName, type Provenance } from '../../../memory/memory.ts'
import { derive } from '../../../memory/trust/lineage.ts'
import { othersOf } from '../../../memory/trust/own-readings.ts'
import { exactIn } from '../../../memory/trust/support.ts'
import { defaults } from '../../../settings/defaults.ts'
import type { FileGuard, GuardedWrite } from '../../../tools/files/guard.ts'
import type { ToolEnv } from '../../../tools/tool.ts'
import { folderGuard, type Target, type WantedWrite } from '../folder-guard.ts'
import { linesOf, plain } from '../words.ts'
import type { Span } from './span.ts'

export interface WritingOptions {
  readonly fs: FileSystem
  readonly keepers: readonly Keeper[]
  readonly span: Span
  /** The session whose talk it is. */
  readonly session: string
  /** What the fork is for: its own words are no reading. */
  readonly purpose: string
  /** Told of each memory that was written, or held until the user has looked. */
  readonly wrote: (path: string, isHeld: boolean) => void
}

export const extractionGuard = (options: WritingOptions): FileGuard =>
  folderGuard(options, (target, change, env) => write(options, target, change, env))

async function write(
  options: WritingOptions,
  { keeper, file }: Target,
  change: WantedWrite,
  env: ToolEnv,
): Promise<GuardedWrite> {
  if (file === indexName)
    return {
      ok: true,
      path: change.path,
      file: null,
      said: `${indexName} is made from the memories themselves.`,
    }
  if (file.startsWith(`${diaryFolder}/`)) return no('Diaries are not written here.')
  const old = await readBytes(keeper.fs, keeper.place.root, file)
  const by = await originOf(options, change.text, env)
  const { text } = datedMemory(change.text, old.ok ? old.bytes.toString('utf8') : null, options.span.at)
  const why = await refusalOf(options, { keeper, file }, text, by)
  if (why !== null) return no(why)
  const done = await applyWrite(keeper, [{ file, text, expected: change.expected }], by, {
    via: 'extraction',
  })
  if (!done.ok) return no(`${file} was not saved: ${done.failure.message}`)
  const { kind, why: reason } = done.applied[0]!
  if (kind === 'refused') return no(reason)
  if (kind !== 'unchanged') options.wrote(change.path, kind === 'held')
  const now = await readBytes(keeper.fs, keeper.place.root, file)
  return {
    ok: true,
    path: change.path,
    file: now.ok ? { sha256: shaOf(now.bytes), mtimeMs: now.stat.modifiedMs, bytes: now.bytes.length } : null,
    said: kind === 'held' ? `${file} waits until the user has looked at it.` : `Saved ${file}.`,
  }
}

/** Whose words it is. A day that follows from the user's words is theirs too. */
async function originOf(
  { fs, keepers, span, session, purpose }: WritingOptions,
  wanted: string,
  env: ToolEnv,
): Promise<Provenance> {
  const lineage = env.lineage?.()
  const readings = lineage === undefined ? [unknown] : [...lineage.before, ...lineage.turn]
  const before = await othersOf(
    fs,
    keepers,
    readings.filter(({ tool }) => tool !== purpose),
  )
  const said = { session, isMain: false, message: span.message, userWords: span.userWords, turn: [], before }
  return derive(said, withoutDates(wanted, span.userWords, span.at), env.now()).by
}
const unknown = { tool: 'unknown', source: null, trust: 'data' } as const

async function refusalOf(
  { span, fs }: WritingOptions,
  { keeper, file }: Target,
  text: string,
  by: Provenance,
): Promise<string | null> {
  const { head, body } = readMemoryText(text)
  if (isRule(head) && by.trust !== 'user')
    return `Rules and preferences come only from the user's own words, and these are not. Leave it out.`
  const known = await keeper.ledger.refresh()
  if (!known.ok) return known.failure.message
  const old = await readMemory(fs, keeper.place, file, keeper.ledger)
  const said = `${span.said}\n${old.ok ? old.text : ''}`.toLowerCase()
  const fresh = withoutDates(`${head.description}\n${body}`, span.userWords, span.at)
  const invented = exactIn(fresh).find((one) => !said.includes(one))
  if (invented !== undefined)
    return `Nobody said ${JSON.stringify(invented)} in these messages. Write names, addresses and numbers only as they were said.`
  const twin = old.ok ? null : await savedIn(keeper, fs, text)
  return twin === null ? null : `${twin} says that already. Change that file where something is new.`
}

/** The memory that holds every line of a text, or null. */
async function savedIn(keeper: Keeper, fs: FileSystem, text: string): Promise<string | null> {
  const lines = linesOf(text).facts.map(plain)
  const newest = [...keeper.ledger.standing()].sort((a, b) => b.at - a.at)
  for (const { file } of newest.slice(0, defaults.extraction.comparedFiles)) {
    const read = await readMemory(fs, keeper.place, file, keeper.ledger)
    if (!read.ok || read.memory.standing === 'held') continue
    const there = new Set(linesOf(read.text).facts.map(plain))
    if (lines.length > 0 && lines.every((line) => there.has(line))) return file
  }
  return null
}

const no = (why: string): GuardedWrite => ({ ok: false, why })
