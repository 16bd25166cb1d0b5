// What the program says to people, read off the source: every text in the files that speak. A text is a string or a
// template that reads as language: two words with a blank between them, or a sentence of one. What is added with + is
// joined, what is computed stands as {}.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve, sep } from 'node:path'
import { parseAst } from 'rolldown/parseAst'

const root = resolve(import.meta.dirname, '..', '..')

interface Node {
  readonly type: string
  readonly [key: string]: unknown
}

export interface Spoken {
  readonly file: string
  readonly texts: readonly string[]
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
    )
}

const isNode = (value: unknown): value is Node =>
  value !== null && typeof value === 'object' && typeof (value as { type?: unknown }).type === 'string'

/** The text of a string, a template or a sum of them; null for anything else. */
function textOf(node: unknown): string | null {
  if (!isNode(node)) return null
  if (node.type === 'Literal') return typeof node['value'] === 'string' ? node['value'] : null
  // What stands between elements, as a browser shows it.
  if (node.type === 'JSXText') return String(node['value']).replaceAll(/\s+/g, ' ').trim()
  if (node.type === 'TemplateLiteral') {
    const quasis = node['quasis'] as readonly { readonly value: { readonly cooked: string } }[]
    const inside = node['expressions'] as readonly unknown[]
    return quasis
      .map(
        (quasi, index) =>
          quasi.value.cooked + (index < inside.length ? (constantOf(inside[index]) ?? '{}') : ''),
      )
      .join('')
  }
  if (node.type === 'BinaryExpression' && node['operator'] === '+') {
    const [left, right] = [textOf(node['left']), textOf(node['right'])]
    return left === null && right === null ? null : `${left ?? '{}'}${right ?? '{}'}`
  }
  return null
}

const constantOf = (node: unknown): string | null =>
  isNode(node) && node.type === 'Literal' && typeof node['value'] === 'string' ? node['value'] : null

/** Where a string is a name for the program and nothing that is said. */
const silent = new Set([
  'ImportDeclaration',
  'ExportAllDeclaration',
  'TSLiteralType',
  'TSTypeAliasDeclaration',
  'TSInterfaceDeclaration',
  'TSImportType',
])

/** Attributes of an element that say how it looks. */
const isLook = (node: Node): boolean =>
  node.type === 'JSXAttribute' &&
  ['class', 'd', 'viewBox', 'href'].includes(String((node['name'] as { readonly name?: unknown }).name))

function* texts(node: unknown): Generator<string> {
  if (Array.isArray(node)) {
    for (const each of node) yield* texts(each)
    return
  }
  if (!isNode(node) || silent.has(node.type) || isLook(node)) return
  const text = textOf(node)
  if (text !== null) yield text
  for (const [key, value] of Object.entries(node)) {
    if (key === 'typeAnnotation' || key === 'typeArguments') continue
    // Of a sum only what is no part of its text is left to look at.
    if (text !== null && (key === 'left' || key === 'right')) {
      if (textOf(value) === null) yield* texts(value)
      else yield* inner(value)
    } else yield* texts(value)
  }
}

/** What is computed inside of a text that was taken whole. */
function* inner(node: unknown): Generator<string> {
  if (!isNode(node)) return
  if (node.type === 'TemplateLiteral') yield* texts(node['expressions'])
  else if (node.type === 'BinaryExpression')
    for (const side of [node['left'], node['right']]) yield* textOf(side) === null ? texts(side) : inner(side)
}

/** What is said to a database. */
const isStatement = (text: string): boolean =>
  /^\s*(?:select .*(?:\$\d|pal\.| from )|insert into |update pal|delete from |create (?:or|schema|table|role|database) |grant .* to |revoke .* from |set local |do \$\$)/u.test(
    text,
  )

const isLanguage = (text: string): boolean =>
  !isStatement(text) &&
  (/\p{L}{2}[\p{L}',:;.)\]}"]* +[({["']*[\p{L}{\d]/u.test(text) || /^\p{Lu}\p{Ll}+[^\s/]*[.?!:]$/u.test(text))

export function spokenIn(folder: string, isLeftOut: (file: string) => boolean): Spoken[] {
  return filesBelow(join(root, folder)).flatMap((path) => {
    const file = relative(root, path).split(sep).join('/')
    if (!/\.tsx?$/.test(file) || file.endsWith('.test.ts') || isLeftOut(file)) return []
    const said = textsIn(readFileSync(path, 'utf8'), file.endsWith('.tsx') ? 'tsx' : 'ts')
    return said.length === 0 ? [] : [{ file, texts: said }]
  })
}

export function textsIn(source: string, lang: 'ts' | 'tsx' = 'ts'): readonly string[] {
  const { body } = parseAst(source, { lang })
  return [...new Set([...texts(body)].filter(isLanguage))]
}
