// `pal stats`: figures of one's own sessions over time. Reads every transcript entry by entry and keeps sums only.
import { join } from 'node:path'
import { SessionTally, statsOf, type ProjectSession, type Stats } from '../../lab/index.ts'
import { sessionsFolder, tableOf } from '../../preset.ts'
import { machineFileSystem } from '../../disk/fs.ts'
import { Ledger, figuresOf, type MemoryFigures } from '../../memory/keeping/ledger.ts'
import { fileStore } from '../../stores/index.ts'
import type { ModelTable } from '../../model/models.ts'
import { isKnown } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { complain, exits, type Exit } from '../exit-codes.ts'
import { namesIn } from '../workplace/files.ts'
import { openWorkplace, type ProjectFlags, type Workplace } from '../workplace/workplace.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import {
  countedByUs,
  dollars,
  moment,
  percent,
  prose,
  table,
  whole,
  right,
  wraps,
} from '../terminal/tables.ts'

interface Place {
  readonly project: string
  readonly store: Store
  readonly session: SessionId
}

/** With `cwd` only that project. */
export async function stats(io: Io, flags: ProjectFlags): Promise<Exit> {
  const { now } = Date
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const problems: string[] = []
  const places = await placesOf(place, flags.cwd !== undefined, problems)
  const read: ProjectSession[] = []
  const began = now()
  for (const { project, store, session } of places) {
    if (io.errIsTerminal && now() - began > second)
      io.err(`\r\u001B[Kread ${read.length} of ${places.length} sessions`)
    const tally = await tallyOf(store, session, tableOf(place.settings), problems)
    read.push({ project, stats: tally.stats() })
  }
  if (io.errIsTerminal) io.err('\r\u001B[K')
  const made: Shown = {
    ...statsOf(read),
    memories: await memoriesOf(place, flags.cwd !== undefined, problems),
  }
  if (flags.json === true) io.out(`${safeJson({ ...made, problems }, 2)}\n`)
  // Where something cannot be looked at, nobody knows whether there are none.
  else if (read.length > 0 || problems.length === 0)
    io.out(
      read.length === 0
        ? 'No sessions yet. Start one with pal, or pal -p "PROMPT"\n'
        : textOf(made, io.columns),
    )
  for (const problem of problems) io.err(`pal: ${safeLine(problem)}\n`)
  return read.length === 0 && problems.length > 0 ? exits.failed : exits.done
}

const second = 1000

interface Shown extends Stats {
  readonly memories: MemoryFigures
}

/** Of the user, and of every project; what a ledger cannot tell is said. */
async function memoriesOf(
  { home, project }: Workplace,
  isOne: boolean,
  problems: string[],
): Promise<MemoryFigures> {
  const all = join(home, 'projects')
  const slug = (project.shared ?? project).slug
  const slugs = isOne ? [slug] : await namesIn(machineFileSystem, all, [])
  const states = [
    join(home, 'memory-state'),
    ...slugs.flatMap((one) => [join(all, one, 'memory-state'), join(all, one, 'team-memory-state')]),
  ]
  const sum = { saved: 0, held: 0, reverted: 0, forgotten: 0, doubtful: 0 }
  for (const state of states) {
    const ledger = new Ledger(machineFileSystem, { state })
    const fresh = await ledger.refresh()
    if (!fresh.ok) problems.push(fresh.failure.message)
    else
      for (const [name, count] of Object.entries(figuresOf(ledger))) sum[name as keyof MemoryFigures] += count
  }
  return sum
}

async function placesOf(place: Workplace, isOne: boolean, problems: string[]): Promise<readonly Place[]> {
  const all = join(place.home, 'projects')
  const names = isOne ? [place.project.slug] : await namesIn(machineFileSystem, all, problems)
  const places: Place[] = []
  for (const slug of names.toSorted()) {
    const store = fileStore({ root: sessionsFolder(place.home, { ...place.project, slug }) })
    for await (const info of store.list()) {
      if (info.ok) places.push({ project: slug, store, session: info.session })
      else problems.push(info.failure.message)
    }
  }
  return places
}

async function tallyOf(
  store: Store,
  session: SessionId,
  models: ModelTable,
  problems: string[],
): Promise<SessionTally> {
  const tally = new SessionTally(models, (at) => moment(at).slice(0, dayChars))
  for await (const item of store.read(session)) {
    if (item.kind === 'failed') problems.push(`session ${session}: ${item.failure.message}`)
    else if (item.kind === 'entry' && isKnown(item.entry)) tally.take(item.entry)
  }
  return tally
}

const dayChars = 10

/** One function a section; what is empty says nothing. */
const sections: readonly ((stats: Shown, room: number) => string)[] = [
  overview,
  ({ days }, room) => lines('day', days, room),
  ({ projects }, room) => lines('project', projects, room),
  purposes,
  layers,
  compactions,
  memories,
]

const textOf = (made: Shown, room: number): string =>
  sections
    .map((section) => prose(section(made, room), room))
    .filter((text) => text !== '')
    .join('\n')

const billed = [
  right('sessions'),
  right('requests', 1),
  right('hits'),
  right('input', 4),
  right('cache read', 2),
  right('cache write', 5),
  right('output', 3),
  right('cost'),
]
const share = (value: number | null): string => (value === null ? '–' : percent(value))

function overview({ sessions, turns, total, hitRate, cacheBreaks }: Stats): string {
  const unpriced = total.unpriced === 0 ? '' : `, ${total.unpriced} answers have no known price`
  return `${whole(sessions)} ${sessions === 1 ? 'session' : 'sessions'}, ${whole(turns)} turns, ${whole(total.requests)} requests, ${dollars(total.dollars)}${unpriced}
${share(hitRate)} of the prompt tokens were read from the cache; it broke ${whole(cacheBreaks)} times.
${total.estimated === 0 ? '' : countedByUs(total.estimated, total.requests)}${total.simulated === 0 ? '' : nothingPaid(total)}`
}

const nothingPaid = ({ simulated, requests, unpaid }: Stats['total']): string =>
  `${whole(simulated)} of ${whole(requests)} answers are simulated: nothing was paid for them, ${dollars(unpaid)} of the cost.\n`

function lines(title: string, all: Stats['days'], room: number): string {
  const rows = all.map(({ name, sessions, bill, hitRate }) => [
    name,
    String(sessions),
    whole(bill.requests),
    share(hitRate),
    whole(bill.input),
    whole(bill.cacheRead),
    whole(bill.cacheWrite),
    whole(bill.output),
    dollars(bill.dollars),
  ])
  return rows.length === 0 ? '' : table([wraps(title), ...billed], rows, room)
}

function purposes({ purposes: all }: Stats, room: number): string {
  const rows = all.map(({ name, sessions, forks, bill, hitRate, wasted, wastedTokens }) => [
    name,
    String(Math.max(sessions, forks)),
    share(hitRate),
    dollars(bill.dollars),
    String(wasted),
    whole(wastedTokens),
  ])
  const titles = ['sessions', 'hits', 'cost', 'calls wasted', 'tokens wasted']
  return rows.length === 0 ? '' : table([wraps('purpose'), ...titles.map((each) => right(each))], rows, room)
}

function layers({ layers: all }: Stats, room: number): string {
  const rows = all.map(({ name, edits, tokensFreed, saved, rewritten, avoided }) => [
    name,
    String(edits),
    whole(tokensFreed),
    dollars(saved),
    dollars(rewritten),
    dollars(avoided),
  ])
  const titles = ['edits', 'tokens freed', 'saved', 'written again', 'cost avoided']
  return rows.length === 0 ? '' : table([wraps('layer'), ...titles.map((each) => right(each))], rows, room)
}

function compactions({ compactions: all, openBreakers, turns }: Stats, room: number): string {
  const { count, sources, stretches, turnsBetween, audits, retention, failures, longestRun } = all
  if (count === 0 && failures === 0) return ''
  const by = Object.entries(sources).map(([source, times]) => `${times} by ${source}`)
  const rows = [
    [
      'compactions',
      `${count}${by.length === 0 ? '' : ` (${by.join(', ')})`}, ${((count / Math.max(1, turns)) * 100).toFixed(1)} in 100 turns`,
    ],
    ['turns between', stretches === 0 ? '–' : (turnsBetween / stretches).toFixed(1)],
    ['details retained', audits === 0 ? '–' : percent(retention / audits)],
    ['failed summaries', `${failures}, at most ${longestRun} in a row`],
    ['paused after failures', String(openBreakers)],
  ]
  return table(['compaction', wraps('')], rows, room)
}

const memoryPurposes: ReadonlySet<string> = new Set(['select-memory', 'extraction', 'dream'])

function memories({ memories: kept, recalls, purposes: all }: Shown, room: number): string {
  const { saved, held, reverted, forgotten, doubtful } = kept
  if (saved + held + reverted + forgotten + recalls.recalled === 0) return ''
  const wasted = all
    .filter(({ name }) => memoryPurposes.has(name))
    .reduce((sum, line) => sum + line.wasted, 0)
  const rows = [
    ['saved', whole(saved)],
    ['held for review', whole(held)],
    ['reverted', whole(reverted)],
    ['forgotten', whole(forgotten)],
    ['doubtful', whole(doubtful)],
    ['recalled', whole(recalls.recalled)],
    [
      'used afterwards',
      recalls.recalled === 0 ? '–' : `${whole(recalls.used)} (${percent(recalls.used / recalls.recalled)})`,
    ],
    ['calls wasted', whole(wasted)],
  ]
  return table(['memories', wraps('')], rows, room)
}
