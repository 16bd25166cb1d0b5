// Two processes that exchange messages while one of them is killed a second after the last kill, in turn:
// `node scripts/run-ts.mjs bench/mail.ts [--json] [--messages N]`. Counted from the transcripts of both.
import { exchange } from '../test/agents/exchange.ts'

const at = process.argv.indexOf('--messages')
const messages = at === -1 ? 10_000 : Number(process.argv[at + 1])
const killEveryMs = 1000

const { kills, ms, sides, notices } = await exchange(
  messages / 2,
  killEveryMs,
  '../test/agents/mail-child.ts',
)
const acted = sides.reduce((sum, side) => sum + side.acted, 0)
const row = {
  messages,
  acted,
  lost: sides.reduce((sum, side) => sum + side.lost, 0),
  twice: sides.reduce((sum, side) => sum + side.twice, 0),
  inOrder: sides.every((side) => side.inOrder),
  kills,
  setAside: notices.length,
  seconds: ms / 1000,
  perSecond: acted / (ms / 1000),
}
if (process.argv.includes('--json')) console.log(JSON.stringify(row, null, 2))
else
  console.log(
    `${row.messages} messages, ${row.kills} kills in ${row.seconds.toFixed(1)} s: ${row.lost} lost, ${row.twice} acted on twice, ${row.setAside} set aside, ${row.inOrder ? 'in order' : 'OUT OF ORDER'}; ${row.perSecond.toFixed(0)} messages a second`,
  )
if (row.lost + row.twice + row.setAside > 0 || !row.inOrder) process.exit(1)
