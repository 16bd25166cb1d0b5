// What `pal` says first to somebody without a key whose home has sessions of other agents: what the last month cost, what its
// cache breaks cost, what each compaction lost, and which commands help. Nothing is written and nothing leaves.
import { firstLook, type FirstLook, type SeenCompaction } from '../../../companion/first-look.ts'
import { tableOf } from '../../../preset.ts'
import { defaults } from '../../../settings/defaults.ts'
import { shortId } from '../../session-lookup.ts'
import type { Io } from '../../terminal/io.ts'
import { safeLine } from '../../terminal/safe-text.ts'
import { dollars, moment, prose, table, whole } from '../../terminal/tables.ts'
import type { Workplace } from '../../workplace/workplace.ts'

/** Says it where there is something to say. */
export async function sayFirstLook(io: Io, { settings }: Pick<Workplace, 'settings'>): Promise<void> {
  const { now } = Date
  let shown = now()
  const look = await firstLook(io, {
    models: tableOf(settings),
    now,
    onProgress: (read, found) => {
      if (!io.errIsTerminal || now() - shown < progressMs) return
      shown = now()
      io.err(`\r\u001B[Kread ${read} of ${found} session files`)
    },
  })
  if (io.errIsTerminal) io.err('\r\u001B[K')
  if (look !== null && look.usage.total.requests + look.compactions.length > 0)
    io.out(prose(textOf(look, io.columns), io.columns))
}
const progressMs = 1000

function textOf(look: FirstLook, room: number): string {
  const { usage, compactions, programs, read, found, tookMs } = look
  const { total, spending } = usage
  const broken = spending.rewritten + spending.coldReturns
  const left =
    found > read ? ` The newest ${whole(read)} of ${whole(found)} files were read; pal usage reads all.` : ''
  return [
    `Your last ${defaults.companion.lookDays} days with ${programs.map((name) => safeLine(name)).join(', ')}: ${whole(total.requests)} requests in ${whole(read)} session files, read in ${(tookMs / 1000).toFixed(1)} s. Nothing was written or sent.${left}\n\n`,
    `  cost           ${dollars(total.dollars)} at API prices${total.unpriced > 0 ? `, ${whole(total.unpriced)} requests without a known price not counted` : ''}\n`,
    `  cache breaks   ${dollars(broken)} of it, sent again ${whole(spending.breaks)} times\n`,
    compactionText(compactions, room),
    '\nWhat helps:\n',
    '  pal usage             where the money went, and each cache break\n',
    '  pal companion audit   what a compaction lost, in your own words; pal companion install puts it back\n',
    '  pal gateway           an address for your agent: what it sends, what that costs, and less of it\n\n',
  ].join('')
}

function compactionText(compactions: readonly SeenCompaction[], room: number): string {
  if (compactions.length === 0) return '  compactions    none\n'
  const read = compactions.filter(({ audit }) => audit.summaryTokens !== null)
  const sealed = compactions.length - read.length
  const sum = (of: (one: SeenCompaction) => number): number => read.reduce((all, one) => all + of(one), 0)
  const found = sum(({ audit }) => audit.messages.found)
  const kept = sum(({ audit }) => audit.messages.kept)
  const head = `  compactions    ${whole(compactions.length)}${read.length === 0 ? '' : `; of ${whole(found)} messages of yours before them ${whole(kept)} stayed in sight whole`}${sealed === 0 ? '' : `; ${whole(sealed)} with a sealed summary that nobody can read`}\n`
  if (read.length === 0) return head
  const rows = read
    .slice(0, mostShown)
    .map(({ program, session, audit }) => [
      audit.at === null ? 'unknown time' : moment(audit.at),
      `${program} ${safeLine(shortId(session))}`,
      `${audit.messages.found - audit.messages.kept} of ${audit.messages.found}`,
      `${audit.rules.found - audit.rules.kept} of ${audit.rules.found}`,
    ])
  const more = read.length > mostShown ? `and ${whole(read.length - mostShown)} earlier\n` : ''
  return `${head}\n${table([{ title: 'compaction' }, { title: 'session', wraps: true, drop: 1 }, { title: 'messages lost', right: true }, { title: 'rules lost', right: true }], rows, room)}${more}`
}
const mostShown = 6
