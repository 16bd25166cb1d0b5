// One self-contained page of a report. Law: recorded text never becomes markup or code. The data stands in the page as
// JSON with `<` written out, the script makes text nodes only, and the page's own policy lets no other script run and
// nothing be fetched.
import { createHash } from 'node:crypto'
import { sharesOf, sum, type Figures } from '../measures.ts'
import { billOf, dollarsOf, figuresIn, isCounted, type BillLine } from '../own/bill.ts'
import type { Group, Report, SessionRow, Row } from '../report.ts'
import { holders, type Moment } from '../playing/timeline.ts'
import { pageScript } from './script.ts'

export interface PolicyNote {
  readonly name: string
  readonly about: string
  readonly kind: 'bound' | 'peer' | 'ours'
}

/** A report as one self-contained page. */
export interface PageOptions {
  /** A person's own sessions: no groups that only the lab knows. */
  readonly isOwn?: boolean | undefined
}

/** A report as one self-contained page, money first. */
export function pageOf(
  report: Report,
  policies: readonly PolicyNote[],
  { isOwn = false }: PageOptions = {},
): string {
  const data = {
    bill: billFor(report),
    unpriced: report.unpriced,
    agreement: report.agreement,
    window: report.window,
    model: report.model,
    holders,
    policies,
    all: (report.groups[0]?.rows ?? []).map(rowOf),
    recorded: groupsShown(report, isOwn).flatMap(({ name, recorded, rows }) =>
      recorded === null ? [] : [{ name, paid: paidOf(recorded), rows: rows.map(rowOf) }],
    ),
    sessions: report.sessions.map(sessionOf),
    problems: report.problems,
  }
  const hash = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
  const rules = `default-src 'none'; script-src ${hash(pageScript)}; style-src ${hash(pageStyle)}; base-uri 'none'; form-action 'none'`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${rules}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Replay</title>
<style>${pageStyle}</style>
</head>
<body>
<main id="page"><noscript>This page draws itself with a small script of its own.</noscript></main>
<script type="application/json" id="data">${embedded(data)}</script>
<script>${pageScript}</script>
</body>
</html>
`
}

const names = { whole: 'append-only', ours: 'standard' } as const

/** The same table would stand there again for one session, and for one program. */
function groupsShown({ groups, sessions }: Report, isOwn: boolean): readonly Group[] {
  if (sessions.length < 2) return []
  const shown = isOwn ? groups.filter(({ name }) => name !== 'tuned on' && name !== 'held out') : groups
  return shown.filter(
    (group, at) => shown.findIndex(({ sessions: count }) => count === group.sessions) === at,
  )
}

/** What was paid against ours, and what differs; null where ours was not played. */
function billFor(report: Report) {
  if (!policyIn(report, names.ours) || !policyIn(report, names.whole)) return null
  const bill = billOf(report, names)
  const counted = report.sessions.filter((session) => isCounted(session, names))
  const paid = sum(counted.map(({ recorded }) => recorded!.figures))
  const ours = sum(counted.flatMap((session) => figuresIn(session, names.ours) ?? []))
  const [was, would] = [sharesOf(paid), sharesOf(ours)]
  const added = (of: (line: BillLine) => number): number =>
    bill.programs.reduce((all, line) => all + of(line), 0)
  return {
    counted: counted.length,
    paid: bill.paid,
    ours: bill.ours,
    whole: bill.whole,
    rounds: added(({ moreRounds }) => moreRounds),
    outputUnknown: added(({ outputUnknown }) => outputUnknown),
    why: [
      ['tokens a request carries on average', was.carried, would.carried, 'tokens'],
      ['the largest request, in tokens', paid.largest, ours.largest, 'tokens'],
      ['share of the input that came from the cache', was.hitRate, would.hitRate, 'share'],
      ['tokens written to the cache', writtenIn(paid), writtenIn(ours), 'tokens'],
      ['looking up again what was out of sight', null, ours.recoveryDollars, 'dollars'],
    ],
  }
}

const policyIn = ({ groups }: Report, policy: string): boolean =>
  groups[0]?.rows.some((row) => row.policy === policy) ?? false

const writtenIn = ({ written5m, written1h }: Figures): number => written5m + written1h

/** JSON that cannot end the element it stands in. */
const embedded = (value: unknown): string =>
  JSON.stringify(value)
    .replaceAll('<', '\\u003c')
    .replaceAll('\u2028', '\\u2028')
    .replaceAll('\u2029', '\\u2029')

const paidOf = ({ figures, shares }: NonNullable<SessionRow['recorded']>) => ({
  cost: shares.equivalents,
  dollars: figures.dollars,
  hits: shares.hitRate,
})

function sessionOf(session: SessionRow) {
  const { name, client, recorded, losses, rows, timelines } = session
  return {
    name,
    client,
    requests: rows[0]?.figures['1h'].requests ?? 0,
    ours: dollarsOf(figuresIn(session, names.ours)),
    isWhole: figuresIn(session, names.ours)?.brokenOff === 0,
    recorded: recorded === null ? null : paidOf(recorded),
    losses,
    rows: rows.map(rowOf),
    timelines: Object.fromEntries(
      Object.entries(timelines).map(([policy, moments]) => [policy, moments.map(packed)]),
    ),
  }
}

const rowOf = ({ policy, figures, shares }: Row) => ({
  policy,
  total5m: shares['5m'].total,
  total1h: shares['1h'].total,
  again1h: figures['1h'].recovery,
  rounds: shares['1h'].moreRounds,
  once: shares['1h'].saidOnce,
  dollars5m: dollarsOf(figures['5m']),
  dollars1h: dollarsOf(figures['1h']),
  hits: shares['1h'].hitRate,
  need: shares['1h'].retention,
  bare: shares['1h'].visibility,
  edits: shares['1h'].readiness,
  words: shares['1h'].words,
  cuts: figures['1h'].reductions,
  lost: figures['1h'].lostMoney,
  refused: figures['1h'].rejected,
})

/** [time, tokens by holder…, fresh, read, written, lost, cold, changes] */
const packed = ({
  at,
  byHolder,
  fresh,
  read,
  written,
  lost,
  isCold,
  changes,
}: Moment): readonly unknown[] => [
  at,
  ...byHolder,
  fresh,
  read,
  written,
  lost,
  isCold ? 1 : 0,
  changes.map(({ layer, why, freed }) => [layer, why, freed]),
]

// How the page looks, light and dark.

const pageStyle = `
:root { color-scheme: light dark; --ink: #1d2125; --dim: #5c6670; --line: #d5dae0; --paper: #fff; --soft: #f3f5f7;
  --ours: #b3261e; --peer: #2f6db5; --bound: #7a828a; --bad: #c62828; --changed: #1d2125; --written: #00897b; --fresh: #d81b8c;
  --system: #8c96a0; --tools: #b7bec6; --user: #2e9e6b; --assistant: #2f6db5; --results: #e0a030; --summary: #9a5bb5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ec; --dim: #a0a9b2; --line: #3a4148; --paper: #15181b;
  --soft: #1e2328; --ours: #ff8a80; --peer: #82b4f0; --bound: #9aa3ac; --bad: #ff6e60; --changed: #e6e9ec; --written: #4db6ac; --fresh: #ff80c8;
  --system: #69737d; --tools: #4c555e; --user: #4cc38a; --assistant: #5b9be6; --results: #d9a441; --summary: #b98ad0; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 72rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .5rem; }
p { margin: .25rem 0 .75rem; color: var(--dim); max-width: 60rem; }
label { margin-right: 1.25rem; color: var(--dim); }
select { font: inherit; color: var(--ink); background: var(--soft); border: 1px solid var(--line);
  border-radius: 4px; padding: .15rem .4rem; max-width: 22rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: .9rem; margin-top: .5rem; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; }
th { color: var(--dim); font-weight: 600; }
tbody tr { cursor: pointer; } tbody tr:hover, tr.chosen { background: var(--soft); }
td.ours { color: var(--ours); font-weight: 600; } td.peer { color: var(--peer); } td.bound { color: var(--bound); }
svg { display: block; width: 100%; height: auto; margin-top: .5rem; }
svg text { font: 12px system-ui, sans-serif; fill: var(--dim); }
.axis { stroke: var(--line); } .break { stroke: var(--bad); stroke-width: 1.5; stroke-dasharray: 3 3; }
.cursor { stroke: var(--ink); stroke-width: 1; }
.dot { stroke: var(--paper); stroke-width: 1.5; cursor: pointer; }
.dot.ours { fill: var(--ours); } .dot.peer { fill: var(--peer); } .dot.bound { fill: var(--bound); }
.dot.chosen { stroke: var(--ink); stroke-width: 2.5; }
.lead { stroke: var(--line); } svg text.name { cursor: pointer; } svg text.name.ours { fill: var(--ours); font-weight: 600; }
.system { fill: var(--system); } .tools { fill: var(--tools); } .user { fill: var(--user); }
.assistant { fill: var(--assistant); } .results { fill: var(--results); } .summary { fill: var(--summary); }
.change { fill: var(--changed); } .read { fill: var(--line); } .written { fill: var(--written); } .fresh { fill: var(--fresh); }
.key { display: inline-block; width: .8em; height: .8em; margin: 0 .35em 0 .9em; border-radius: 2px; vertical-align: -1px; }
.key.system { background: var(--system); } .key.tools { background: var(--tools); } .key.user { background: var(--user); }
.key.assistant { background: var(--assistant); } .key.results { background: var(--results); } .key.summary { background: var(--summary); }
.key.bad { background: var(--bad); } .key.change { background: var(--changed); }
.key.read { background: var(--line); } .key.written { background: var(--written); } .key.fresh { background: var(--fresh); }
th[title] { text-decoration: underline dotted; cursor: help; } dt { font-weight: 600; } dd { margin: 0 0 .4rem 1rem; color: var(--dim); }
.note { background: var(--soft); border-left: 3px solid var(--line); padding: .4rem .8rem; min-height: 3.2rem;
  white-space: pre-wrap; overflow-wrap: anywhere; margin-top: .5rem; }
`
