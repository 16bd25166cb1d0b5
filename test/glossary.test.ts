// The glossary and the code, compared: a word of the glossary that the code does not have is about something else, and a
// retired word that the code still has is a second word for one idea.
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
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

/** Rooms that still have a retired word. Take an entry out when the room is done; nothing is ever added. */
const stillToDo: Readonly<Record<string, readonly string[]>> = {
  talk: ['cli', 'engine', 'forks', 'lab', 'simulator'],
  scene: ['cli', 'compaction', 'engine', 'forks', 'index', 'lab', 'simulator', 'testing', 'tools'],
  desk: ['cli', 'forks', 'lab', 'preset'],
  office: ['cli', 'forks', 'index', 'preset'],
  door: ['tools'],
  told: ['cli', 'compaction', 'engine', 'forks', 'memory', 'preset', 'simulator', 'stores', 'tools'],
  board: ['cli', 'forks', 'preset', 'tools'],
  aside: ['engine', 'forks', 'lab', 'memory', 'stores', 'tools', 'transcript'],
  beside: ['cli', 'engine', 'lab', 'memory', 'simulator'],
  settle: ['cli', 'forks', 'memory', 'request', 'settings', 'tools'],
  heir: ['forks', 'settings', 'simulator'],
  capsule: ['engine', 'settings'],
  looking: ['cli'],
  mend: ['cli'],
  mended: ['cli', 'forks', 'lab', 'simulator'],
  dearer: ['lab'],
}

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

const named: Named[] = filesBelow(src)
  .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  .flatMap((path) => {
    const file = relative(src, path)
    const parts = file.replace(/\.ts$/, '').split(/[/\\]/)
    const { body } = parseAst(readFileSync(path, 'utf8'), { lang: 'ts' })
    return [...new Set([...parts, ...names(body)])].map((name) => ({
      room: parts[0]!,
      file,
      words: wordsIn(name),
    }))
  })
const has = ({ words }: Named, word: string): boolean =>
  words.includes(` ${word} `) || words.includes(` ${word}s `)

/** Exported twice in one room, not yet joined or renamed; it only shrinks. */
const doubled = [
  'LookFlags (cli)',
  'looking (cli)',
  'Found (cli)',
  'Choice (cli)',
  'Decision (cli)',
  'Refused (cli)',
  'reportOf (engine)',
  'fork (engine)',
  'sizeOf (forks)',
]

describe('the glossary', () => {
  it('[H36] has no word twice, and none that is retired', () => {
    const words = [...firstCells(current), ...firstCells(gone)]
    expect(words.filter((word, index) => words.indexOf(word) !== index)).toEqual([])
    expect(words.length).toBeGreaterThan(80)
  })

  it('[H36] has every word in the code', () => {
    expect(firstCells(current).filter((word) => !named.some((each) => has(each, word)))).toEqual([])
  })

  it('[H36] retires a word in every room but those still to do', () => {
    const wrong = firstCells(gone).flatMap((word) => {
      const rooms = new Set(
        named
          .filter((each) => has(each, word) && !(stillToDo[word] ?? []).includes(each.room))
          .map(({ file, words }) => `${word}: src/${file}:${words}`),
      )
      return [...rooms]
    })
    expect(wrong).toEqual([])
  })

  it('[H37] an exported name is declared once in its room', async () => {
    const { measure } = (await import(pathToFileURL(join(root, 'scripts', 'house.mjs')).href)) as {
      measure: (tree: string) => { names: Readonly<Record<string, readonly string[]>> }
    }
    const twice = measure(root).names['declared twice in a room']!
    expect(twice.filter((name) => !doubled.includes(name))).toEqual([])
  })
})
