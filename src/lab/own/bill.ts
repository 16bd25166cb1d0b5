// What a person's own sessions cost, in one look: what was paid, what sending everything and what ours would have cost,
// and where the caches broke. Money on both sides is of the same requests: what has no known price is in neither, and output
// that is not recorded as final is in neither.
import type { Figures } from '../measures.ts'
import type { LossCause } from '../measuring/paid.ts'
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
  /** Sessions whose counts are recorded and that were played to their end; only those can be compared. */
  readonly counted: number
  /** Dollars of the counted sessions. */
  readonly paid: number
  readonly whole: number
  /** With what looking up again what was forgotten would cost. */
  readonly ours: number
  /** Rounds that looking up again would add under ours, over the requests of the counted sessions. */
  readonly moreRounds: number
  /** Counted requests without a known price, and answers whose output is not known. */
  readonly unpriced: number
  readonly outputUnknown: number
  readonly losses: readonly LossLine[]
}

export interface OwnBill {
  readonly programs: readonly BillLine[]
  readonly paid: number
  readonly whole: number
  readonly ours: number
  readonly unpriced: Report['unpriced']
}

/** Policies of the report. */
export interface BillNames {
  readonly whole: string
  readonly ours: string
}

/** Each session counts under the lifetime its client used most. */
export function billOf(report: Report, names: BillNames): OwnBill {
  const programs = [...new Set(report.sessions.map(({ client }) => client))].sort()
  const lines = programs.map((program): BillLine => {
    const sessions = report.sessions.filter(({ client }) => client === program)
    const counted = sessions.filter((session) => isCounted(session, names))
    const summed = (of: (session: SessionRow) => number): number =>
      counted.reduce((all, session) => all + of(session), 0)
    return {
      program,
      sessions: sessions.length,
      requests: sessions.reduce((all, { rows }) => all + (rows[0]?.figures['1h'].requests ?? 0), 0),
      counted: counted.length,
      paid: summed(({ recorded }) => recorded?.figures.dollars ?? 0),
      whole: summed((session) => dollarsOf(figuresIn(session, names.whole))),
      ours: summed((session) => dollarsOf(figuresIn(session, names.ours))),
      moreRounds: summed((session) => figuresIn(session, names.ours)?.rounds ?? 0),
      unpriced: summed(({ recorded }) => recorded?.figures.unpriced ?? 0),
      outputUnknown: summed(({ recorded }) => recorded?.figures.outputUnknown ?? 0),
      losses: lossesIn(sessions),
    }
  })
  const all = (of: (line: BillLine) => number): number => lines.reduce((sum, line) => sum + of(line), 0)
  return {
    programs: lines,
    paid: all(({ paid }) => paid),
    whole: all(({ whole }) => whole),
    ours: all(({ ours }) => ours),
    unpriced: report.unpriced,
  }
}

/** Whether both sides of a session are known: what it paid, and what all of it would have cost. */
export const isCounted = (session: SessionRow, { whole, ours }: BillNames): boolean =>
  session.recorded !== null &&
  [whole, ours].every((policy) => {
    const figures = figuresIn(session, policy)
    return figures !== null && figures.sessions > 0 && figures.brokenOff === 0
  })

export const dollarsOf = (figures: Figures | null): number =>
  figures === null ? 0 : figures.dollars + figures.recoveryDollars

/** Of a session under a policy, at the lifetime its client used most. */
export function figuresIn({ rows, recorded }: SessionRow, policy: string): Figures | null {
  const row = rows.find((one) => one.policy === policy)
  if (row === undefined) return null
  const { written5m, written1h } = recorded?.figures ?? { written5m: 0, written1h: 0 }
  return row.figures[written1h > written5m ? '1h' : '5m']
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
