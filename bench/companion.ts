// What a companion adds to a vendor's summary, at every recorded compaction whose summary can be read: `npm run lab -- companion
// [FOLDER] [--json]`. The user's messages whole, rules labelled by hand (bench/companion-rules.json), needs by the lab's rule.
import { added } from '../src/lab/stats/gains.ts'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  measuredMoments,
  measuredTexts,
  noMeasure,
  type Measure,
  type MeasuredMoment,
} from './companion-measure.ts'
import { importFile } from '../src/lab/importers/import-file.ts'
import { corpusOr } from '../test/shared-data.ts'

const given = process.argv.slice(2)
const folder = corpusOr(given.find((word) => !word.startsWith('--')))
const labelled = JSON.parse(readFileSync(join(import.meta.dirname, 'companion-rules.json'), 'utf8')) as {
  readonly sessions: Readonly<Record<string, readonly string[]>>
}

const moments: MeasuredMoment[] = []
for (const name of readdirSync(folder)
  .filter((one) => /\.jsonl(?:\.gz)?$/.test(one))
  .sort()) {
  const imported = await importFile(join(folder, name))
  if (!imported.ok) continue
  const labels = new Set(labelled.sessions[imported.recording.name] ?? [])
  moments.push(...measuredMoments(imported.recording, labels))
}

const groups: readonly (readonly [string, (one: MeasuredMoment) => boolean])[] = [
  ['all', () => true],
  ['first compaction of a session', ({ number }) => number === 1],
  ['later ones', ({ number }) => number > 1],
  ...[...new Set(moments.map(({ client }) => client))].map(
    (client) => [client, (one: MeasuredMoment) => one.client === client] as const,
  ),
]
const summed = (of: (one: MeasuredMoment) => boolean, text: (typeof measuredTexts)[number]): Measure =>
  moments
    .filter(of)
    .map(({ texts }) => texts[text])
    .reduce(added, noMeasure)
const share = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${((100 * part) / whole).toFixed(1)} %`

if (given.includes('--json')) {
  const rows = groups.map(([group, of]) => ({
    group,
    texts: Object.fromEntries(measuredTexts.map((text) => [text, summed(of, text)])),
  }))
  process.stdout.write(`${JSON.stringify({ rows, moments }, null, 2)}\n`)
} else {
  process.stdout.write(
    '| compactions | behind it | messages whole | rules (by hand) | needs: bare | company | useful | tokens added, mean | cost of carrying |\n|---|---|---|---|---|---|---|---|---|\n',
  )
  for (const [group, of] of groups)
    for (const text of measuredTexts) {
      const sum = summed(of, text)
      process.stdout.write(
        `| ${group}, ${sum.compactions} | ${text} | ${sum.messagesWhole} of ${sum.messages}, ${share(sum.messagesWhole, sum.messages)} | ${sum.rulesKept} of ${sum.rules} | ${share(sum.bare, sum.needs)} of ${sum.needs} | ${share(sum.company, sum.needs)} | ${share(sum.useful, sum.needs)} | ${Math.round(sum.added / Math.max(1, sum.compactions))} | ${sum.paid === 0 ? '–' : `+${share(sum.carrying, sum.paid)}`} |\n`,
      )
    }
  goals()
}

function goals(): void {
  const [vendor, ours] = [summed(() => true, 'vendor'), summed(() => true, 'vendor + companion')]
  const words = ours.messagesWhole / ours.messages
  const points = (100 * (ours.company - vendor.company)) / ours.needs
  const barePoints = (100 * (ours.bare - vendor.bare)) / ours.needs
  const tokens = ours.added / ours.compactions
  const cost = ours.carrying / ours.paid
  const line = (name: string, met: boolean, found: string): string =>
    `${met ? 'met   ' : 'MISSED'} ${name}: ${found}\n`
  process.stdout.write(
    `\n${line('words whole, at least 90 %', words >= 0.9, `${(100 * words).toFixed(1)} %`)}` +
      line(
        'needs in company, at least 25 points more',
        points >= 25,
        `${points.toFixed(1)} points (bare: ${barePoints.toFixed(1)})`,
      ) +
      line('tokens, at most 1,500 on average', tokens <= 1500, String(Math.round(tokens))) +
      line('cost, at most 2 % more', cost <= 0.02, `${(100 * cost).toFixed(2)} %`) +
      `\nNeeds that neither the vendor's text nor the block has: ${moments.reduce((all, { missed }) => all + missed.length, 0)} of ${ours.needs}. Presence is not obedience: whether a model follows the words is not measured here.\n`,
  )
}
