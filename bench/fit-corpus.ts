// Recorded sessions played through `fit` in the words of every wire, beside the same requests untouched and beside plain
// truncation (the newest messages that fit, cut anew at every request, as loops without a memory of what they sent do it).
// Cost is that of the prompts with the provider's cache: what a request has in common with the one before it is read, the rest
// is written, everything is written once the cache has gone cold. Need: of what later calls used and had been shown before, how
// much stands in the request. Sizes are estimates, the same for all three.
// `npm run bench -- fit-corpus [--corpus FOLDER] [--every N] [--window TOKENS] [--wires a,b] [--json]`
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { corpusOr } from '../test/shared-data.ts'
import { wires } from '../test/fit/lists.ts'
import { played, ways, type Bill, type Way } from './fit-playing.ts'

const { values } = parseArgs({
  options: {
    corpus: { type: 'string' },
    every: { type: 'string', default: '5' },
    window: { type: 'string', default: '200000' },
    wires: { type: 'string', default: wires.join(',') },
    json: { type: 'boolean', default: false },
  },
})
const window = Number(values.window)
const folder = corpusOr(values.corpus)
const files = readdirSync(folder)
  .filter((name) => name.endsWith('.jsonl.gz'))
  .toSorted()
  .filter((_, at) => at % Number(values.every) === 0)
  .map((name) => join(folder, name))
const tables: Record<string, Record<Way, Bill>> = {}
for (const wire of wires.filter((name) => values.wires.split(',').includes(name)))
  tables[wire] = await played(wire, files, { window, onSession: () => process.stderr.write('.') })

if (values.json) console.log(JSON.stringify(tables, null, 2))
else {
  console.log(
    `${files.length} recorded sessions, window of ${window} tokens; cost of the prompts, cache of five minutes`,
  )
  console.log(
    'wire               way         requests  refused  above window  compactions   read M  written M      cost   need in sight',
  )
  for (const [wire, bills] of Object.entries(tables))
    for (const way of ways) {
      const bill = bills[way]
      const number = (value: number, width: number): string => String(value).padStart(width)
      console.log(
        `${wire.padEnd(18)} ${way.padEnd(11)} ${number(bill.requests, 8)} ${number(bill.refused, 8)} ${number(bill.tooLarge, 13)} ${number(bill.compactions, 12)} ${(bill.read / 1e6).toFixed(1).padStart(8)} ${(bill.written / 1e6).toFixed(1).padStart(10)} ${`$${bill.cost.toFixed(2)}`.padStart(9)} ${((100 * bill.inSight) / Math.max(1, bill.needed)).toFixed(1).padStart(14)}%`,
      )
    }
}
