// What a person's own sessions cost, in one look: what was paid, what sending everything and what ours would have cost,
// and where the caches broke.
import type { LossCause } from '../measuring/cache-losses.ts'
import type { Report, SessionRow } from '../report.ts'

export interface LossLine {
  readonly cause: LossCause
  readonly times: number
  readonly tokens: number
}

export interface BillLine {
  readonly program: string
  readonly sessions: number
  readonly requests: number
  /** Sessions whose counts of reads and writes are recorded; only those can be compared. */
  readonly counted: number
  /** Input-token equivalents and dollars of the counted sessions; null where there are none. */
  readonly paid: Cost | null
  readonly whole: Cost | null
  readonly ours: Cost | null
  /** The same replays over all sessions of the program. */
  readonly allWhole: Cost
  readonly allOurs: Cost
  readonly losses: readonly LossLine[]
}

export interface Cost {
  readonly equivalents: number
  readonly dollars: number | null
}

/** `ours` and `whole` name policies of the report. Each session counts under the lifetime its client used most. */
export function billOf(
  report: Report,
  names: { readonly whole: string; readonly ours: string },
): readonly BillLine[] {
  const programs = [...new Set(report.sessions.map(({ client }) => client))].sort()
  return programs.map((program) => {
    const sessions = report.sessions.filter(({ client }) => client === program)
    const counted = sessions.filter(({ recorded }) => recorded !== null)
    const has = counted.length > 0
    return {
      program,
      sessions: sessions.length,
      requests: sessions.reduce((sum, { rows }) => sum + (rows[0]?.figures['1h'].requests ?? 0), 0),
      counted: counted.length,
      paid: has ? added(counted.map(paidIn)) : null,
      whole: has ? added(counted.map((session) => costIn(session, names.whole))) : null,
      ours: has ? added(counted.map((session) => costIn(session, names.ours))) : null,
      allWhole: added(sessions.map((session) => costIn(session, names.whole))),
      allOurs: added(sessions.map((session) => costIn(session, names.ours))),
      losses: lossesIn(sessions),
    }
  })
}

const nothing: Cost = { equivalents: 0, dollars: 0 }

const added = (all: readonly Cost[]): Cost =>
  all.reduce(
    (sum, { equivalents, dollars }) => ({
      equivalents: sum.equivalents + equivalents,
      dollars: sum.dollars === null || dollars === null ? null : sum.dollars + dollars,
    }),
    nothing,
  )

const paidIn = ({ recorded }: SessionRow): Cost => ({
  equivalents: recorded?.shares.equivalents ?? 0,
  dollars: recorded?.figures.dollars ?? null,
})

function costIn({ rows, recorded }: SessionRow, policy: string): Cost {
  const row = rows.find((one) => one.policy === policy)
  if (row === undefined) return nothing
  const { written5m, written1h } = recorded?.figures ?? { written5m: 0, written1h: 0 }
  const lifetime = written1h > written5m ? '1h' : '5m'
  return { equivalents: row.shares[lifetime].equivalents, dollars: row.figures[lifetime].dollars }
}

function lossesIn(sessions: readonly SessionRow[]): readonly LossLine[] {
  const all = sessions.flatMap(({ losses }) => losses)
  const causes = [...new Set(all.map(({ cause }) => cause))]
  return causes
    .map((cause) => {
      const own = all.filter((loss) => loss.cause === cause)
      return { cause, times: own.length, tokens: own.reduce((sum, { tokens }) => sum + tokens, 0) }
    })
    .toSorted((a, b) => b.tokens - a.tokens)
}
