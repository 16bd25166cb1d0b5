// A call as a person writes it: `Bash(git push)`, `Write(src/a.ts)`, `mcp__server__tool {"key": 1}`.
export interface WrittenCall {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
}
export type ParsedCall =
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
export function parseCall(text: string, tools: readonly string[]): ParsedCall {
  const no = (why: string): ParsedCall => ({ ok: false, why })
  const whole = text.trim()
  if (whole === '') return no(`no call is given; write one ${examples}`)
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
      ? no(`the brackets of ${name} are empty`)
      : { ok: true, call: { name, input: { [field]: value } } }
  }
  if (inner !== '')
    return no(`${JSON.stringify(inner)} behind ${name} is neither (…) nor JSON; write the call ${examples}`)
  return field === null || name === 'Grep' || name === 'Glob'
    ? { ok: true, call: { name, input: {} } }
    : no(`${name} alone says too little; write ${name}(…), ${examples}`)
}

function fromJson(name: string, text: string): ParsedCall {
  const why = `the input of ${name} is no JSON object`
  try {
    const input: unknown = JSON.parse(text)
    return typeof input === 'object' && input !== null && !Array.isArray(input)
      ? { ok: true, call: { name, input: input as Record<string, unknown> } }
      : { ok: false, why }
  } catch (error) {
    return { ok: false, why: `${why}: ${error instanceof Error ? error.message : String(error)}` }
  }
}
