// One self-contained page of a report. Law: recorded text never becomes markup or code. The data stands in the page as
// JSON with `<` written out, the script makes text nodes only, and the page's own policy lets no other script run and
// nothing be fetched.
import { createHash } from 'node:crypto'
import type { Report, SessionRow, Row } from '../report.ts'
import { holders, type Moment } from '../playing/timeline.ts'
import { pageScript } from './script.ts'
import { pageStyle } from './style.ts'

export interface PolicyNote {
  readonly name: string
  readonly about: string
  readonly kind: 'bound' | 'peer' | 'ours'
}

export function pageOf(report: Report, policies: readonly PolicyNote[]): string {
  const data = {
    window: report.window,
    model: report.model,
    holders,
    policies,
    all: (report.groups[0]?.rows ?? []).map(rowOf),
    recorded: report.groups.flatMap(({ name, recorded, rows }) =>
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

const sessionOf = ({ name, client, isHeldOut, recorded, losses, rows, timelines }: SessionRow) => ({
  name,
  client,
  isHeldOut,
  recorded: recorded === null ? null : paidOf(recorded),
  losses,
  rows: rows.map(rowOf),
  timelines: Object.fromEntries(
    Object.entries(timelines).map(([policy, moments]) => [policy, moments.map(packed)]),
  ),
})

const rowOf = ({ policy, figures, shares }: Row) => ({
  policy,
  cost5m: shares['5m'].equivalents,
  cost1h: shares['1h'].equivalents,
  dollars5m: figures['5m'].dollars,
  dollars1h: figures['1h'].dollars,
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
const packed = ({ at, held, fresh, read, written, lost, isCold, changes }: Moment): readonly unknown[] => [
  at,
  ...held,
  fresh,
  read,
  written,
  lost,
  isCold ? 1 : 0,
  changes.map(({ layer, why, freed }) => [layer, why, freed]),
]
