// What would act, in words: each file with its kind and size, what servers would be started or reached and which
// variables of the environment they get, which rules settings add. Everything comes from files nobody vouches for, so
// whoever shows it makes it safe.
import { fieldsOf, jsonIn, type Fields } from '../../transcript/json.ts'
import { relative } from 'node:path'
import { isInside } from '../../disk/under-root.ts'
import { ruleLists } from '../../settings/rule-list.ts'
import { isUsersOnly } from '../../settings/schema.ts'
import type { ListedFile } from './listing.ts'

/** One line a file, and under it what it does, indented. */
export function describe(files: readonly ListedFile[], root: string): readonly string[] {
  return files.flatMap((file) => [
    `${file.state === 'approved' ? '' : `${file.state}  `}${shownPath(file.path, root)}  ${file.kind}, ${sizeText(file.bytes)}`,
    ...doings(file).map((line) => `    ${line}`),
  ])
}

export const shownPath = (path: string, root: string): string =>
  oneLine(isInside(root, path) ? relative(root, path) : `${path} (outside the project)`)

const sizeText = (bytes: number): string =>
  bytes < 1024 ? `${bytes} bytes` : `${(bytes / 1024).toFixed(1)} KB`

function doings({ kind, text }: Pick<ListedFile, 'kind' | 'text'>): readonly string[] {
  if (text === null) return ['too long or no text: only its hash can be compared']
  const object = (): Fields => fieldsOf(jsonIn(text.replace(/^\uFEFF/, '')))
  if (kind === 'settings') return settingDoings(object())
  if (kind === 'MCP servers') return serverDoings(object())
  if (kind === 'MCP program')
    return ['runs outside the sandbox; what it loads in its turn is not part of this list']
  return []
}

function settingDoings(settings: Fields): readonly string[] {
  return Object.entries(settings).flatMap(([key, value]) => {
    if (isUsersOnly(key)) return [`${key}: ignored, a project may not set it`]
    const isRules = ruleLists.some((list) => list === key) && Array.isArray(value)
    return isRules
      ? (value as unknown[]).map((rule) => `${oneLine(key)} ${oneLine(String(rule))}`)
      : [`${oneLine(key)} = ${JSON.stringify(value)}`]
  })
}

function serverDoings(file: Fields): readonly string[] {
  return Object.entries(fieldsOf(file['mcpServers'])).flatMap(([name, given]) => {
    const { command, args, env, url, headers } = fieldsOf(given)
    const words = Array.isArray(args) ? args.map((word) => quoted(String(word))) : []
    const what =
      typeof command === 'string'
        ? `${name}: starts ${[quoted(command), ...words].join(' ')}, outside the sandbox`
        : `${name}: connects to ${String(url)}`
    const fields: readonly (readonly [string, unknown])[] = [
      ['its command', command],
      ...words.map((word, at) => [`argument ${at + 1}`, word] as const),
      ['its address', url],
      ...Object.entries(fieldsOf(env)).map(([key, value]) => [`its variable ${key}`, value] as const),
      ...Object.entries(fieldsOf(headers)).map(([key, value]) => [`its header ${key}`, value] as const),
    ]
    const variables = fields.flatMap(([where, value]) =>
      variablesIn(value).map((variable) => `${name}: gets your variable ${variable} in ${where}`),
    )
    // A variable can make a harmless program load another one.
    const sets = Object.entries(fieldsOf(env)).map(
      ([key, value]) => `${name}: its ${key} is set to ${JSON.stringify(value)}`,
    )
    return [what, ...sets, ...variables].map(oneLine)
  })
}

/** One thing is one line: a line end in a rule must not look like the next file. */
const oneLine = (text: string): string => text.replaceAll(/[\r\n\u2028\u2029]/g, '\u240A')

const variablesIn = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [...value.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}/g)].map((found) => found[1]!)
    : []

const quoted = (word: string): string => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : JSON.stringify(word))

/** The whole content of what is new, and a unified diff of what changed; cut after so many lines where that is asked. */
export async function contentText(
  files: readonly ListedFile[],
  root: string,
  mostLines = Infinity,
): Promise<string> {
  const parts: string[] = []
  for (const file of files) {
    const lines = (await textOf(file, shownPath(file.path, root))).split('\n')
    const cut = lines.length - mostLines
    parts.push([...lines.slice(0, mostLines), ...(cut > 0 ? [`[${cut} more lines]`] : [])].join('\n'))
  }
  return parts.join('\n\n')
}

async function textOf({ text, before, bytes, sha256 }: ListedFile, name: string): Promise<string> {
  if (text === null) return `--- ${name}: ${bytes} bytes that cannot be shown, sha256 ${sha256}`
  const old = before?.text ?? null
  if (old === null) return `--- ${name}\n${text.trimEnd()}`
  // Most starts compare nothing.
  const { createTwoFilesPatch } = await import('diff')
  return createTwoFilesPatch(`${name} (approved)`, `${name} (now)`, old, text).trimEnd()
}
