// What compactions of other programs lost. `pal companion audit`: of one session, with what would be put back. And what `pal`
// says first to somebody without a key whose home has such sessions. Only looks.
import { auditSession, type CompactionAudit, type SessionAudit } from '../../../companion/audit.ts'
import { findSessionFile } from '../../../companion/find-session.ts'
import { firstLook, type FirstLook, type SeenCompaction } from '../../../companion/first-look.ts'
import { tableOf } from '../../../preset.ts'
import { defaults } from '../../../settings/defaults.ts'
import { print, exits, fail, type Exit } from '../../exit-codes.ts'
import { shortId } from '../../session-lookup.ts'
import type { Io } from '../../terminal/io.ts'
import { safeLine } from '../../terminal/safe-text.ts'
import {
  shortPath,
  counted,
  moment,
  prose,
  table,
  whole,
  dollars,
  right,
  wraps,
} from '../../terminal/tables.ts'
import type { Workplace } from '../../workplace/workplace.ts'

export interface AuditFlags {
  readonly json?: boolean | undefined
}

const version = 1

export async function companionAudit(io: Io, named: string | undefined, flags: AuditFlags): Promise<Exit> {
  const found = await findSessionFile(io, named)
  if (!found.ok) return fail(io, exits.session, found.why)
  const path = shortPath(found.path, io.userHome)
  if (found.isElsewhere)
    io.err(`pal: no session was held in this folder; this is the newest of all: ${safeLine(path)}\n`)
  const read = await auditSession(found.path)
  if (!read.ok) return fail(io, exits.failed, read.failure.message)
  return print(io, flags.json, { version, path: found.path, ...read.audit }, () =>
    prose(auditText(read.audit, path, io.columns), io.columns),
  )
}

function auditText(audit: SessionAudit, path: string, room: number): string {
  const { session, client, compactions, skipped, turnsSince } = audit
  const head = `${safeLine(client)}, session ${safeLine(session)}\n${safeLine(path)}\n`
  const notes =
    skipped.length === 0
      ? ''
      : `\n${whole(skipped.length)} lines could not be read, the first is line ${skipped[0]!.line} (${safeLine(skipped[0]!.why)}).\n`
  if (compactions.length === 0) return `${head}\nThis session was not compacted: nothing is lost.\n${notes}`
  return [
    head,
    `\n${table(
      [
        'compaction',
        right('summary', 2),
        right('your messages whole'),
        right('your rules', 1),
        right('with the block'),
      ],
      compactions.map(cells),
      room,
    )}`,
    ...compactions.map(lostText),
    `\n${verdictOf(compactions)}`,
    turnsSince === 0 ? '' : `Since the last compaction: ${counted(turnsSince, 'turn')}.\n`,
    notes,
    'Kept means: the very words stand in the summary or in a message that stayed. "With the block" counts what stands in this file as your words as typed.\n',
  ].join('')
}

const isRead = ({ summaryTokens }: CompactionAudit): boolean => summaryTokens !== null

const cells = (one: CompactionAudit): readonly string[] => [
  `${one.number}${one.at === null ? '' : `, ${moment(one.at)}`}`,
  one.summaryTokens === null ? 'sealed' : `${whole(one.summaryTokens)} tokens`,
  isRead(one) ? `${one.messages.kept} of ${one.messages.found}` : '–',
  isRead(one) ? `${one.rules.kept} of ${one.rules.found}` : '–',
  isRead(one)
    ? `${one.withBlock.messages} of ${one.messages.found} (+${whole(one.withBlock.tokens)} tokens)`
    : `+${whole(one.withBlock.tokens)} tokens`,
]

function lostText(one: CompactionAudit): string {
  if (!isRead(one))
    return `\nCompaction ${one.number}: its summary is encrypted or empty, so what it kept cannot be read. The block would name ${one.withBlock.files} files at work.\n`
  const { paths, names, errors, pending } = one.kinds
  const part = ({ kept, found }: { readonly kept: number; readonly found: number }, what: string): string =>
    found === 0 ? '' : `${kept} of ${found} ${what}`
  const counts = [
    part(paths, 'paths'),
    part(names, 'names'),
    part(errors, 'errors'),
    part(pending, 'open tasks'),
  ]
  const kept = counts.filter((text) => text !== '').join(', ')
  if (one.lost.length === 0)
    return `\nCompaction ${one.number}: nothing you said is out of sight. Also kept: ${kept === '' ? 'nothing else was there' : kept}.\n`
  return `\nCompaction ${one.number} lost, among others (kept: ${kept === '' ? 'nothing else was there' : kept}):\n${one.lost.map((line) => `  ${safeLine(line)}\n`).join('')}`
}

function verdictOf(compactions: readonly CompactionAudit[]): string {
  const read = compactions.filter(isRead)
  const sum = (of: (one: CompactionAudit) => number): number => read.reduce((all, one) => all + of(one), 0)
  if (read.length === 0) return 'None of the summaries can be read: no audit is possible for this program.\n'
  const found = sum(({ messages }) => messages.found)
  const tokens = Math.round(sum(({ withBlock }) => withBlock.tokens) / read.length)
  return `Over ${read.length === 1 ? 'one compaction' : `${read.length} compactions`}: ${sum(({ messages }) => messages.kept)} of ${found} messages of yours stayed in sight whole; a block of ${whole(tokens)} tokens on average would have made it ${sum(({ withBlock }) => withBlock.messages)}.\n`
}

// ---- the first look: what the last month cost, what its cache breaks cost, what each compaction lost, and which commands help.
// Nothing is written and nothing leaves ----

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
    io.out(prose(lookText(look, io.columns), io.columns))
}
const progressMs = 1000

function lookText(look: FirstLook, room: number): string {
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
  return `${head}\n${table(['compaction', wraps('session', 1), right('messages lost'), right('rules lost')], rows, room)}${more}`
}
const mostShown = 6
