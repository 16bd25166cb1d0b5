// Damage at random to transcripts, and what is left of the sessions:
// `npm run bench -- damage [--cases N] [--seed N] [--json]`. Ten thousand cases without a word said otherwise.
import { damageAtRandom } from '../test/faults/random-damage.ts'

const option = (name: string, otherwise: number): number => {
  const at = process.argv.indexOf(name)
  return at === -1 ? otherwise : Number(process.argv[at + 1])
}
const cases = option('--cases', 10_000)
const { rows, failures } = await damageAtRandom(cases, option('--seed', 1), (done) =>
  process.stderr.write(
    `${process.stderr.isTTY ? '\r' : ''}${done} of ${cases}${process.stderr.isTTY ? '' : '\n'}`,
  ),
)
if (process.argv.includes('--json')) console.log(JSON.stringify({ rows, failures }, null, 2))
else {
  console.table(
    rows.map((row) => ({
      damage: row.kind,
      cases: row.cases,
      opened: row.opened,
      'lines lost': row.lost,
      'lost besides': row.lostBesides,
      'behind a checkpoint': row.behindCheckpoint,
      'not said': row.unsaid,
      'next request refused': row.refused,
    })),
  )
  for (const failure of failures) console.log(failure)
}
const bad = rows.reduce(
  (sum, row) => sum + row.cases - row.opened + row.lostBesides + row.unsaid + row.refused,
  0,
)
if (bad > 0) process.exit(1)
