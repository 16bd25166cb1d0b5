// Prints what a text with days means at a moment, in the zone of the environment.
import { absoluteDates } from '../../src/memory/format/dates.ts'
import { localDay } from '../../src/memory/format/day.ts'

const at = Number(process.argv[2])
process.stdout.write(
  JSON.stringify([localDay(at), absoluteDates('due tomorrow, said yesterday, or next Friday', at).text]),
)
