// Whether a shell command may run. Deny beats ask beats allow, and both of the first see every command in it, however it
// is wrapped; allowing needs every step to be named by a rule or to be among those that only look.
import { isAbsolute, join } from 'node:path'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { repositoryOf, type Repository, type RepositoryFound } from '../git/repository.ts'
import { keysDoubt } from './keys.ts'
import { mentions, type Mention } from './named-paths.ts'
import { lookAt, matching, readDoubt, realPlace, type Finding, type Place, rememberingFs } from './place.ts'
import { type PlacedRule, pathKind, type Rule, type RulesByList } from './rule.ts'
import { analyse, type Analysis, type Leaf } from './shell/analyse.ts'
import type { Fit } from './shell/grammar.ts'
import { compileCommand, type CommandPattern } from './shell/pattern.ts'
import { gitFolder, readOnly, readsThrough } from './shell/read-only-commands.ts'
import type { KnownWord } from './shell/word.ts'
import type { ReadOnlyRun } from '../tool.ts'
import { allowed, asked, denied, type Verdict } from './pipeline.ts'

export interface CommandRules extends RulesByList {
  /** Rules of the file tools that deny or ask: what they keep no command shows or changes unasked. */
  readonly paths?: readonly PlacedRule[] | undefined
}

/** A command as it is judged: read once, with what it has to do with the paths of rules. */
export interface CommandCase {
  readonly text: string
  readonly found: Analysis
  readonly mentions: readonly Mention[]
  /** The disk as it was when it was first looked at. */
  readonly fs: FileSystem
}

export async function readCommand(
  command: string,
  { paths = [] }: CommandRules,
  place: Place,
): Promise<CommandCase> {
  const found = analyse(command)
  const text = command.trim()
  const fs = rememberingFs(place.fs)
  const named = found.isTooMuch ? [] : await mentions(command, found, paths, { ...place, fs })
  return { text, found, mentions: named, fs }
}

/** Every stage in its order, for one who asks about a command alone. */
export async function judgeCommand(command: string, rules: CommandRules, place: Place): Promise<Verdict> {
  const it = await readCommand(command, rules, place)
  return (
    deniedCommand(it, rules) ??
    tooMuch(it) ??
    (await askedCommand(it, rules)) ??
    (await allowedCommand(it, rules, place)) ??
    (await readOnlyCommand(it, place)) ??
    (await doubtfulCommand(it, rules, place))
  )
}

export function deniedCommand(
  { text, found, mentions: all }: CommandCase,
  rules: CommandRules,
): Verdict | null {
  const caught = catching(rules.deny, text, found)
  if (caught !== undefined) return denied(`the rule ${caught.text} forbids it`, 'rule', { rule: caught })
  const named = all.find(
    ({ placed: { rule }, how }) => how === 'named' && rule.list === 'deny' && pathKind(rule.tool) === 'Read',
  )
  if (named === undefined) return null
  const { rule } = named.placed
  return denied(`it names ${named.path}, and the rule ${rule.text} forbids reading that`, 'rule', { rule })
}

export const tooMuch = ({ found }: CommandCase): Verdict | null =>
  found.isTooMuch
    ? denied('it has more parts than can be checked; split it into smaller commands', 'nature')
    : null

export async function askedCommand(
  { text, found, mentions: all }: CommandCase,
  rules: CommandRules,
): Promise<Verdict | null> {
  const stopped = catching(rules.ask, text, found)
  if (stopped !== undefined)
    return asked(`the rule ${stopped.text} requires approval`, { by: 'rule', rule: stopped })
  // What was allowed by its very words was seen whole by the one who allowed it.
  if (rules.allow.some((rule) => patternOf(rule)?.text === text)) return null
  const offers = wholeRule(text)
  const isReadOnly = (): boolean => found.doubts.length === 0 && found.steps.every(stepLooks)
  const reached = all.find(({ placed: { rule } }) => pathKind(rule.tool) === 'Read' || !isReadOnly())
  if (reached !== undefined) {
    const { rule } = reached.placed
    const why = `it may reach files that the rule ${rule.text} keeps (${reached.path})`
    return asked(why, { by: 'rule', rule, offers })
  }
  // What is not known cannot be compared with what is forbidden.
  const closed = rules.deny.length + rules.ask.length + (rules.paths ?? []).length
  return found.isBlind && closed > 0
    ? asked(`it cannot be compared with the rules that forbid: ${doubtsOf(found)}`, { by: 'rule', offers })
    : null
}

const stepLooks = (step: Leaf): boolean => step.doubt === null && readOnly(known(step)).ok

export async function allowedCommand(
  { text, found, fs }: CommandCase,
  rules: CommandRules,
  place: Place,
): Promise<Verdict | null> {
  const rule =
    rules.allow.find((one) => patternOf(one)?.text === text) ?? rules.allow.find(({ what }) => what === null)
  if (rule !== undefined) return allowed(`the rule ${rule.text} allows it`, 'rule', { rule })
  if (found.doubts.length > 0 || rules.allow.length === 0) return null
  const verdict = await judgeSteps(found.steps, rules, { ...place, fs }, [])
  return verdict.kind === 'allow' && verdict.by === 'rule' ? verdict : null
}

/** Whether a command is read-only, whatever the rules say. */
export async function readOnlyCommand({ found, fs }: CommandCase, place: Place): Promise<Verdict | null> {
  if (found.doubts.length > 0 || found.isTooMuch) return null
  const verdict = await judgeSteps(found.steps, { allow: [], ask: [], deny: [] }, { ...place, fs }, [])
  return verdict.kind === 'allow' ? verdict : null
}

export async function doubtfulCommand(
  { text, found, fs }: CommandCase,
  rules: CommandRules,
  place: Place,
): Promise<Verdict> {
  const offers = wholeRule(text)
  return found.doubts.length > 0
    ? asked(doubtsOf(found), { offers })
    : judgeSteps(found.steps, rules, { ...place, fs }, offers)
}

async function judgeSteps(
  steps: readonly Leaf[],
  rules: CommandRules,
  place: Place,
  whole: readonly string[],
): Promise<Verdict> {
  const memory: Memory = { repositories: new Map(), findings: new Map() }
  // All at once: one after the other, waiting for the disk is most of what judging takes.
  const judged = await Promise.all(
    steps.map(async (step) => {
      const rule =
        step.doubt === null
          ? rules.allow.find((rule) => patternOf(rule)?.allows(known(step)) === true)
          : undefined
      const looked: Looked =
        rule === undefined
          ? await stepDoubt(step, place, memory)
          : { doubt: (await folderDoubt(step, place)) ?? (await inputDoubt(step, rule, place)), git: null }
      return { step, rule, ...looked }
    }),
  )
  const doubts: string[] = []
  const offers = new Set<string>()
  const repositories: Repositories = new Map()
  const parts = new Set<string>()
  const used = judged.find(({ rule }) => rule !== undefined)?.rule
  for (const { step, rule, doubt, git } of judged) {
    if (rule === undefined) for (const { value } of known(step)) parts.add(value)
    if (git !== null) repositories.set(git.repository?.gitFolder ?? '', git.repository)
    if (doubt === null) continue
    doubts.push(doubt)
    // Only a step that a rule of its own would settle is offered one.
    const isSettled = step.doubt === null && rule === undefined && known(step)[0]?.value !== 'cd'
    const isElsewhere = (await folderDoubt(step, place)) ?? (await inputDoubt(step, null, place))
    offers.add(isSettled && isElsewhere === null ? `Bash(${ruleText(step)})` : whole[0]!)
  }
  if (doubts.length > 0) {
    const several = offers.has(whole[0]!) ? whole : [...offers]
    return asked([...new Set(doubts)].join('; '), { offers: several })
  }
  const mixed = mixedDoubt(repositories, used)
  if (mixed !== null) return asked(mixed, { offers: whole })
  return used === undefined
    ? allowed('it is read-only', 'nature', { looks: true, readOnly: readOnlyRun(repositories, place) })
    : allowed(`the rule ${used.text} allows it`, 'rule', {
        rule: used,
        readOnly: parts.size === 0 ? undefined : { project: [place.root, place.cwd], parts: [...parts] },
      })
}

/** What was asked of the disk already: the steps of a line name the same places again and again. */
interface Memory {
  /** By the folder of the step and the folder it names. */
  readonly repositories: Map<string, Promise<RepositoryFound>>
  /** By the folder of the step and the path as it is written. */
  readonly findings: Map<string, Promise<Finding>>
}

function remembered<T>(
  memory: Map<string, Promise<T>>,
  base: string,
  path: string,
  ask: () => Promise<T>,
): Promise<T> {
  const key = `${base}\0${path}`
  const known = memory.get(key)
  if (known !== undefined) return known
  const answer = ask()
  memory.set(key, answer)
  return answer
}

/** The repositories that git looks at without a rule, by the folder of each; null where there is none. */
type Repositories = Map<string, Repository | null>

const readOnlyRun = (repositories: Repositories, { root, cwd }: Place): ReadOnlyRun => {
  const [repository] = repositories.values()
  return { project: [root, cwd], git: repository === undefined ? undefined : { repository } }
}

/** Git runs unasked in an environment made for one repository and for nothing else. */
function mixedDoubt(repositories: Repositories, rule: Rule | undefined): string | null {
  if (repositories.size > 1) return 'git would read several repositories; use one at a time'
  return repositories.size === 0 || rule === undefined
    ? null
    : `git runs unasked only without the repository's own configuration, which what the rule ${rule.text} allows may need; run it by itself`
}

const known = (step: Leaf): readonly KnownWord[] => step.words.filter((word) => word !== null)

/** The rule that names a whole command; none where a star in it would let others run that nobody saw. */
const wholeRule = (text: string): readonly string[] => (compileCommand(text).isOne ? [`Bash(${text})`] : [])

/** A rule that names exactly this step: a star in it would mean more than what was seen. */
const ruleText = (step: Leaf): string =>
  known(step)
    .map(({ text, value, isGlob }) =>
      isGlob || /[*:]/.test(value) ? `'${value.replaceAll("'", `'\\''`)}'` : text,
    )
    .join(' ')

async function stepDoubt(step: Leaf, place: Place, memory: Memory): Promise<Looked> {
  if (step.doubt !== null) return unclear(step.doubt)
  const words = known(step)
  const moves = words[0]?.value === 'cd'
  const fit: Fit = moves ? { ok: true, paths: [] } : readOnly(words)
  if (!fit.ok) return unclear(fit.why)
  const cwd = await folderDoubt(step, place)
  if (cwd !== null) return unclear(cwd)
  const base = folderOf(step, place)
  const named = [...fit.paths, ...step.inputs, ...(moves ? [words[1]?.value ?? '~'] : [])]
  if (named.length > defaults.permission.namedFiles) return unclear('it names more files than can be checked')
  for (const path of named) {
    const files = await matching(place, base, path)
    if (files === null) return unclear(`${path} matches more files than can be checked`)
    if (/^[*?[]/.test(path) && files.some((file) => file.startsWith('-')))
      return unclear(`${path} matches a file that is named like an option`)
    for (const file of new Set([path, ...files])) {
      const finding = await remembered(memory.findings, base, file, () => lookAt(place, base, file))
      const doubt = readDoubt(finding) ?? (await folderPairDoubt(words, finding.real, place))
      if (doubt !== null) return unclear(doubt)
    }
  }
  const through = readsThrough(words)
  const { files = [] } = fit
  for (const folder of through === null ? [] : files.length === 0 ? ['.'] : files) {
    const keys = through === null ? null : await keysDoubt(place, base, folder, through)
    if (keys !== null) return unclear(keys)
  }
  const git = gitFolder(words)
  if (git === null) return { doubt: null, git: null }
  const found = await remembered(memory.repositories, base, git, async () =>
    repositoryOf(place.fs, place.root, await realPlace(place, base, git)),
  )
  return found.ok ? { doubt: null, git: found } : unclear(found.why)
}

interface Looked {
  readonly doubt: string | null
  /** The repository that git would look at, when it would look at all. */
  readonly git: { readonly repository: Repository | null } | null
}

const unclear = (doubt: string): Looked => ({ doubt, git: null })

/** Of a folder diff shows every file, hidden ones and links to other places too. */
async function folderPairDoubt(
  words: readonly KnownWord[],
  real: string,
  { fs }: Place,
): Promise<string | null> {
  if (!/^(?:\/(?:usr\/)?bin\/)?diff$/.test(words[0]?.value ?? '')) return null
  const found = await attempt('looking', () => fs.stat(real))
  return found.ok && found.kind === 'folder' ? `diff would show any file of ${real}` : null
}

const folderOf = (step: Leaf, place: Place): string =>
  isAbsolute(step.cwd) ? step.cwd : join(place.cwd, step.cwd)

/** A step that runs elsewhere: only where the shell and we agree about the place, and inside the project. */
async function folderDoubt(step: Leaf, place: Place): Promise<string | null> {
  if (step.cwd === '.') return null
  const folder = folderOf(step, place)
  const finding = await lookAt(place, place.cwd, folder)
  if (finding.real !== folder) return 'it follows a link to another folder'
  return readDoubt(finding)
}

/** A file that is read in behind words that a rule names: the rule says nothing of it, unless it lets it stand as a word too. */
async function inputDoubt(step: Leaf, rule: Rule | null, place: Place): Promise<string | null> {
  for (const path of step.inputs) {
    const word = { value: path, text: path, isGlob: false, isBare: false }
    if (rule !== null && patternOf(rule)?.allows([...known(step), word]) === true) continue
    const doubt = readDoubt(await lookAt(place, folderOf(step, place), path))
    if (doubt !== null) return doubt
  }
  return null
}

const doubtsOf = ({ doubts, unknowns, isBlind }: Analysis): string => {
  const all = [...(isBlind ? unknowns : []), ...doubts]
  if (all.length > 0) return all.join('; ')
  return isBlind ? 'one of its arguments is only known when it runs' : 'it cannot be parsed'
}

/** The first rule that speaks of anything in the command. */
function catching(rules: readonly Rule[], text: string, found: Analysis): Rule | undefined {
  return rules.find((rule) => {
    const pattern = patternOf(rule)
    return pattern === null || pattern.text === text || found.readings.some((words) => pattern.catches(words))
  })
}

const patterns = new WeakMap<Rule, CommandPattern>()

/** What of Bash a rule means, read once; null: all of it. */
function patternOf(rule: Rule): CommandPattern | null {
  if (rule.what === null) return null
  const pattern = patterns.get(rule) ?? compileCommand(rule.what)
  patterns.set(rule, pattern)
  return pattern
}
