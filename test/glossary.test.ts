// The glossary and the code, compared: a word of the glossary that the code does not have is about something else, and a
// retired word that the code still has is a second word for one idea.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')
const glossary = readFileSync(join(root, 'GLOSSARY.md'), 'utf8')
const [current, gone] = glossary.split('## Retired words') as [string, string]
const firstCells = (text: string): string[] =>
  [...text.matchAll(/^\| ([^|]+) \|/gm)]
    .map((match) => match[1]!.trim())
    .filter((cell) => !/^(?:word|retired|-+)$/.test(cell))
    .flatMap((cell) => cell.split(', '))

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  )
}

/** A name as words: `agentReportText` and `agent-report` begin alike. */
const wordsIn = (name: string): string =>
  ` ${name
    .split(/(?=[A-Z])|[_-]/)
    .map((word) => word.toLowerCase())
    .join(' ')} `

function* names(node: unknown): Generator<string> {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const each of node) yield* names(each)
    return
  }
  const { type, name } = node as { readonly type?: unknown; readonly name?: unknown }
  if (type === 'Identifier' && typeof name === 'string') yield name
  for (const value of Object.values(node)) yield* names(value)
}

interface Named {
  readonly room: string
  readonly file: string
  readonly words: string
}

interface Declaration {
  readonly id?: { readonly name?: string } | null
  readonly declarations?: readonly { readonly id: { readonly name?: string } }[]
}

/** The names that a file declares and exports. */
const exportedIn = (body: readonly unknown[]): string[] =>
  body.flatMap((statement) => {
    const { type, declaration } = statement as { type: string; declaration?: Declaration | null }
    if (type !== 'ExportNamedDeclaration' || declaration === null || declaration === undefined) return []
    const ids = declaration.declarations?.map(({ id }) => id) ?? [declaration.id]
    return ids.flatMap((id) => id?.name ?? [])
  })

const parsed = filesBelow(src)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .map((path) => {
    const file = relative(src, path)
    const parts = file.replace(/\.ts$/, '').split(/[/\\]/)
    const { body } = parseAst(readFileSync(path, 'utf8'), { lang: 'ts' })
    return { file, room: parts[0]!, names: new Set([...parts, ...names(body)]), exported: exportedIn(body) }
  })
const named: Named[] = parsed.flatMap(({ file, room, names }) =>
  [...names].map((name) => ({ room, file, words: wordsIn(name) })),
)
const has = ({ words }: Named, word: string): boolean =>
  words.includes(` ${word} `) || words.includes(` ${word}s `)

/** Exported twice in one room, not yet joined or renamed; it only shrinks. */
const doubled: readonly string[] = []

describe('the glossary', () => {
  it('[H36] has no word twice, and none that is retired', () => {
    const words = [...firstCells(current), ...firstCells(gone)]
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([])
    expect(words.length).toBeGreaterThan(80)
  })

  it('[H36] has every word in the code', () => {
    expect(firstCells(current).filter((word) => !named.some((each) => has(each, word)))).toEqual([])
  })

  it('[H36] has no retired word in the code', () => {
    const wrong = firstCells(gone).flatMap((word) => {
      const rooms = new Set(
        named.filter((each) => has(each, word)).map(({ file, words }) => `${word}: src/${file}:${words}`),
      )
      return [...rooms]
    })
    expect(wrong).toEqual([])
  })

  it('[H37] an exported name is declared once in its room', () => {
    const homes = new Map<string, Set<string>>()
    for (const { file, room, exported } of parsed)
      for (const name of exported) {
        const key = `${name} (${room})`
        homes.set(key, (homes.get(key) ?? new Set()).add(file))
      }
    expect(homes.size).toBeGreaterThan(1000)
    const twice = [...homes].filter(([, files]) => files.size > 1).map(([name]) => name)
    expect(twice.filter((name) => !doubled.includes(name))).toEqual([])
  })
})
