// Owns the fit between what the rule-based model wants to do and the tools a request offers: which tool does it, and
// what that tool calls its arguments. Names and properties are looked up in the request, never assumed.
import type { WireBlock, WireRequest, WireTool } from '../../model/wire.ts'
import { call, plainText } from '../answer.ts'
import { isRecord } from '../rules/shape.ts'
import type { Called } from './conversation.ts'

export type Verb = 'read' | 'write' | 'edit' | 'run' | 'search' | 'list'

/** What the model wants to do, before a tool has been found for it; what is set depends on the verb. */
export interface Intent {
  readonly verb: Verb
  readonly path?: string | undefined
  readonly content?: string | undefined
  readonly old?: string | undefined
  readonly new?: string | undefined
  readonly command?: string | undefined
  readonly pattern?: string | undefined
}

export interface Toolbox {
  /** The call that does it, or null when no offered tool can. */
  readonly callFor: (intent: Intent) => WireBlock | null
  readonly offers: (verb: Verb) => boolean
  /** What an earlier call did, told from its tool and arguments. */
  readonly intentOf: (called: Called) => Intent | null
}

const toolNames: Readonly<Record<Verb, RegExp>> = {
  read: /^(read|read_?file|view|view_?file|open_?file|cat)$/iu,
  write: /^(write|write_?file|create_?file|save_?file)$/iu,
  edit: /^(edit|edit_?file|str_?replace\w*|replace(_?in_?file)?)$/iu,
  run: /^(bash|shell|shell_?command|run|run_?(shell_?)?command|exec\w*|terminal)$/iu,
  search: /^(grep|grep_?search|search|search_?files|search_?file_?content|rg|ripgrep)$/iu,
  list: /^(glob|find|find_?files|ls|list|list_?files)$/iu,
}

type Argument = Exclude<keyof Intent, 'verb'>

/** Names under which tools take an argument, likeliest first. */
const argumentNames: Readonly<Record<Argument, readonly RegExp[]>> = {
  path: [
    /^(absolute_)?file_?path$/iu,
    /^path$/iu,
    /^file_?name$/iu,
    /^file$/iu,
    /^(dir|directory|folder|root)$/iu,
  ],
  content: [/^contents?$/iu, /^file_text$/iu, /^(text|body|data)$/iu],
  old: [/^old_?(string|str|text)?$/iu, /^(search|find|from)$/iu],
  new: [/^new_?(string|str|text)?$/iu, /^(replace|replacement|to)$/iu],
  command: [/^(command|cmd)$/iu, /^(script|code)$/iu],
  pattern: [/^pattern$/iu, /^(regex|query|glob|search)$/iu],
}

export function toolboxOf(request: WireRequest, root?: string): Toolbox {
  const tools = request.tool_choice?.type === 'none' ? [] : (request.tools ?? [])
  const found = new Map<Verb, WireTool>()
  for (const [verb, name] of Object.entries(toolNames) as [Verb, RegExp][]) {
    const tool = tools.find((candidate) => name.test(candidate.name))
    if (tool !== undefined) found.set(verb, tool)
  }
  const patcher = tools.find((candidate) => patchName.test(candidate.name))
  for (const verb of ['edit', 'write'] as const)
    if (patcher !== undefined && !found.has(verb)) found.set(verb, patcher)
  const base = root ?? workingFolder(request)
  return {
    callFor: (intent) => direct(found, intent, base) ?? throughShell(found, intent, base),
    offers: (verb) => found.has(verb),
    intentOf: (called) => readIntent(called),
  }
}

/** Fills the arguments the tool declares; those it does not know are left out rather than refused. */
function direct(found: ReadonlyMap<Verb, WireTool>, intent: Intent, base: string | null): WireBlock | null {
  const tool = found.get(intent.verb)
  if (tool === undefined) return null
  const words = freeText(tool, intent)
  if (words !== null) return call(tool.name, { input: words })
  const properties = propertiesOf(tool)
  const input: Record<string, unknown> = {}
  for (const argument of Object.keys(argumentNames) as Argument[]) {
    const value = intent[argument]
    if (value === undefined) continue
    const name = propertyFor(properties, argument)
    if (name !== null) input[name] = valueFor(argument, value, properties[name], base)
  }
  return call(tool.name, { ...input, ...missing(tool, properties, input) })
}

/** Looking can always be done with a shell; changing files blindly is not worth imitating. */
function throughShell(
  found: ReadonlyMap<Verb, WireTool>,
  intent: Intent,
  base: string | null,
): WireBlock | null {
  const commands: Partial<Record<Verb, string>> = {
    read: `cat ${quoted(intent.path ?? '')}`,
    search: `grep -rn -e ${quoted(intent.pattern ?? '')} ${quoted(intent.path ?? '.')}`,
    list: `find ${quoted(intent.path ?? '.')} -name ${quoted(intent.pattern ?? '*')}`,
  }
  const command = commands[intent.verb]
  return command === undefined ? null : direct(found, { verb: 'run', command }, base)
}

const quoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`

function propertiesOf(tool: WireTool): Readonly<Record<string, unknown>> {
  const properties = tool.input_schema?.['properties']
  return isRecord(properties) ? properties : {}
}

/** The likeliest name wins over the order in which a schema lists its properties. */
function propertyFor(properties: Readonly<Record<string, unknown>>, argument: Argument): string | null {
  for (const pattern of argumentNames[argument]) {
    const name = Object.keys(properties).find((key) => pattern.test(key))
    if (name !== undefined) return name
  }
  return null
}

/** A command for a tool that takes a list of words goes through a shell. */
function valueFor(argument: Argument, value: string, property: unknown, base: string | null): unknown {
  if (argument === 'path') return placed(value, property, base)
  const isList = isRecord(property) && property['type'] === 'array'
  return argument === 'command' && isList ? ['bash', '-lc', value] : value
}

/** A tool that wants absolute paths gets them, as far as the working folder is known. */
function placed(path: string, property: unknown, base: string | null): string {
  const wantsAbsolute = isRecord(property) && /absolute/iu.test(plainText({ text: property['description'] }))
  return wantsAbsolute && base !== null && !path.startsWith('/') ? `${base}/${path}` : path
}

function workingFolder(request: WireRequest): string | null {
  const texts = [plainText(request.system ?? ''), plainText(request.messages[0]?.content ?? '')]
  const match = /(?:working (?:directory|folder)|cwd)[^\n/]{0,20}(\/[^\s"'`<]+)/iu.exec(texts.join('\n'))
  return match?.[1]?.replace(/[/.,;]+$/u, '') ?? null
}

/** Required arguments that no intent knows (a description, a mode) get the plainest value their schema allows. */
function missing(
  tool: WireTool,
  properties: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const required = tool.input_schema?.['required']
  const filled: Record<string, unknown> = {}
  for (const name of Array.isArray(required) ? required : []) {
    if (typeof name === 'string' && !(name in given)) filled[name] = plainValue(properties[name])
  }
  return filled
}

function plainValue(property: unknown): unknown {
  if (!isRecord(property)) return ''
  const choices = property['enum']
  if (Array.isArray(choices)) return choices[0]
  if ('default' in property) return property['default']
  const plain: Record<string, unknown> = { boolean: false, array: [], object: {}, number: 1, integer: 1 }
  return plain[String(property['type'])] ?? ''
}

/** The tool need not be on offer any more: its name and arguments tell enough. */
function readIntent(called: Called): Intent | null {
  const verb = (Object.keys(toolNames) as Verb[]).find((candidate) => toolNames[candidate].test(called.name))
  if (verb === undefined) return null
  const intent: Record<string, string> = {}
  for (const argument of Object.keys(argumentNames) as Argument[]) {
    const name = propertyFor(called.input, argument)
    const value = name === null ? undefined : called.input[name]
    if (typeof value === 'string') intent[argument] = value
  }
  return { verb, ...intent }
}

// Owns calls of tools that take free text instead of arguments: a patch, a command, or a program that calls a tool.

/** Tools that change files by a patch, whatever form their input has. */
const patchName = /^apply_?patch$/iu

/** What such a tool is given; null for tools with arguments. */
function freeText(tool: WireTool, intent: Intent): string | null {
  if (patchName.test(tool.name)) return patchOf(intent)
  if (tool.input_schema?.['x-free-text'] !== true) return null
  const command = intent.command ?? ''
  return /javascript/iu.test(tool.description ?? '') ? programOf(command, tool) : command
}

/** A file that is there is updated by its old and new lines, a new one is added. */
function patchOf({ verb, path = '', old = '', new: now = '', content = '' }: Intent): string {
  const marked = (mark: string, text: string): string =>
    // The end of the last line is no line of its own.
    text
      .replace(/\n$/u, '')
      .split('\n')
      .map((line) => `${mark}${line}`)
      .join('\n')
  const change =
    verb === 'edit'
      ? `*** Update File: ${path}\n@@\n${marked('-', old)}\n${marked('+', now)}`
      : `*** Add File: ${path}\n${marked('+', content)}`
  return `*** Begin Patch\n${change}\n*** End Patch`
}

/** The nested tool is looked up in the description, as every name is. */
function programOf(command: string, tool: WireTool): string {
  const nested = /tools\.(\w*(?:exec|shell|bash)\w*)/iu.exec(tool.description ?? '')?.[1] ?? 'exec_command'
  const argument = /\bcmd\b/u.test(tool.description ?? '') ? 'cmd' : 'command'
  return `const result = await tools.${nested}({ ${argument}: ${JSON.stringify(command)} });\ntext(result.output ?? result);`
}
