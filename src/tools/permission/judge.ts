// Decides about calls: by rules, by mode, and by what the call is. Law: deny beats ask beats allow, whoever wrote them;
// a mode never lifts a rule that denies, and only `bypass` lifts the question about what is not known to be harmless.
import { pathKind, isAbout, isAboutHost, isAboutPath, type Rule } from './rule.ts'
import { lookAt, readDoubt, type Place } from './place.ts'
import { allowed, asked, denied, type PermissionMode, type Verdict } from './verdict.ts'

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
  /** The tool says of itself that it only looks. Believed of our own tools, not of a server's. */
  readonly readOnly: boolean
}

export async function judge(
  call: Judged,
  rules: readonly Rule[],
  mode: PermissionMode,
  place: Place,
): Promise<Verdict> {
  const about = rules.filter((rule) => isAbout(rule, call.tool))
  const sorted = {
    allow: about.filter(({ list }) => list === 'allow'),
    ask: about.filter(({ list }) => list === 'ask'),
    deny: about.filter(({ list }) => list === 'deny'),
  }
  const verdict = await byNature(call, sorted, mode, place)
  if (mode !== 'plan' || verdict.kind !== 'allow' || verdict.by !== 'rule')
    return underMode(call, verdict, mode)
  // A rule that allows more than looking forbids no looking.
  const bare = await byNature(call, { ...sorted, allow: [] }, mode, place)
  return underMode(call, { ...verdict, looks: bare.kind === 'allow' && bare.looks }, mode)
}

interface Sorted {
  readonly allow: readonly Rule[]
  readonly ask: readonly Rule[]
  readonly deny: readonly Rule[]
}

async function byNature(call: Judged, rules: Sorted, mode: PermissionMode, place: Place): Promise<Verdict> {
  const { tool, input } = call
  if (tool === 'Bash') {
    // The reader of shell syntax is large: whoever runs no command does not load it.
    const { judgeCommand } = await import('./judge-command.ts')
    return judgeCommand(textIn(input, 'command'), rules, place)
  }
  if (tool === 'WebFetch') return judgeAddress(textIn(input, 'url'), rules)
  const kind = pathKind(tool)
  if (kind === 'Read') return judgeRead(textIn(input, tool === 'Read' ? 'file_path' : 'path'), rules, place)
  if (kind === 'Edit') return judgeEdit(textIn(input, 'file_path'), rules, mode, place)
  return judgeName(call, rules)
}

const textIn = (input: Judged['input'], key: string): string => {
  const value = input[key]
  return typeof value === 'string' ? value : ''
}

function underMode(call: Judged, verdict: Verdict, mode: PermissionMode): Verdict {
  const changes = !verdict.looks && pathKind(call.tool) !== 'Read'
  if (mode === 'plan' && changes && verdict.kind !== 'deny')
    return denied('the mode is plan: nothing is changed until the user ends it', 'mode')
  // A question that a rule wants is asked in any mode.
  if (mode === 'bypass' && verdict.kind === 'ask' && verdict.by !== 'rule')
    return { ...verdict, kind: 'allow', by: 'mode' }
  return verdict
}

/** The first rule of a list that holds, in the order of their strength. */
function byRule(
  rules: Sorted,
  holds: (rule: Rule) => boolean,
  offers: readonly string[],
  subject: string,
): Verdict | null {
  const deny = rules.deny.find((rule) => rule.what === null || holds(rule))
  if (deny !== undefined) return denied(`the rule ${deny.text} forbids ${subject}`, 'rule', { rule: deny })
  const ask = rules.ask.find((rule) => rule.what === null || holds(rule))
  if (ask !== undefined)
    return asked(`the rule ${ask.text} wants ${subject} asked`, { by: 'rule', rule: ask, offers: [] })
  const allow = rules.allow.find(holds)
  return allow === undefined
    ? null
    : allowed(`the rule ${allow.text} allows ${subject}`, 'rule', { rule: allow, offers })
}

async function judgeRead(path: string, rules: Sorted, place: Place): Promise<Verdict> {
  const finding = await lookAt(place, place.cwd, path === '' ? '.' : path)
  const offers = [`Read(${finding.real})`]
  const reads = [finding.real]
  const ruled = byRule(
    rules,
    (rule) => isAboutPath(rule, finding.real, place),
    offers,
    `reading ${finding.real}`,
  )
  if (ruled !== null) return { ...ruled, looks: true, reads }
  const doubt = readDoubt(finding)
  return doubt === null
    ? allowed('it only looks, inside the project', 'nature', { looks: true })
    : asked(doubt, { looks: true, offers, reads })
}

async function judgeEdit(path: string, rules: Sorted, mode: PermissionMode, place: Place): Promise<Verdict> {
  const finding = await lookAt(place, place.cwd, path)
  const { real } = finding
  if (finding.unwritable !== null || finding.isMachine)
    return denied(
      `${real} is protected${finding.unwritable === null ? '' : ` (${finding.unwritable})`}: no tool writes it, the user can`,
      'nature',
    )
  const inProject = real.startsWith(`${place.root}/`)
  const offers = [`Edit(${inProject ? real.slice(place.root.length + 1) : real})`]
  const writes = [real]
  const ruled = byRule(rules, (rule) => isAboutPath(rule, real, place), offers, `changing ${real}`)
  if (ruled !== null) return { ...ruled, writes }
  if (!finding.isInside) return asked(`${real} lies outside the project`, { offers, writes })
  const whole = rules.allow.find(({ what }) => what === null)
  if (whole !== undefined) return allowed(`the rule ${whole.text} allows it`, 'rule', { rule: whole })
  if (mode === 'acceptEdits') return allowed('the mode is acceptEdits', 'mode')
  return asked(`it changes ${real}`, { offers, writes })
}

function judgeAddress(url: string, rules: Sorted): Verdict {
  const host = hostOf(url)
  if (host === null) return denied('the address has no host that can be judged', 'nature')
  const offers = [`WebFetch(domain:${host})`]
  return (
    byRule(rules, (rule) => isAboutHost(rule, host), offers, host) ??
    asked(`it connects to ${host}`, { offers })
  )
}

/** Hosts as they are compared; odd ones (a NUL, a blank, a percent sign) are none (TRUST A26). */
function hostOf(url: string): string | null {
  if (!URL.canParse(url)) return null
  const { hostname } = new URL(url)
  return /^[a-z0-9.-]+$|^\[[0-9a-f:.]+\]$/.test(hostname) ? hostname.replace(/\.$/, '') : null
}

function judgeName({ tool, readOnly }: Judged, rules: Sorted): Verdict {
  const ruled = byRule(rules, () => true, [tool], tool)
  if (ruled !== null) return ruled
  const isServers = tool.startsWith('mcp__')
  if (!isServers && (safeTools.includes(tool) || readOnly))
    return allowed('it changes nothing outside the session', 'nature', { looks: true })
  return asked(
    isServers ? 'it is the tool of a server, which may do anything' : `${tool} may change things`,
    {
      offers: [tool],
    },
  )
}
