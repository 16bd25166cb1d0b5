// What came from beside the talk, written down before the next request: results of agents that nobody waited for,
// messages, and after a compaction the list of agents. Each is an attachment with an id, and the fold of those ids
// (`agent-rows`) is what makes a delivery happen once, over crashes and compactions alike.
import { defaults } from '../../settings/defaults.ts'
import { textIn } from '../../transcript/content.ts'
import { attachmentOf, isKnown } from '../../transcript/fact.ts'
import { fenced } from '../../transcript/fence.ts'
import type { Seq } from '../../transcript/ids.ts'
import { expandCall } from '../../transcript/markers.ts'
import type { Failure, Result } from '../../transcript/store.ts'
import type { Slice } from '../core.ts'
import type { Emit } from '../live.ts'
import type { Restorer } from '../restoring/restorer.ts'
import {
  lateRows,
  listKind,
  messageKind,
  nothingInBackground,
  openRows,
  resultKind,
  type AgentRow,
  type BackgroundRows,
} from './agent-rows.ts'
import { agentReportText } from './agent-report.ts'

export const backgroundOf = (core: Slice<'state'>): BackgroundRows =>
  core.state.latest.background ?? nothingInBackground

/** Whether the model has to be told something before it can be done. */
export const somethingWaits = (core: Slice<'options' | 'role' | 'session' | 'state'>): boolean =>
  core.role.hearsOthers &&
  (lateRows(backgroundOf(core)).length > 0 || core.options.companion?.hasWaiting(core.session) === true)

export async function deliverBackground(
  core: Slice<'append' | 'options' | 'role' | 'session' | 'state'>,
  emit: Emit,
): Promise<Failure | null> {
  if (!core.role.hearsOthers) return null
  return (await deliverResults(core)) ?? (await deliverMessages(core, emit))
}

async function deliverResults(
  core: Slice<'append' | 'options' | 'session' | 'state'>,
): Promise<Failure | null> {
  for (const row of lateRows(backgroundOf(core)).slice(0, defaults.agents.resultsAtOnce)) {
    const report = await reportOf(core, row)
    if (!report.ok) return report.failure
    const written = await core.append([
      attachmentOf(resultKind, report.text, { source: row.label, id: row.child }),
    ])
    if (!written.ok) return written.failure
  }
  return null
}

/** The bounded report of an agent that has ended, from where its end is written. */
export async function reportOf(
  core: Slice<'options' | 'session'>,
  row: AgentRow,
): Promise<Result<{ readonly text: string }>> {
  const { label, child, end, spent } = row
  const found = end === null ? null : await endAt(core, end)
  if (found === null || end === null) {
    const message = `the end of agent ${child} cannot be read`
    return { ok: false, failure: { code: 'not-found', message } }
  }
  const { outcome, text } = found
  return { ok: true, text: agentReportText({ label, child, outcome, end, text, spent }) }
}

async function endAt(core: Slice<'options' | 'session'>, place: Seq) {
  for await (const item of core.options.store.read(core.session, { from: place, to: place })) {
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    if (item.entry.fact.type === 'fork-end') return item.entry.fact
  }
  return null
}

async function deliverMessages(
  core: Slice<'append' | 'options' | 'session' | 'state'>,
  emit: Emit,
): Promise<Failure | null> {
  const { companion } = core.options
  if (companion === undefined) return null
  const known = new Set(backgroundOf(core).delivered)
  const { deliveries, failures } = await companion.waiting(core.session, (id) => known.has(id))
  for (const { code, message } of failures) emit({ type: 'notice', code, message })
  const fresh = deliveries.filter(({ id }) => !known.has(id))
  const written = await core.append(
    fresh.map(({ id, from, text }) => attachmentOf(messageKind, text, { source: from, id })),
  )
  if (!written.ok) return written.failure
  if (deliveries.length === 0) return null
  const unheard = await companion.delivered(
    core.session,
    deliveries.map(({ id }) => id),
  )
  // It has been written, so it will be known when it comes again.
  if (unheard !== null) emit({ type: 'notice', ...unheard })
  return null
}

/** After a compaction the model is told once more who works for it, by facts and not by the summary's prose. */
export const agentsRestorer = (core: Slice<'role' | 'state'>): Restorer => ({
  name: listKind,
  isWhole: true,
  restore: async ({ kept }) => {
    const rows = core.role.hearsOthers ? openRows(backgroundOf(core)) : []
    if (rows.length === 0) return null
    const text = agentsText(rows)
    // An earlier compaction may have said the same in a message that stays.
    const shown = kept.findLast(({ attachment }) => attachment?.kind === listKind)
    return shown !== undefined && textIn(shown.blocks) === text ? null : text
  },
})

const agentsText = (rows: readonly AgentRow[]): string =>
  fenced(
    'agent-list',
    {},
    `Agents you have started whose results you do not have yet. Do not start them again; each result is delivered to you once, when it is ready.\n${rows
      .map(
        (row) =>
          `- ${row.child}: ${JSON.stringify(row.label)} (${row.agent}, ${row.mode}${row.forked === true ? ', forked' : ''}${nameOf(row)}) ${stateOf(row)}`,
      )
      .join('\n')}`,
  )

const nameOf = ({ name }: AgentRow): string => (name === undefined ? '' : `, named ${name}`)
const stateOf = ({ state, end }: AgentRow): string =>
  state === 'running' ? 'is running' : `is ${state}; ${expandCall(end ?? 0)} returns its result`
