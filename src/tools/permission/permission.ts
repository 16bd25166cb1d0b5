// The permission of a running program: the rules in force, the mode, what the person at the screen says, and what of it
// is written down. One question at a time; a question that nobody can answer is a refusal that says how to allow it.
import { redact } from '../../disk/redact.ts'
import type { GivenRule } from '../../settings/rule-list.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'
import type { Fact } from '../../transcript/fact.ts'
import { plannedChange } from '../files/planned-change.ts'
import type { Permit } from '../run.ts'
import type { ShownFile, Tool } from '../tool.ts'
import { caseJudges, judge, openCase, type Case, type CaseContext } from './judge.ts'
import { pass, permitBy, type Judge, type JudgedCall, type PermissionMode, type Verdict } from './pipeline.ts'
import type { Place } from './place.ts'
import {
  subjectOf,
  type Answer,
  type AskUser,
  type KeepRules,
  type KeepScope,
  type Question,
} from './question.ts'
import { ignoresCase, isAboutPath, parseRule, pathKind, placeRules, ruleEverywhere } from './rule.ts'
import type { ParsedRule, PlacedRule, Rule } from './rule.ts'

export interface PermissionOptions extends Place {
  readonly rules: readonly GivenRule[]
  readonly mode: PermissionMode
  /** Left out where nobody can be asked. */
  readonly askUser?: AskUser | undefined
  readonly keep?:
    | { readonly rules: KeepRules; readonly scopes: readonly KeepScope[]; readonly note?: string | undefined }
    | undefined
  /** Why a call needs nobody's leave where no rule and no mode is against it, as a look at memories; else null. */
  readonly open?: CaseContext['open']
}

/** Another place under the same rules, the same mode and the same person. */
export interface PermissionElsewhere extends Partial<Pick<PermissionOptions, 'root' | 'cwd' | 'open'>> {
  /** Nobody is asked: what would be is refused. */
  readonly quiet?: boolean | undefined
}

/** Real paths outside of the usual that a decision let through; the path gate asks. */
export interface Grants {
  mayRead(real: string): boolean
  mayWrite(real: string): boolean
  /** What a rule keeps from being read: a search from above passes it over. */
  isForbidden(real: string): boolean
}

export interface Permission {
  /** Who decides, in their order. */
  readonly judges: readonly Judge[]
  /** What they decide about a call, for one who runs tools without an engine. */
  readonly mayRun: (call: ToolUseBlock, tool: Tool, signal: AbortSignal) => Promise<Permit>
  /** What would be decided, without asking anybody; under the mode in force or another one. */
  judge(
    call: Pick<ToolUseBlock, 'name' | 'input'>,
    readOnly: boolean,
    under?: PermissionMode,
  ): Promise<Verdict>
  readonly grants: Grants
  mode(): PermissionMode
  setMode(mode: PermissionMode): void
  rules(): readonly GivenRule[]
  /** For an agent in a folder of its own, or a job: what is changed here holds there at once. */
  at(place: PermissionElsewhere): Permission
  /** Rules that could not be understood, one sentence each. What was to be denied by one is denied whole. */
  readonly problems: readonly string[]
}

/** What a session, its agents and its jobs have in common. */
interface State {
  readonly rules: Rule[]
  readonly problems: readonly string[]
  mode: PermissionMode
  /** The last question: one at a time. */
  turn: Promise<unknown>
}

/** Decides whether a call may run, by rules, mode and syntax. */
export function createPermission(options: PermissionOptions): Permission {
  const state: State = {
    ...readRules(options.rules, options.home),
    mode: options.mode,
    turn: Promise.resolve(),
  }
  return permissionAt(options, state, () => state.mode)
}

function permissionAt(options: PermissionOptions, state: State, mode: () => PermissionMode): Permission {
  const { rules } = state
  const grants = { read: new Set<string>(), write: new Set<string>() }
  const { context, isForbidden } = contextsOf(options, rules)
  const judged: Permission['judge'] = async (call, readOnly, under = mode()) =>
    judge({ tool: call.name, input: call.input, readOnly }, await context(under))
  const grant = ({ reads = [], writes = [] }: Verdict): void => {
    for (const path of [...reads, ...writes]) grants.read.add(path)
    for (const path of writes) grants.write.add(path)
  }
  const ask = async (
    call: ToolUseBlock,
    verdict: Verdict,
    askUser: AskUser,
    signal: AbortSignal,
  ): Promise<Permit> => {
    const { question, shown } = await questionOf(call, verdict, options)
    const answer = await askUser(question, signal)
    if (answer.kind === 'interrupt') return interruptedBy(call)
    if (signal.aborted) return { ok: false, why: 'The question was not answered.' }
    if (answer.kind === 'no') return refusedBy(call, answer)
    grant(verdict)
    const kept = await keepAnswer(answer, question, options, rules)
    const facts = [fact(call, 'allow', 'user', ruleOf(answer, question))]
    return { ok: true, facts, notice: kept, shown }
  }
  const decide = (call: ToolUseBlock, tool: Tool, verdict: Verdict, signal: AbortSignal): Promise<Permit> => {
    const { askUser } = options
    if (verdict.kind !== 'ask') return Promise.resolve(settled(call, verdict, grant))
    if (askUser === undefined || mode() === 'dontAsk') return Promise.resolve(refused(call, verdict))
    // While one question stands open its answer may settle the next.
    const mine = state.turn.then(async () => {
      const now = await judged(call, tool.policy.readOnly)
      return now.kind === 'ask' ? ask(call, now, askUser, signal) : settled(call, now, grant)
    })
    state.turn = mine.catch(() => {})
    return mine
  }
  const cases = new WeakMap<JudgedCall, Promise<Case>>()
  const caseOf = (it: JudgedCall): Promise<Case> => {
    const { name, input } = it.call
    const opened =
      cases.get(it) ??
      context(mode()).then((now) => openCase({ tool: name, input, readOnly: it.tool.policy.readOnly }, now))
    cases.set(it, opened)
    return opened
  }
  const judges = caseJudges.map((one): Judge => ({
    name: one.name,
    async judge(it) {
      const verdict = await one.judge(await caseOf(it))
      if (typeof verdict === 'string') return pass(verdict)
      const { kind, why, rule } = verdict
      return { kind, why, rule, decide: (signal) => decide(it.call, it.tool, verdict, signal) }
    },
  }))
  return {
    judges,
    mayRun: (call, tool, signal) => permitBy(judges, call, tool, signal),
    judge: judged,
    grants: {
      mayRead: (real) => grants.read.has(real),
      mayWrite: (real) => grants.write.has(real),
      isForbidden: (real) => isForbidden(real) && !grants.read.has(real),
    },
    mode,
    setMode: (next) => {
      state.mode = next
    },
    rules: () => rules,
    at: ({ quiet = false, ...place }) =>
      permissionAt(elsewhere(options, quiet, place), state, quiet ? () => 'dontAsk' : mode),
    problems: state.problems,
  }
}

const elsewhere = (
  options: PermissionOptions,
  quiet: boolean,
  place: Omit<PermissionElsewhere, 'quiet'>,
): PermissionOptions => ({
  ...options,
  origin: options.origin ?? options.root,
  ...place,
  ...(quiet ? { askUser: undefined } : {}),
})

/** The rules as they stand on the disk, for one call after the other. */
function contextsOf(options: PermissionOptions, rules: readonly Rule[]) {
  const probed = new Map<string, Promise<boolean>>()
  const folds = (folder: string): Promise<boolean> => {
    const found = probed.get(folder) ?? ignoresCase(options.fs, folder)
    probed.set(folder, found)
    return found
  }
  let placed: readonly PlacedRule[] = []
  const keepsReading = (rule: Rule): boolean => rule.list !== 'allow' && pathKind(rule.tool) === 'Read'
  // As the rules stood on the disk at the last call, and as they are written before the first.
  const isForbidden = (real: string): boolean =>
    placed.some(({ rule, isAbout }) => keepsReading(rule) && isAbout({ written: real, real })) ||
    rules.some((rule) => keepsReading(rule) && isAboutPath(rule, real, options))
  return {
    isForbidden,
    // Links may be laid at any time, so rules are placed anew for every call.
    context: async (mode: PermissionMode): Promise<CaseContext> => {
      placed = await placeRules(rules, options, folds)
      return { rules, placed, mode, place: { ...options, isForbidden }, open: options.open }
    },
  }
}

function settled(call: ToolUseBlock, verdict: Verdict, grant: (verdict: Verdict) => void): Permit {
  if (verdict.kind === 'deny') return refused(call, verdict)
  grant(verdict)
  // What only looks leaves no trace but its result; everything else says by whose leave it ran.
  return verdict.looks && verdict.by === 'nature'
    ? { ok: true, readOnly: verdict.readOnly }
    : {
        ok: true,
        readOnly: verdict.readOnly,
        facts: [fact(call, 'allow', byOf(verdict), verdict.rule?.text)],
      }
}

const byOf = ({ by, rule }: Verdict): string => (rule === undefined ? by : rule.source)

const fact = (call: ToolUseBlock, decision: 'allow' | 'deny', by: string, rule?: string): Fact => ({
  type: 'permission',
  tool: call.name,
  decision,
  by,
  ...(rule === undefined ? {} : { rule: redact(rule).text }),
})

/** Not run, and how it could be. */
function refused(call: ToolUseBlock, verdict: Verdict): Permit {
  const facts = [fact(call, 'deny', byOf(verdict), verdict.rule?.text)]
  if (verdict.kind === 'deny') {
    const next = verdict.by === 'rule' ? ' Go on without it, or say what you need.' : ''
    return { ok: false, why: `${call.name} was denied: ${verdict.why}.${next}`, facts }
  }
  const offers = verdict.offers.filter((rule) => !rule.includes('\n'))
  const way =
    verdict.by === 'rule' && verdict.offers.length === 0
      ? 'That rule of the settings stands in the way.'
      : `The user can allow it with --allow ${quoted(offers.length === 0 ? [call.name] : offers)}, or in the settings.`
  return {
    ok: false,
    why: `${call.name} was denied: ${verdict.why}, and nobody can be asked. ${way} Go on without it, or say what you need.`,
    facts,
  }
}

const quoted = (rules: readonly string[]): string => {
  const list = rules.join(',')
  return /^[\w,]+$/.test(list) ? list : `'${list.replaceAll("'", `'\\''`)}'`
}

const refusedBy = (call: ToolUseBlock, { words }: Answer & { kind: 'no' }): Permit => ({
  ok: false,
  why:
    words === undefined || words.trim() === ''
      ? `The user denied this call of ${call.name}. Do not try it in another way; ask what to do instead.`
      : `The user denied this call of ${call.name} and says: ${words.trim()}`,
  facts: [fact(call, 'deny', 'user')],
})

const interruptedBy = (call: ToolUseBlock): Permit => ({
  ok: false,
  why: `The user interrupted when asked about this call of ${call.name}; it was not run.`,
  stops: true,
  facts: [fact(call, 'deny', 'user')],
})

async function questionOf(
  call: ToolUseBlock,
  verdict: Verdict,
  options: PermissionOptions,
): Promise<{ readonly question: Question; readonly shown: ShownFile | undefined }> {
  // A key in a command must not become a line of the settings.
  const rules = verdict.offers.some((rule) => redact(rule).found.length > 0) ? [] : verdict.offers
  const real = verdict.writes?.[0]
  const planned = real === undefined ? null : await plannedChange(options.fs, real, call.name, call.input)
  const change = planned?.ok === true ? planned.change : undefined
  const question: Question = {
    tool: call.name,
    callId: call.id,
    subject: subjectOf(call.name, call.input, change),
    change,
    problem: planned?.ok === false ? planned.why : undefined,
    why: verdict.why,
    rules,
    scopes: rules.length === 0 ? [] : (options.keep?.scopes ?? []),
    everywhere: rules.map((rule) => ruleEverywhere(rule, options.root)),
    note: options.keep?.note,
  }
  return { question, shown: planned?.ok === true ? planned.shown : undefined }
}

const ruleOf = (answer: Answer, question: Question): string | undefined =>
  answer.kind === 'once' || question.rules.length === 0 ? undefined : question.rules.join(', ')

/** Puts the rules into force, and into the settings where they shall last. What went wrong there is said. */
async function keepAnswer(
  answer: Answer,
  question: Question,
  options: PermissionOptions,
  rules: Rule[],
): Promise<string | undefined> {
  if (answer.kind !== 'session' && answer.kind !== 'always') return undefined
  const given = question.rules.map((text): GivenRule => ({ list: 'allow', text, source: 'session' }))
  rules.push(...readRules(given, options.home).rules)
  if (answer.kind === 'session') return undefined
  const kept =
    options.keep === undefined
      ? { ok: false as const, why: 'there is no place for it' }
      : await options.keep.rules(
          answer.scope,
          'allow',
          answer.scope === 'user' ? (question.everywhere ?? question.rules) : question.rules,
        )
  return kept.ok ? undefined : `the rule applies until pal exits, but could not be saved: ${kept.why}`
}

/** A rule that is not understood must not open anything: one that denies or asks then speaks of its whole tool. */
export function readRules(
  given: readonly GivenRule[],
  home: string | undefined,
): { rules: Rule[]; problems: string[] } {
  const rules: Rule[] = []
  const problems: string[] = []
  for (const one of given) {
    const parsed = homeless(parseRule(one), home)
    if (parsed.ok) {
      rules.push(parsed.rule)
      continue
    }
    const tool = /^\s*([A-Za-z]\w*)/.exec(one.text)?.[1]
    const whole = tool === undefined ? null : parseRule({ ...one, text: tool })
    const isClosed = one.list !== 'allow' && whole?.ok === true
    if (isClosed) rules.push({ ...whole.rule, text: one.text })
    problems.push(
      `${parsed.why}; ${isClosed ? `it counts for all of ${whole.rule.tool}` : 'it does not count'}`,
    )
  }
  return { rules, problems }
}

/** Without a home nobody knows what `~` means, and such a rule is not understood. */
function homeless(parsed: ParsedRule, home: string | undefined): ParsedRule {
  const isLost = parsed.ok && parsed.rule.what?.startsWith('~/') === true && home === undefined
  return isLost
    ? { ok: false, why: `the rule ${JSON.stringify(parsed.rule.text)} names a home, and none is known` }
    : parsed
}
