// `pal memory`, its `--why`, `show` and `search`: what is remembered, what a session is told and from where, and what fits
// some words.
import type { Memory, MemoryScope } from '../../../memory/memory.ts'
import type { Removed, Written } from '../../../memory/keeping/records.ts'
import { MemorySearch, type MemoryHit, type TurnHit } from '../../../memory/recall/search.ts'
import { MemoryIndex } from '../../../memory/recall/memory-index.ts'
import { folderSource } from '../../../memory/recall/memory-source.ts'
import { projectStore } from '../../../preset.ts'
import { tell } from '../../../preset/memory/reminder.ts'
import { estimateText } from '../../../projection/tokens.ts'
import { defaults } from '../../../settings/defaults.ts'
import { exits, refuse, type Exit, type Refusal } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { safeLine, safeText } from '../../terminal/safe-text.ts'
import { moment, table, whole, left, wraps, right } from '../../terminal/tables.ts'
import { openWorkplace } from '../../workplace/workplace.ts'
import { show, withMemories, withMemory, type MemoryFlags, type MemoryRoom } from './open.ts'

export const memory = (io: Io, flags: MemoryFlags & { readonly why?: boolean }): Promise<Exit> =>
  withMemories(io, flags, (room) => (flags.why === true ? why(room) : list(room)))

type Row = Memory & { readonly scope: MemoryScope }

async function list(room: MemoryRoom): Promise<Exit | Refusal> {
  const rows: Row[] = []
  const skipped: string[] = []
  const blocked: Blocked[] = []
  let waits = 0
  for (const store of room.keepers) {
    const listed = await store.list(Number.POSITIVE_INFINITY)
    if (!listed.ok) return refuse(exits.failed, listed.failure.message)
    rows.push(...listed.memories.map((one) => ({ ...one, scope: store.scope })))
    skipped.push(...listed.skipped.map(({ file, why }) => `${file}: ${why}`))
    waits += store.ledger.held().length
    blocked.push(...blockedIn(store))
  }
  const held = rows.filter(({ standing }) => standing === 'held').length
  return show(room, { memories: rows, skipped, waiting: waits + held, blocked }, () => {
    const blocks = blocked.map((one) => `${safeLine(blockText(one))}\n`).join('')
    if (rows.length === 0 && waits === 0) return `No memories yet.\n${blocks}`
    const lines = [
      table(
        ['scope', 'file', left('type', 2), 'status', left('source', 1), left('when', 3), wraps('about')],
        rows.map((row) => [
          row.scope,
          row.file,
          row.type ?? '–',
          row.doubtful === undefined ? statusOf(row.standing) : `${statusOf(row.standing)}, doubtful`,
          row.provenance === null ? 'unknown' : sourceOf(row.provenance),
          moment(row.modifiedMs),
          row.description,
        ]),
        room.io.columns,
      ),
      ...skipped.map((line) => `${safeLine(line)}\n`),
      ...(waits + held === 0 ? [] : [`${waits + held} need review: pal memory review\n`]),
      blocks,
    ]
    return lines.join('')
  })
}

/** In the words of people: what is neither held nor fenced is in use. */
const statusOf = (standing: string): string => (standing === 'open' ? 'active' : standing)
const sourceOf = ({ kind, trust }: { readonly kind: string; readonly trust: string }): string =>
  kind === trust ? kind : `${kind} (${trust})`

/** What is not learnt again, by when it was forgotten. The sentences themselves are gone. */
interface Blocked {
  readonly scope: MemoryScope
  readonly at: number
  readonly sentences: number
  readonly sessions: readonly string[]
  readonly sources: readonly string[]
}

const blockedIn = ({ scope, ledger }: MemoryRoom['keepers'][number]): readonly Blocked[] =>
  ledger.records().flatMap((record) => {
    if (record.do !== 'forget') return []
    const { at, prints, sessions, sources } = record
    return [{ scope, at, sentences: prints.length, sessions, sources }]
  })

function blockText({ scope, at, sentences, sessions, sources }: Blocked): string {
  const what = [
    ...(sentences === 0 ? [] : [`${sentences} ${sentences === 1 ? 'sentence' : 'sentences'}`]),
    ...sessions.map((session) => `session ${session}`),
    ...sources.map((source) => `everything from ${source}`),
  ]
  return `forgotten ${moment(at)} (${scope}): ${what.length === 0 ? 'nothing that could be saved again' : what.join(', ')}; not saved again unless you say it again`
}

/** What a session that began now would be told, from where, and how much of it. */
async function why(room: MemoryRoom): Promise<Exit> {
  const reminder = await tell(room.wiring.reminderOptions, null, false)
  const files = reminder.files.map(({ text, ...file }) => ({
    ...file,
    chars: text.length,
    tokens: estimateText(text),
  }))
  const sum = files.reduce((total, { tokens }) => total + tokens, 0)
  const list = (): string =>
    table(
      ['layer', right('tokens'), wraps('file'), wraps('included by', 1)],
      files.map(({ layer, tokens, path, by }) => [layer, whole(tokens), path, by ?? '']),
      room.io.columns,
    )
  return show(room, { files, tokens: sum, problems: reminder.problems }, () =>
    [
      ...(files.length === 0
        ? ['No instruction files and no memories: nothing is sent before the first message.\n']
        : [list(), `about ${whole(sum)} tokens before the first message, weakest first.\n`]),
      ...reminder.problems.map((problem) => `${safeLine(problem)}\n`),
    ].join(''),
  )
}

export const showMemory = (io: Io, name: string, flags: MemoryFlags): Promise<Exit> =>
  withMemory(io, name, flags, async (room, found) => {
    const { scope, root } = found.keeper
    const read = await found.keeper.read(found.file)
    if (!read.ok) return refuse(exits.failed, read.failure.message)
    const { memory: one, text } = read
    const by = one.provenance
    const earlier = earlierIn(found.keeper.ledger.versionsOf(one.file))
    return show(room, { ...one, scope, text, earlier }, () =>
      [
        `${safeLine(`${root}/${one.file}`)}\n`,
        ...(one.doubtful === undefined ? [] : [safeLine(`doubtful ${one.doubtful}`), '\n']),
        `${statusOf(one.standing)}; ${by === null ? 'this version is unknown: something other than pal wrote it' : safeLine(`from ${sourceOf(by)}, session ${by.session ?? '–'}, message ${by.message ?? '–'}${by.from.length === 0 ? '' : `, after reading ${by.from.join(', ')}`}`)}\n\n`,
        safeText(text, { reveal: true }),
        ...(earlier.length === 0 ? [] : ['\n']),
        ...earlier.map(({ said, until }) => `${safeLine(`was: ${said} (until ${moment(until)})`)}\n`),
      ].join(''),
    )
  })

/** What a memory said before it said something else, oldest first, and until when. */
function earlierIn(
  versions: readonly (Written | Removed)[],
): readonly { readonly said: string; readonly until: number }[] {
  const written = versions.flatMap((one) => (one.do === 'write' ? [one] : []))
  return written.flatMap(({ head }, at) => {
    const next = written[at + 1]
    return next === undefined || next.head.description === head.description
      ? []
      : [{ said: head.description, until: next.at }]
  })
}

// ---- search ----

export interface SearchFlags extends MemoryFlags {
  readonly transcripts?: boolean | undefined
  /** The turns around a hit of an earlier search. */
  readonly expand?: string | undefined
}

/** By rank, and with --transcripts what was said in earlier sessions. What is held or fenced is shown too, with its status. */
export const searchMemory = (io: Io, query: readonly string[], flags: SearchFlags): Promise<Exit> =>
  withMemories(io, flags, (room) => search(room, query.join(' '), flags))

async function search(room: MemoryRoom, query: string, flags: SearchFlags): Promise<Exit | Refusal> {
  const place = await openWorkplace(room.io, flags)
  if (!place.ok) return place
  const { hits: most, around } = defaults.search
  const { signal } = new AbortController()
  const sources = room.keepers.map((keeper) => folderSource(keeper.fs, keeper.place, keeper.unique))
  const searching = new MemorySearch(new MemoryIndex(sources), projectStore(place))
  if (flags.expand !== undefined) {
    const found = await searching.around(flags.expand, around, signal)
    if (!found.ok) return refuse(exits.usage, found.failure.message)
    return show(room, { turns: found.hits }, () => found.hits.map(wholeTurn).join('\n'))
  }
  if (query.trim() === '') return refuse(exits.usage, 'usage: pal memory search TEXT')
  const memories = await searching.memories(query, most, signal, () => true)
  if (!memories.ok) return refuse(exits.failed, memories.failure.message)
  const turns = flags.transcripts === true ? await searching.turns(query, most, signal) : null
  if (turns?.ok === false) return refuse(exits.failed, turns.failure.message)
  const said = turns === null ? {} : { turns: turns.hits }
  return show(room, { memories: memories.hits, ...said }, () =>
    asText(memories.hits, turns?.hits ?? null, room.io.columns),
  )
}

function asText(memories: readonly MemoryHit[], turns: readonly TurnHit[] | null, room: number): string {
  const found =
    memories.length === 0
      ? `no memory matches${turns === null ? '; pal memory search --transcripts searches earlier sessions too' : ''}.\n`
      : table(
          ['file', 'status', left('when', 1), wraps('about')],
          memories.map(({ name, standing, modifiedMs, description }) => [
            name,
            statusOf(standing),
            moment(modifiedMs),
            description,
          ]),
          room,
        )
  if (turns === null) return found
  if (turns.length === 0) return `${found}nothing in earlier sessions matches.\n`
  const rows = turns.map(({ ref, at, speaker, text }) => [ref, moment(at), speaker, safeLine(text)])
  const list = table(['ref', left('when', 1), 'who', wraps('text')], rows, room)
  return `${found}\n${list}pal memory search --expand REF shows the turns around one.\n`
}

const wholeTurn = ({ at, speaker, text, isHit }: TurnHit): string =>
  `${isHit ? '>' : ' '} ${speaker}, ${moment(at)}\n${safeText(text)}\n`
