// A fault at every file operation of a turn full of tools, a compaction, a memory, a fork and the end of an agent:
// `npm run bench -- faults [--every N] [--only NAME] [--json]`.
import { sweep } from '../test/faults/sweep.ts'

const option = (name: string): string | undefined => {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : process.argv[at + 1]
}
const only = option('--only')
const { rows, failures } = await sweep({
  every: Number(option('--every') ?? 1),
  ...(only === undefined ? {} : { only: [only] }),
  progress: (text) => process.stderr.write(`${text}\n`),
})
if (process.argv.includes('--json')) console.log(JSON.stringify({ rows, failures }, null, 2))
else {
  console.table(rows)
  for (const failure of failures) console.log(failure)
}
// What the dead processes left waiting would keep this one alive.
process.exit(rows.some(({ silent, lost, stuck }) => silent + lost + stuck > 0) ? 1 : 0)
