// What people do with the sessions of a fleet: send, look, park, answer, wait.
import { randomUUID } from 'node:crypto'
import { seq, sessionId } from '../../../transcript/ids.ts'
import { postgresStore, type FleetRow } from '../../../postgres/index.ts'
import { describeEntry } from '../../../fleet/index.ts'
import { print, exits, fail, type Exit } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { counted, countedByUs, dollars, table, whole, wraps, right, left } from '../../terminal/tables.ts'
import { safeLine } from '../../terminal/safe-text.ts'
import { failedWith, json, withFleet, type FleetFlags } from './open.ts'

export interface SendFlags extends FleetFlags {
  readonly id?: string | undefined
  readonly team?: string | undefined
  readonly project?: string | undefined
}

export const fleetSend = (
  io: Io,
  session: string,
  texts: readonly string[],
  flags: SendFlags,
): Promise<Exit> =>
  withFleet(io, flags, async ({ queue }) => {
    const body = texts.join(' ').trim()
    if (body === '')
      return fail(io, exits.usage, 'there is nothing to send; add the prompt: pal fleet send SESSION TEXT')
    const name = session === 'new' ? randomUUID() : session
    const { id = randomUUID(), team, project } = flags
    const sent = await queue.send({ session: name, id, kind: 'input', body, team, project })
    if (!sent.ok) return failedWith(io, sent.failure)
    if (flags.json === true) return json(io, { session: name, id, isNew: sent.isNew, parked: sent.parked })
    io.out(`${name}\n`)
    if (!sent.isNew) io.err(`pal: input ${id} was sent before; nothing changed\n`)
    if (sent.parked !== null)
      io.err(`pal: the session is parked (${safeLine(sent.parked)}); it waits there\n`)
    return exits.done
  })

export const fleetList = (io: Io, flags: FleetFlags): Promise<Exit> =>
  withFleet(io, flags, async ({ queue }) => {
    const found = await queue.rows()
    if (!found.ok) return failedWith(io, found.failure)
    const { rows } = found
    if (rows.length === 0)
      return print(io, flags.json, rows, () => 'No sessions. Send the first: pal fleet send new "…"\n')
    const total = totalOf(rows)
    const cells = [
      ...rows.map((row) => [row.session, describeState(row), ...countsOf(row), row.team ?? '']),
      ['all', '', ...countsOf(total), ''],
    ]
    return print(io, flags.json, rows, () => `${table(columns, cells, io.columns)}${estimatedIn(total)}`)
  })

const columns = [
  'session',
  wraps('state'),
  right('entries'),
  right('waiting'),
  right('cost', 1),
  left('team', 2),
]

type Counts = Pick<FleetRow, 'entries' | 'waiting' | 'usd' | 'answers' | 'unpriced' | 'estimated'>

const countsOf = (counts: Counts): readonly string[] => [
  whole(counts.entries),
  whole(counts.waiting),
  counts.answers === 0 ? '' : costOf(counts),
]

const costOf = ({ usd, unpriced }: Counts): string =>
  unpriced > 0 ? `${dollars(usd ?? 0)} + ${whole(unpriced)} unpriced` : dollars(usd)

const totalOf = (rows: readonly FleetRow[]): Counts =>
  rows.reduce<Counts>(
    (sum, row) => ({
      entries: sum.entries + row.entries,
      waiting: sum.waiting + row.waiting,
      usd: (sum.usd ?? 0) + (row.usd ?? 0),
      answers: sum.answers + row.answers,
      unpriced: sum.unpriced + row.unpriced,
      estimated: sum.estimated + row.estimated,
    }),
    { entries: 0, waiting: 0, usd: 0, answers: 0, unpriced: 0, estimated: 0 },
  )

const estimatedIn = ({ estimated, answers }: Counts): string =>
  estimated > 0 ? countedByUs(estimated, answers) : ''

function describeState({ parked, owner, wantedFor, failure }: FleetRow): string {
  if (parked !== null) return `parked: ${parked}`
  if (owner !== null) return `worked on by ${owner.who}`
  if (wantedFor === null) return 'idle'
  return failure === null ? 'waiting for a worker' : `tried again soon: ${failure}`
}

const shownEntries = 20

export const fleetShow = (io: Io, session: string, flags: FleetFlags): Promise<Exit> =>
  withFleet(io, flags, async (fleet) => {
    const { queue, connection, tenant } = fleet
    const [rows, questions] = [await queue.rows(session), await queue.questions(session)]
    if (!rows.ok) return failedWith(io, rows.failure)
    if (!questions.ok) return failedWith(io, questions.failure)
    const row = rows.rows[0]
    if (row === undefined) return noSession(io, session)
    const last: string[] = []
    const store = postgresStore({ connection, tenant })
    if (row.entries > 0)
      for await (const item of store.read(sessionId(session), {
        from: seq(Math.max(0, row.head - shownEntries + 1)),
      })) {
        if (item.kind === 'failed') return failedWith(io, item.failure)
        if (item.kind === 'entry') last.push(`#${item.entry.seq} ${describeEntry(item.entry)}`)
      }
    if (flags.json === true) return json(io, { ...row, questions: questions.questions, last })
    io.out(`${session}: ${safeLine(describeState(row))}\n`)
    io.out(
      `${whole(row.entries)} entries, ${whole(row.waiting)} waiting, ${row.answers === 0 ? 'nothing spent' : `${costOf(row)} spent`}\n`,
    )
    io.out(estimatedIn(row))
    for (const { id, tool, body, answer } of questions.questions)
      io.out(
        `question ${id} (${answer === null ? `open: pal fleet answer ${session} ${id} allow` : `answered: ${safeLine(answer)}`})\n  ${safeLine(tool)}: ${safeLine(body.replaceAll('\n', ' · '))}\n`,
      )
    for (const line of last) io.out(`${safeLine(line)}\n`)
    return exits.done
  })

export const fleetPark = (
  io: Io,
  session: string,
  why: readonly string[],
  flags: FleetFlags,
): Promise<Exit> =>
  withFleet(io, flags, async ({ queue }) => {
    const done = await queue.park(session, `by an operator: ${why.join(' ')}`)
    if (!done.ok) return failedWith(io, done.failure)
    if (!done.isFound) return noSession(io, session)
    return print(io, flags.json, { session, done: 'parked' }, () => 'Parked\n')
  })

export const fleetUnpark = (io: Io, session: string, flags: FleetFlags): Promise<Exit> =>
  withFleet(io, flags, async ({ queue }) => {
    const done = await queue.unpark(session)
    if (!done.ok) return failedWith(io, done.failure)
    if (!done.isFound) return fail(io, exits.session, `session ${session} is not parked, or does not exist`)
    return print(io, flags.json, { session, parked: null }, () => 'Unparked\n')
  })

const noSession = (io: Io, session: string): Exit =>
  fail(io, exits.session, `there is no session ${session}; pal fleet list shows them`)

export const fleetAnswer = (
  io: Io,
  session: string,
  question: string,
  answer: 'allow' | 'deny',
  flags: FleetFlags & { readonly why?: string | undefined },
): Promise<Exit> =>
  withFleet(io, flags, async ({ queue }) => {
    const text = answer === 'deny' && flags.why !== undefined ? `deny: ${flags.why}` : answer
    const done = await queue.answer(session, question, text)
    if (!done.ok) return failedWith(io, done.failure)
    return print(io, flags.json, { session, question, answer: text }, () => 'Answered\n')
  })

const dayMs = 24 * 3_600_000

/** Shows what is older than it is to be kept; with `delete` it goes for good. */
export const fleetPrune = (
  io: Io,
  flags: FleetFlags & { readonly days: number; readonly delete?: boolean | undefined },
): Promise<Exit> =>
  withFleet(io, flags, async ({ queue }) => {
    const before = new Date(Date.now() - flags.days * dayMs)
    const found = await queue.oldSessions(before)
    if (!found.ok) return failedWith(io, found.failure)
    const removed: string[] = []
    const trees = new Map<string, string[]>()
    for (const { session, root } of found.sessions) {
      const tree = trees.get(root) ?? []
      trees.set(root, tree)
      tree.push(session)
    }
    if (flags.delete === true)
      for (const members of trees.values()) {
        const gone = await queue.removeOld(members, before)
        if (!gone.ok) return failedWith(io, gone.failure)
        removed.push(...gone.removed)
      }
    const bytes = found.sessions.reduce((sum, each) => sum + each.bytes, 0)
    return print(io, flags.json, { sessions: found.sessions, removed }, () =>
      flags.delete === true
        ? `${counted(removed.length, 'session')} removed for good\n`
        : `${counted(found.sessions.length, 'session')}, ${whole(bytes)} bytes, nothing was written to for ${whole(flags.days)} days. Remove them: add --delete\n`,
    )
  })

const drainPollMs = 500

/** Waits until nothing is left to do but what is parked. */
export const fleetDrain = (
  io: Io,
  flags: FleetFlags & { readonly seconds?: number | undefined },
): Promise<Exit> =>
  withFleet(io, flags, async ({ queue }) => {
    const end = flags.seconds === undefined ? Infinity : performance.now() + flags.seconds * 1000
    let before = -1
    for (;;) {
      const found = await queue.rows()
      if (!found.ok) return failedWith(io, found.failure)
      const busy = found.rows.filter(
        ({ parked, owner, wantedFor }) => parked === null && (owner !== null || wantedFor !== null),
      )
      const parked = found.rows.filter((row) => row.parked !== null)
      if (busy.length === 0)
        return print(io, flags.json, { left: 0, parked: parked.map(({ session }) => session) }, () =>
          parked.length === 0
            ? 'Nothing left to do\n'
            : `Nothing left to do; ${whole(parked.length)} parked\n`,
        )
      if (performance.now() > end)
        return fail(
          io,
          exits.failed,
          `${whole(busy.length)} sessions are still worked on or wait for a worker`,
        )
      if (busy.length !== before) io.err(`pal: ${whole(busy.length)} sessions left\n`)
      before = busy.length
      await new Promise((resolve) => setTimeout(resolve, drainPollMs))
    }
  })
