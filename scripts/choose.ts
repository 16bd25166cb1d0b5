// Which place of the dial is the default, by the rule: `npm run choose -- REPORT.json …`, where each report is what
// `pal replay FOLDER --policy dial --window N --json` printed for the same sessions in another setting.
import { readFileSync } from 'node:fs'
import { chooseDefault, dial, type Report } from '../src/lab/index.ts'

const files = process.argv.slice(2)
if (files.length === 0) {
  process.stderr.write('name the reports: pal replay FOLDER --policy dial --window N --json > REPORT.json\n')
  process.exit(2)
}
const reports = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Report)
const { candidates, chosen } = chooseDefault(
  reports,
  dial.map(({ name }) => name),
)
const percent = (share: number | null): string => (share === null ? '–' : `${(share * 100).toFixed(1)} %`)
for (const { policy, total, moreRounds, words, saidOnce, isAllowed } of candidates)
  process.stdout.write(
    `${policy.padEnd(9)} total ${(total / 1e6).toFixed(1)} M, ${percent(moreRounds)} more rounds${isAllowed ? '' : ' (too many)'}, words ${percent(words)}, said once ${percent(saidOnce)}\n`,
  )
process.stdout.write(`${chosen === null ? 'no place is allowed' : `the rule chooses ${chosen}`}\n`)
