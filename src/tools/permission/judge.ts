// Decides about calls: by rules, by mode, and by what the call is, one judge after the other. Law: deny beats ask beats
// allow, whoever wrote them; a mode never lifts a rule that denies, and only `bypass` lifts the question about what is
// not known to be harmless.
import type { ToolUseBlock } from '../../transcript/content.ts'
import type { CommandCase } from './judge-command.ts'
import { lookAt, readDoubt, type Finding, type Place } from './place.ts'
import {
  writtenPath,
  type NamedFile,
  type PlacedRule,
  isAbout,
  isAboutHost,
  pathKind,
  type Rule,
  type RulesByList,
  ruleForFile,
} from './rule.ts'
import { allowed, asked, denied, type PermissionMode, type Verdict } from './pipeline.ts'

/** What looks and remembers, and changes nothing outside the session. */
export const safeTools: readonly string[] = [
  'Read',
  'Grep',
  'Glob',
  'Expand',
  'SearchMemory',
  'TaskList',
  'Jobs',
  'Snip',
  'Plan',
  'Skill',
  'McpFind',
  'Agent',
  'Agents',
  'SendMessage',
]

export interface Judged {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
  /** The tool says of itself that it is read-only. Believed of our own tools, not of a server's. */
  readonly readOnly: boolean
}

export interface CaseContext {
  readonly rules: readonly Rule[]
  /** Those of the rules that name paths, as they stand on the disk. */
  readonly placed: readonly PlacedRule[]
  readonly mode: PermissionMode
  readonly place: Place
  /** Why a call needs nobody's leave, or null. */
  readonly open?:
    | ((call: Pick<ToolUseBlock, 'name' | 'input'>) => string | null | Promise<string | null>)
    | undefined
}

/** What is judged, found out once: the command as it is read, the file as it lies, the host. */
type Subject =
  | { readonly kind: 'command'; readonly command: CommandCase }
  | { readonly kind: 'read' | 'edit'; readonly finding: Finding; readonly file: NamedFile }
  | { readonly kind: 'address'; readonly host: string | null }
  | { readonly kind: 'other' }

export interface Case extends CaseContext {
  readonly call: Judged
  readonly about: RulesByList
  readonly subject: Subject
}

export async function openCase(call: Judged, context: CaseContext): Promise<Case> {
  const rules = context.rules.filter((rule) => isAbout(rule, call.tool))
  const about = {
    allow: rules.filter(({ list }) => list === 'allow'),
    ask: rules.filter(({ list }) => list === 'ask'),
    deny: rules.filter(({ list }) => list === 'deny'),
  }
  return { ...context, call, about, subject: await subjectOf(call, about, context) }
}

async function subjectOf(
  { tool, input }: Judged,
  about: RulesByList,
  { placed, place }: CaseContext,
): Promise<Subject> {
  if (tool === 'Bash') {
    const { readCommand } = await commands()
    const rules = { ...about, paths: closing(placed) }
    return { kind: 'command', command: await readCommand(textIn(input, 'command'), rules, place) }
  }
  if (tool === 'WebFetch') return { kind: 'address', host: hostOf(textIn(input, 'url')) }
  const kind = pathKind(tool)
  if (kind === null) return { kind: 'other' }
  const path = textIn(input, tool === 'Grep' || tool === 'Glob' ? 'path' : 'file_path')
  const named = kind === 'Read' && path === '' ? '.' : path
  // As the tools do: `..` takes back the name before it, also where that is a link.
  const written = writtenPath(place, place.cwd, named)
  const finding = await lookAt(place, place.cwd, written)
  const file = { written, real: finding.real }
  return { kind: kind === 'Read' ? 'read' : 'edit', finding, file }
}

/** The reader of shell syntax is large: whoever runs no command does not load it. */
const commands = () => import('./judge-command.ts')
const closing = (placed: readonly PlacedRule[]): readonly PlacedRule[] =>
  placed.filter(({ rule }) => rule.list !== 'allow')

const textIn = (input: Judged['input'], key: string): string => {
  const value = input[key]
  return typeof value === 'string' ? value : ''
}

/** One of the judges: a verdict, or why it has none. */
export interface CaseJudge {
  readonly name: string
  readonly judge: (it: Case) => Promise<Verdict | string>
}

export const caseJudges: readonly CaseJudge[] = [
  { name: 'deny rules', judge: denyRules },
  { name: 'plan mode', judge: planMode },
  { name: 'memory', judge: openFolders },
  { name: 'protected', judge: protectedNames },
  { name: 'ask rules', judge: askRules },
  { name: 'allow rules', judge: allowRules },
  { name: 'read-only', judge: readOnlyCalls },
  { name: 'mode', judge: byMode },
  { name: 'question', judge: question },
]

/** The verdict of the first that has one; the last has always one. */
export async function judge(call: Judged, context: CaseContext): Promise<Verdict> {
  const it = await openCase(call, context)
  for (const one of caseJudges) {
    const verdict = await one.judge(it)
    if (typeof verdict !== 'string') return verdict
  }
  return denied('nothing decided about it', 'nature')
}

/** Whether a rule speaks of what is judged, beyond naming the whole tool. */
function holdsFor({ subject, placed }: Case, rule: Rule): boolean {
  if (subject.kind === 'address') return subject.host !== null && isAboutHost(rule, subject.host)
  if (subject.kind === 'other') return true
  if (subject.kind === 'command') return false
  return placed.some((one) => one.rule === rule && one.isAbout(subject.file))
}

const sayNo = (count: number, list: string): string =>
  count === 0 ? `there is no ${list} rule for it` : `none of the ${count} ${list} rules matches it`

const targetOf = ({ subject, call }: Case): string =>
  subject.kind === 'read'
    ? `reading ${subject.finding.real}`
    : subject.kind === 'edit'
      ? `changing ${subject.finding.real}`
      : subject.kind === 'address' && subject.host !== null
        ? subject.host
        : call.tool

/** The first rule of a list that speaks of what is judged. */
async function byRules(
  it: Case,
  list: 'deny' | 'ask',
  verdictOf: (rule: Rule) => Verdict,
): Promise<Verdict | string> {
  const { subject, about } = it
  if (subject.kind === 'command') {
    const rules = { ...about, paths: closing(it.placed) }
    const { deniedCommand, askedCommand } = await commands()
    const verdict = (list === 'deny' ? deniedCommand : askedCommand)(subject.command, rules)
    return (await verdict) ?? sayNo(about[list].length + rules.paths.length, list)
  }
  const rule = about[list].find((one) => one.what === null || holdsFor(it, one))
  return rule === undefined ? sayNo(about[list].length, list) : withPaths(it, verdictOf(rule))
}

function denyRules(it: Case): Promise<Verdict | string> {
  const why = (rule: Rule): string => `the rule ${rule.text} forbids ${targetOf(it)}`
  return byRules(it, 'deny', (rule) => denied(why(rule), 'rule', { rule }))
}

async function planMode(it: Case): Promise<Verdict | string> {
  if (it.mode !== 'plan') return `the mode is ${it.mode}`
  return (await isReadOnly(it))
    ? 'the mode is plan, and it is read-only'
    : denied('plan mode is read-only. Call Plan to get approval', 'mode')
}

async function isReadOnly(it: Case): Promise<boolean> {
  const { subject, call, place } = it
  if (subject.kind === 'command')
    return (await (await commands()).readOnlyCommand(subject.command, place)) !== null
  if (subject.kind === 'other')
    return !isServers(call.tool) && (safeTools.includes(call.tool) || call.readOnly)
  return subject.kind === 'read'
}
const isServers = (tool: string): boolean => tool.startsWith('mcp__')

async function openFolders({ open, call }: Case): Promise<Verdict | string> {
  const why = (await open?.({ name: call.tool, input: call.input })) ?? null
  return why === null ? 'it is not about memories' : allowed(why, 'nature', { looks: true })
}

async function protectedNames({ subject }: Case): Promise<Verdict | string> {
  if (subject.kind === 'command')
    return (await commands()).tooMuch(subject.command) ?? 'the command is of a size that can be judged'
  if (subject.kind === 'address')
    return subject.host === null
      ? denied('the address has no host that can be judged', 'nature')
      : 'the address has a host'
  if (subject.kind !== 'edit') return 'it writes no file by name'
  const { real, unwritable, isMachine } = subject.finding
  return unwritable === null && !isMachine
    ? 'the file is not a protected one'
    : denied(
        `${real} is protected${unwritable === null ? '' : ` (${unwritable})`}: no tool writes it, the user can`,
        'nature',
      )
}

function askRules(it: Case): Promise<Verdict | string> {
  const why = (rule: Rule): string => `the rule ${rule.text} requires approval for ${targetOf(it)}`
  return byRules(it, 'ask', (rule) => asked(why(rule), { by: 'rule', rule, offers: [] }))
}

async function allowRules(it: Case): Promise<Verdict | string> {
  const { subject, about, place } = it
  const none = sayNo(about.allow.length, 'allow')
  if (subject.kind === 'command') {
    const { allowedCommand, readOnlyCommand } = await commands()
    // What is read-only needs no rule, and leaves no line about one.
    const verdict = await allowedCommand(subject.command, about, place)
    if (verdict === null) return none
    const bare = await readOnlyCommand(subject.command, place)
    // Where nothing may be changed a rule opens no other way to run it.
    return {
      ...verdict,
      looks: bare !== null,
      readOnly: it.mode === 'plan' ? bare?.readOnly : verdict.readOnly,
    }
  }
  const isProject = subject.kind === 'edit' && subject.finding.isInside
  const rule = about.allow.find((one) => holdsFor(it, one) || (isProject && one.what === null))
  if (rule === undefined) return none
  const verdict = allowed(`the rule ${rule.text} allows ${targetOf(it)}`, 'rule', { rule })
  return withPaths(it, { ...verdict, offers: offersOf(it) })
}

async function readOnlyCalls(it: Case): Promise<Verdict | string> {
  const { subject, place } = it
  if (subject.kind === 'command')
    return (
      (await (await commands()).readOnlyCommand(subject.command, place)) ?? 'it may modify files or run code'
    )
  if (subject.kind === 'read') {
    const doubt = readDoubt(subject.finding)
    return doubt ?? allowed('it is read-only, inside the project', 'nature', { looks: true })
  }
  return (await isReadOnly(it))
    ? allowed('it changes nothing outside the session', 'nature', { looks: true })
    : 'it is not read-only'
}

async function byMode(it: Case): Promise<Verdict | string> {
  const { subject, mode } = it
  if (mode === 'bypass')
    return { ...(await question(it)), kind: 'allow', why: 'the mode is bypass', by: 'mode' }
  if (mode === 'acceptEdits' && subject.kind === 'edit' && subject.finding.isInside)
    return allowed('the mode is acceptEdits', 'mode')
  return `the mode ${mode} does not allow it without asking`
}

async function question(it: Case): Promise<Verdict> {
  const { subject, call, about, place } = it
  if (subject.kind === 'command') return (await commands()).doubtfulCommand(subject.command, about, place)
  return withPaths(it, asked(doubtOf(subject, call.tool), { offers: offersOf(it) }))
}

function doubtOf(subject: Exclude<Subject, { kind: 'command' }>, tool: string): string {
  switch (subject.kind) {
    case 'read':
      return readDoubt(subject.finding) ?? 'it reads a file'
    case 'edit':
      return subject.finding.isInside
        ? `it changes ${subject.finding.real}`
        : `${subject.finding.real} lies outside the project`
    case 'address':
      return `it connects to ${subject.host ?? 'no host'}`
    case 'other':
      return isServers(tool)
        ? 'it is a tool of an MCP server, which may do anything'
        : `${tool} may change things`
  }
}

/** The rules that would let such a call run. */
function offersOf({ subject, call, place }: Case): readonly string[] {
  switch (subject.kind) {
    case 'read':
      return [ruleForFile('Read', subject.finding.real)]
    case 'edit': {
      const { real } = subject.finding
      const isBelow = real.startsWith(`${place.root}/`)
      return [ruleForFile('Edit', isBelow ? real.slice(place.root.length + 1) : real)]
    }
    case 'address':
      return [`WebFetch(domain:${subject.host ?? ''})`]
    default:
      return [call.tool]
  }
}

/** What the path gate must let through if it may run. */
function withPaths({ subject }: Case, verdict: Verdict): Verdict {
  if (subject.kind === 'read') return { ...verdict, looks: true, reads: [subject.finding.real] }
  return subject.kind === 'edit' ? { ...verdict, writes: [subject.finding.real] } : verdict
}

/** Hosts as they are compared; odd ones (a NUL, a blank, a percent sign) are none. */
function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null
  const { hostname } = new URL(url)
  return /^[a-z0-9.-]+$|^\[[0-9a-f:.]+\]$/.test(hostname) ? hostname.replace(/\.$/, '') : null
}
