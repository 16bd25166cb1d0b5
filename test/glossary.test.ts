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

interface Node {
  readonly type?: unknown
  readonly name?: unknown
  readonly value?: unknown
}

function* nodes(node: unknown): Generator<Node> {
  if (node === null || typeof node !== 'object') return
  if (!Array.isArray(node)) yield node
  for (const value of Object.values(node)) yield* nodes(value)
}

/** Its identifiers, private ones among them. */
const namesIn = (body: unknown): string[] =>
  [...nodes(body)].flatMap(({ type, name }) =>
    (type === 'Identifier' || type === 'PrivateIdentifier') && typeof name === 'string' ? [name] : [],
  )

/** Texts that are one word or several joined by hyphens: codes, kinds, states. */
const codesIn = (body: unknown): string[] =>
  [...nodes(body)].flatMap(({ type, value }) =>
    type === 'Literal' && typeof value === 'string' && /^[a-z]+(?:-[a-z]+)*$/.test(value) ? [value] : [],
  )

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
  .filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
  .map((path) => {
    const file = relative(src, path)
    const parts = file.replace(/\.tsx?$/, '').split(/[/\\]/)
    const { body } = parseAst(readFileSync(path, 'utf8'), { lang: path.endsWith('.tsx') ? 'tsx' : 'ts' })
    return {
      file,
      room: parts[0]!,
      names: new Set([...parts, ...namesIn(body)]),
      codes: new Set(codesIn(body)),
      exported: exportedIn(body),
    }
  })
const named: Named[] = parsed.flatMap(({ file, room, names }) =>
  [...names].map((name) => ({ room, file, words: wordsIn(name) })),
)
const has = ({ words }: Named, word: string): boolean =>
  words.includes(` ${word} `) || words.includes(` ${word}s `)

/** Words that no page uses for what stands behind them; code in a page may. */
const notInPages: readonly (readonly [word: RegExp, use: string])[] = [
  [/\btalks?\b/i, 'conversation, interactive'],
  [/\bmend(?:s|ed|ing)?\b/i, 'fix, repair'],
  [/\bdearer\b/i, 'more expensive'],
  [/\bheirs?\b/i, 'successor'],
  [/\bcapsules?\b/i, 'agent report'],
  [/\bg(?:ives?|iven|ave) back\b/i, 'restore, return'],
  [/\bput(?:s|ting)? (?:\w+ ){0,3}away\b/i, 'compact, remove from context'],
  [/\bleft the view\b/i, 'removed from context'],
  [/\btaken out\b/i, 'removed'],
  [/\b(?:an|the|that) account\b|\baccount of\b/i, 'summary'],
  [/(?<!\bset )\baside\b/i, 'in the background'],
  [/\bstanding\b/i, 'status'],
  [/\bstands? for\b/i, 'replaces'],
  [/\berror stream\b|\bstandard (?:output|error|input)\b/i, 'stdout, stderr, stdin'],
  [/\bshall\b/i, 'will, must'],
  [/\bdoors?\b/i, 'API, entry, export'],
  [/\bsettle[sd]?\b/i, 'run, decide'],
  [/\bonly looks?\b/i, 'read-only'],
  [/\bbeside (?:the|a) (?:turn|conversation|request)\b|\bruns? beside\b/i, 'in the background'],
  [/\bwho answers\b/i, 'model'],
]

/** Where such a word is meant as everybody means it. */
const rightThere: readonly string[] = ['stop Shall I go on?']

const pages = [
  ...filesBelow(join(root, 'docs')),
  ...['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SPEC.md'].map((name) =>
    join(root, name),
  ),
  ...['examples', 'evals'].map((folder) => join(root, folder, 'README.md')),
].filter((file) => file.endsWith('.md'))

/** A page without what is code in it, line by line. */
const proseOf = (page: string): readonly string[] =>
  page
    .replaceAll(/^```[\s\S]*?^```/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .replaceAll(/`[^`\n]*`/g, '``')
    .split('\n')

/** Where memories are kept, saved, shown and served, and where what became of one is handed on. */
const ofMemories: readonly RegExp[] = [
  /^(?:memory|preset\/memory|forks\/memory|cli\/commands\/memory)\//,
  /^(?:postgres\/memories|testing\/memory-contract|tools\/search-memory)\.ts$/,
  // What a call, a turn and `pal stats` say became of a memory.
  /^(?:tools\/tool|engine\/live|cli\/output|cli\/commands\/stats)\.ts$/,
]

/** Written by versions before this one and read by them still. */
const heldOnDisk: readonly string[] = [
  'tools/shell/placeholders.ts: held',
  // What functions of a shared database answer, to workers of any version.
  'postgres/store.ts: not-held',
]

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

  it('[H36] has no retired word in a page, by what it means there', () => {
    const wrong = pages.flatMap((file) =>
      proseOf(readFileSync(file, 'utf8')).flatMap((line, at) =>
        notInPages.flatMap(([word, use]) => {
          const found = word.exec(line)?.[0]
          const where = `${relative(root, file)}:${at + 1}`
          return found === undefined || rightThere.some((one) => line.includes(one))
            ? []
            : [`${where}: "${found}", use ${use}`]
        }),
      ),
    )
    expect(pages.length).toBeGreaterThan(50)
    expect(wrong).toEqual([])
  })

  it('[H36] has no account for a summary where summaries are written', () => {
    const rooms = new Set(['compaction', 'projection', 'forks', 'fit'])
    const found = named.filter((one) => rooms.has(one.room) && has(one, 'account'))
    expect(found.map(({ file, words }) => `${file}:${words}`)).toEqual([])
  })

  it('[H53] says held of memories alone', () => {
    const found = parsed
      .filter(({ file }) => !ofMemories.some((room) => room.test(file)))
      .flatMap(({ file, names, codes }) =>
        [...names, ...codes]
          // Sessions that a measurement was not fitted on: everybody's word for them.
          .filter((name) => / held (?!out)/.test(wordsIn(name)))
          .map((name) => `${file}: ${name}`),
      )
    expect(found.filter((one) => !heldOnDisk.includes(one))).toEqual([])
    expect(heldOnDisk.filter((one) => !found.includes(one))).toEqual([])
    // The looking finds what there is.
    expect(parsed.some(({ names, codes }) => names.has('mayTouchHolds') && codes.has('on-hold'))).toBe(true)
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
