// The last month of a person's sessions with other agents, in a few seconds: what it cost, what its cache breaks cost, what
// each compaction lost. The newest files first, until the time is over; what was left out is counted. Only looks.
import { readFile } from 'node:fs/promises'
import {
  findOwn,
  opencodeDatabase,
  opencodeRequests,
  opencodeRows,
  requestsIn,
  requestsInLong,
  usageReport,
  type BilledRequest,
  type Homes,
  type OwnSession,
  type UsageReport,
} from '../lab/index.ts'
import type { ModelTable } from '../model/models.ts'
import { defaults } from '../settings/defaults.ts'
import { auditSession, type CompactionAudit } from './audit.ts'

export interface SeenCompaction {
  readonly program: OwnSession['program']
  readonly session: string
  readonly audit: CompactionAudit
}

export interface FirstLook {
  /** Files that were read, of all that were found. */
  readonly read: number
  readonly found: number
  readonly programs: readonly string[]
  readonly usage: UsageReport
  readonly compactions: readonly SeenCompaction[]
  readonly tookMs: number
}

export interface LookOptions {
  readonly models: ModelTable
  readonly now: () => number
  readonly onProgress?: (read: number, found: number) => void
}

const day = 86_400_000

/** Null where no other agent was at work here. */
export async function firstLook(
  homes: Homes,
  { models, now, onProgress }: LookOptions,
): Promise<FirstLook | null> {
  const began = now()
  const { lookDays, lookMs } = defaults.companion
  const isOver = (): boolean => now() - began > lookMs
  const since = began - lookDays * day
  const { sessions, passedOver } = await findOwn(homes, { since, forUsage: true, anySize: true, isOver })
  const late = passedOver.find(({ why }) => why.startsWith('not looked at'))?.count ?? 0
  const rows = await opencodeRows(opencodeDatabase(homes))
  const opencode = rows.ok ? opencodeRequests('opencode', rows.messages) : []
  if (sessions.length === 0 && opencode.length === 0) return null
  const requests: BilledRequest[] = [...opencode]
  const compactions: SeenCompaction[] = []
  let read = 0
  for (const session of sessions) {
    if (isOver()) break
    const seen = await lookInto(session, isOver)
    requests.push(...seen.requests)
    compactions.push(...seen.compactions)
    read++
    onProgress?.(read, sessions.length + late)
  }
  const recent = requests.filter(({ at }) => at === null || at >= since)
  return {
    read,
    found: sessions.length + late,
    programs: [...new Set(recent.map(({ program }) => program))].sort(),
    usage: usageReport(recent, 'program', models),
    compactions: compactions
      .filter(({ audit }) => audit.at === null || audit.at >= since)
      .sort((a, b) => (b.audit.at ?? 0) - (a.audit.at ?? 0)),
    tookMs: now() - began,
  }
}

interface Seen {
  readonly requests: readonly BilledRequest[]
  readonly compactions: readonly SeenCompaction[]
}

async function lookInto({ path, program, bytes }: OwnSession, isOver: () => boolean): Promise<Seen> {
  try {
    const isShort = bytes <= defaults.lab.streamBytes
    const content = isShort ? await readFile(path) : null
    const billed = content === null ? await requestsInLong(path, isOver) : requestsIn(path, content)
    const requests = billed.ok ? billed.requests : []
    // Most sessions were never compacted: those are not read a second time.
    const mayBeCompacted = content === null || compactionMarks.some((mark) => content.includes(mark))
    const audited = mayBeCompacted && !isOver() ? await auditSession(path, isOver) : null
    if (audited?.ok !== true) return { requests, compactions: [] }
    const { session, compactions } = audited.audit
    return { requests, compactions: compactions.map((audit) => ({ program, session, audit })) }
  } catch {
    return { requests: [], compactions: [] }
  }
}

const compactionMarks = [
  '"isCompactSummary":true',
  '"type":"compacted"',
  '"type":"compaction"',
  '<state_snapshot>',
]
