// A fault at every file operation of a turn full of tools, a compaction, a memory, a fork and the end of an agent:
// `npm run bench -- faults [--process] [--every N] [--only NAME] [--json]`. In one process, or with `--process` in a real `pal`
// for each fault, where the exit code counts.
import { join } from 'node:path'
import { palSweep } from '../test/faults/pal-sweep.ts'
import { sweep } from '../test/faults/sweep.ts'

const option = (name: string): string | undefined => {
  const at = process.argv.indexOf(name)
  return at === -1 ? undefined : process.argv[at + 1]
}
const only = option('--only')
const options = {
  every: Number(option('--every') ?? 1),
  ...(only === undefined ? {} : { only: [only] }),
  progress: (text: string) => void process.stderr.write(`${text}\n`),
}
const { rows, failures } = process.argv.includes('--process')
  ? await palSweep({ ...options, root: join(import.meta.dirname, '..') })
  : await sweep(options)
if (process.argv.includes('--json')) console.log(JSON.stringify({ rows, failures }, null, 2))
else {
  console.table(rows)
  for (const failure of failures) console.log(failure)
}
// What the dead processes left waiting would keep this one alive.
process.exit(rows.some(({ silent, lost, stuck }) => silent + lost + stuck > 0) ? 1 : 0)
