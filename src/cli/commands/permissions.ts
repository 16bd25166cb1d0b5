// `pal permissions`: the mode and the rules in force, and who gave each. `pal permissions why CALL`: which judge would
// decide about a call, by which rule, and what those before it said. Nothing is run, asked or written.
import { errorText } from '../../disk/failure.ts'
import { hookPreview } from '../../engine/hook-commands.ts'
import type { Preset } from '../../preset.ts'
import { explain, type Explanation, type PermissionMode } from '../../tools/permission/pipeline.ts'
import type { Tool } from '../../tools/tool.ts'
import { print, complain, exits, fail, type Exit } from '../exit-codes.ts'
import { commandPreset } from '../extensions/load.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { prose, table, wraps } from '../terminal/tables.ts'
import { ruleProblems, ruleSources } from '../workplace/rule-problems.ts'
import { openWorkplace, showProblems, type ProjectFlags, type Workplace } from '../workplace/workplace.ts'

export interface PermissionFlags extends ProjectFlags {
  readonly trust?: boolean
  readonly allow?: string[]
  readonly ask?: string[]
  readonly deny?: string[]
  readonly permissionMode?: PermissionMode
}

export async function permissions(io: Io, args: readonly string[], flags: PermissionFlags): Promise<Exit> {
  const [verb, ...rest] = args
  if (verb !== undefined && verb !== 'why')
    return fail(io, exits.usage, `usage: pal permissions [why CALL]; unknown: ${JSON.stringify(verb)}`)
  const { cwd, trust, allow, ask, deny, permissionMode } = flags
  const place = await openWorkplace(io, { cwd, trust, settings: { allow, ask, deny, permissionMode } })
  if (!place.ok) return complain(io, place)
  showProblems(place)
  const preset = await commandPreset(place, { rules: place.loaded.rules })
  try {
    const isJson = flags.json === true
    return verb === undefined
      ? listRules(place, preset, isJson)
      : await explainCall(place, preset, rest.join(' '), isJson)
  } finally {
    await preset.close()
  }
}

/** What is wrong with the rules was said by whoever opened the place; in JSON it stands with them. */
export function listRules(
  { io, loaded }: Pick<Workplace, 'io' | 'loaded'>,
  { permission }: Pick<Preset, 'permission'>,
  isJson: boolean,
): Exit {
  const rules = permission.rules().map(({ list, text, source }) => ({ list, text, source }))
  const problems = ruleProblems(loaded.rules, io.userHome)
  if (isJson) io.out(`${safeJson({ mode: permission.mode(), rules, problems }, 2)}\n`)
  else {
    const rows = rules.map(({ list, text, source }) => [list, text, ruleSources[source]])
    const columns = ['list', wraps('rule'), wraps('from')]
    io.out(
      `the mode is ${permission.mode()}\n${rows.length === 0 ? 'there are no rules\n' : table(columns, rows, io.columns)}`,
    )
  }
  return exits.done
}

export async function explainCall(
  { io, settings }: Pick<Workplace, 'io' | 'settings'>,
  { permission, tools }: Pick<Preset, 'permission' | 'tools'>,
  text: string,
  isJson: boolean,
): Promise<Exit> {
  const parsed = parseCall(
    text,
    tools.map(({ spec }) => spec.name),
  )
  if (!parsed.ok) return fail(io, exits.usage, parsed.why)
  const { name, input } = parsed.call
  const tool = tools.find(({ spec }) => spec.name === name) ?? unconnected(name)
  const judges = [hookPreview(settings.hooks ?? {}), ...permission.judges]
  const call = { type: 'tool_use' as const, id: 'why', name, input }
  const explanation = await explain(judges, call, tool, new AbortController().signal)
  return print(io, isJson, { ...explanation, mode: permission.mode() }, () =>
    prose(asLines(text.trim(), explanation, io.columns), io.columns),
  )
}

const decisions = { allow: 'runs without asking', ask: 'needs approval', deny: 'is denied' } as const

function asLines(text: string, { decision, judge, why, rule, rulings }: Explanation, room: number): string {
  const by = rule === null ? '' : `rule: ${rule.list} ${rule.text} (from ${ruleSources[rule.source]})`
  const rows = rulings.map((one) => [one.judge, one.kind, one.why])
  const head = [`${text} ${decisions[decision]}`, `by: ${judge ?? 'nobody'}, because ${why}`, by]
  return `${head
    .filter((line) => line !== '')
    .map((line) => `${safeLine(line)}\n`)
    .join('')}\n${table(['judge', 'says', wraps('because')], rows, room)}`
}

/** Servers are not started to explain a call; what they offer is judged by its name alone. */
const unconnected = (name: string): Tool => ({
  spec: { name, description: '', input_schema: {} },
  policy: { readOnly: false, results: 'keep', maxResultChars: null },
  parse: (input) => ({ ok: true, input }),
  run: () => Promise.resolve({ content: [], isError: true }),
})

// ---- a call as a person writes it: `Bash(git push)`, `Write(src/a.ts)`, `mcp__server__tool {"key": 1}` ----

interface WrittenCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}
type ParsedCall =
  | { readonly ok: true; readonly call: WrittenCall }
  | { readonly ok: false; readonly why: string }

/** What stands in the brackets, by tool. */
const fields: Readonly<Record<string, string>> = {
  Bash: 'command',
  Read: 'file_path',
  Edit: 'file_path',
  Write: 'file_path',
  Grep: 'path',
  Glob: 'path',
  WebFetch: 'url',
}
const examples = 'as Bash(git push), Write(src/a.ts), or mcp__server__tool {"key": 1}'

/** `tools`: the names there are; tools of servers need not be among them, since a server may not be connected. */
function parseCall(text: string, tools: readonly string[]): ParsedCall {
  const no = (why: string): ParsedCall => ({ ok: false, why })
  const whole = text.trim()
  if (whole === '') return no(`no call given; write one ${examples}`)
  const [, name = '', rest = ''] = /^([A-Za-z][\w.-]*)([\s\S]*)$/.exec(whole) ?? []
  if (name === '')
    return no(`${JSON.stringify(whole)} does not begin with the name of a tool; write ${examples}`)
  if (!tools.includes(name) && !name.startsWith('mcp__'))
    return no(`there is no tool ${name}; the tools are: ${tools.join(', ')}`)
  const inner = rest.trim()
  const field = Object.hasOwn(fields, name) ? fields[name]! : null
  if (inner.startsWith('{')) return fromJson(name, inner)
  if (inner.startsWith('(') && inner.endsWith(')')) {
    if (field === null) return no(`${name} takes its input as JSON: ${name} {"key": "value"}`)
    const value = inner.slice(1, -1).trim()
    return value === ''
      ? no(`the parentheses of ${name} are empty`)
      : { ok: true, call: { name, input: { [field]: value } } }
  }
  if (inner !== '')
    return no(`${JSON.stringify(inner)} behind ${name} is neither (…) nor JSON; write the call ${examples}`)
  return field === null || name === 'Grep' || name === 'Glob'
    ? { ok: true, call: { name, input: {} } }
    : no(`${name} alone says too little; write ${name}(…), ${examples}`)
}

function fromJson(name: string, text: string): ParsedCall {
  const why = `the input of ${name} is not a JSON object`
  try {
    const input: unknown = JSON.parse(text)
    return typeof input === 'object' && input !== null && !Array.isArray(input)
      ? { ok: true, call: { name, input: input as Record<string, unknown> } }
      : { ok: false, why }
  } catch (error) {
    return { ok: false, why: `${why}: ${errorText(error)}` }
  }
}
