// `pal companion audit`: what the compactions of a session of another program kept, lost, and what would be put back. Only looks.
import { auditSession, type CompactionAudit, type SessionAudit } from '../../../companion/audit.ts'
import { findSessionFile } from '../../../companion/find-session.ts'
import { complain, exits, refuse, type Exit } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { safeJson, safeLine } from '../../terminal/safe-text.ts'
import { shortPath } from '../../terminal/short-path.ts'
import { counted, moment, prose, table, whole } from '../../terminal/tables.ts'

export interface AuditFlags {
  readonly json?: boolean | undefined
}

const version = 1

export async function companionAudit(io: Io, named: string | undefined, flags: AuditFlags): Promise<Exit> {
  const found = await findSessionFile(io, named)
  if (!found.ok) return complain(io, refuse(exits.session, found.why))
  const path = shortPath(found.path, io.userHome)
  if (found.isElsewhere)
    io.err(`pal: no session was held in this folder; this is the newest of all: ${safeLine(path)}\n`)
  const read = await auditSession(found.path)
  if (!read.ok) return complain(io, refuse(exits.failed, read.failure.message))
  if (flags.json === true) io.out(`${safeJson({ version, path: found.path, ...read.audit }, 2)}\n`)
  else io.out(prose(textOf(read.audit, path, io.columns), io.columns))
  return exits.done
}

function textOf(audit: SessionAudit, path: string, room: number): string {
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
        { title: 'compaction' },
        { title: 'summary', right: true, drop: 2 },
        { title: 'your messages whole', right: true },
        { title: 'your rules', right: true, drop: 1 },
        { title: 'with the block', right: true },
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
