// The house rules, re-derived from the source at every run so that no lint setting can weaken them:
// imports go down in rank, never up, never sideways; no cycles; small files and functions; a README a folder.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')

const ranks = JSON.parse(readFileSync(join(root, 'scripts', 'ranks.json'), 'utf8')) as Record<string, number>
const limits = { fileLines: 350, functionLines: 80 }
const browserSafe = ['transcript', 'projection', 'fit']
/** A folder that runs in a browser though its room does not, and what it may import of that room. */
const page = { folder: join('src', 'inspector', 'page'), may: ['protocol.ts', 'columns.ts'] }

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  )
}
const sources = filesBelow(src).filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
const roomOf = (file: string): string =>
  relative(src, file)
    .split(/[/\\]/)[0]!
    .replace(/\.tsx?$/, '')
const name = (file: string): string => relative(root, file)

const importPattern =
  /(?:^|\n)\s*(?:import|export)\b[^'"]*?from\s*['"]([^'"]+)['"]|import\s*\(\s*['"]([^'"]+)['"]\s*\)|(?:^|\n)\s*import\s*['"]([^'"]+)['"]/g
function importsOf(file: string): string[] {
  const text = readFileSync(file, 'utf8').replaceAll(/\/\*[\s\S]*?\*\//g, '')
  return [...text.matchAll(importPattern)].map((match) => match[1] ?? match[2] ?? match[3]!)
}
const graph = new Map(
  sources.map((file) => [
    file,
    importsOf(file)
      .filter((target) => target.startsWith('.'))
      .map((target) => resolve(dirname(file), target)),
  ]),
)

describe('the house', () => {
  it('[H21] imports go down in rank, never up and never sideways between rooms', () => {
    const wrong: string[] = []
    for (const [file, targets] of graph) {
      const from = roomOf(file)
      expect(ranks, name(file)).toHaveProperty(from)
      for (const target of targets) {
        const to = roomOf(target)
        if (from !== to && ranks[to]! >= ranks[from]!) wrong.push(`${name(file)} → ${name(target)}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('[H22] the simulator shares shapes with the engine and nothing else', () => {
    const wrong: string[] = []
    for (const [file, targets] of graph) {
      if (roomOf(file) !== 'simulator') continue
      for (const target of targets) {
        if (roomOf(target) !== 'simulator' && name(target) !== join('src', 'model', 'wire.ts'))
          wrong.push(`${name(file)} → ${name(target)}`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('[H23] nothing imports in a circle', () => {
    const circles: string[] = []
    const done = new Set<string>()
    const walk = (file: string, path: readonly string[]): void => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].map(name).join(' → '))
      if (done.has(file) || path.includes(file)) return
      for (const target of graph.get(file) ?? []) walk(target, [...path, file])
      done.add(file)
    }
    for (const file of graph.keys()) walk(file, [])
    expect(circles).toEqual([])
  })

  it('[H24] what runs in a browser asks for no part of Node', () => {
    const wrong = sources.filter(
      (file) =>
        browserSafe.includes(roomOf(file)) && importsOf(file).some((target) => target.startsWith('node:')),
    )
    expect(wrong.map(name)).toEqual([])
    const inPage = (file: string): boolean => name(file).startsWith(page.folder)
    const outside = sources
      .filter(inPage)
      .flatMap((file) =>
        (graph.get(file) ?? []).filter(
          (target) =>
            !inPage(target) && !page.may.some((one) => name(target) === join('src', 'inspector', one)),
        ),
      )
    expect(outside.map(name), 'imported by the page').toEqual([])
  })

  it('[H25] files and functions stay small', () => {
    const wrong: string[] = []
    for (const file of sources) {
      const lines = readFileSync(file, 'utf8').split('\n')
      if (lines.length > limits.fileLines) wrong.push(`${name(file)}: ${lines.length} lines`)
      for (const [start, length] of functionsOf(lines)) {
        if (length > limits.functionLines) wrong.push(`${name(file)}:${start}: a function of ${length} lines`)
      }
    }
    expect(wrong).toEqual([])
  })

  it('[H26] no module keeps state, and nothing is forced or left undone', () => {
    const forbidden =
      /^let |^var |@ts-(ignore|expect-error|nocheck)|\bas any\b|\bas unknown as\b|\bTODO\b|\bFIXME\b/m
    // One place may bridge a generated record of schemas to its precise type.
    const allowed = new Set([join('src', 'transcript', 'fact.ts'), join('src', 'transcript', 'codec.ts')])
    const wrong = sources.filter(
      (file) => !allowed.has(name(file)) && forbidden.test(readFileSync(file, 'utf8')),
    )
    expect(wrong.map(name)).toEqual([])
  })

  it('[H54] no test has a time limit below that of the suite', () => {
    const suite = Number(
      /testTimeout: ([\d_]+)/
        .exec(readFileSync(join(root, 'vitest.config.ts'), 'utf8'))![1]!
        .replaceAll('_', ''),
    )
    expect(suite).toBeGreaterThanOrEqual(300_000)
    const limit =
      /^(?: {2})*\}, ([\d_]{5,})\)$|^ *(?:it|describe).*\{ timeout: ([\d_]+) \}|^ *\{ timeout: ([\d_]+) \},$/gm
    const found = [src, join(root, 'test')]
      .flatMap(filesBelow)
      .filter((file) => file.endsWith('.test.ts'))
      .flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(limit)].map(
          ([, ...ms]) =>
            [name(file), Number(ms.find((one) => one !== undefined)!.replaceAll('_', ''))] as const,
        ),
      )
    expect(found.length).toBeGreaterThan(0)
    expect(found.filter(([, ms]) => ms < suite)).toEqual([])
  })

  it('[H38] the picture in ARCHITECTURE.md shows the ranks and imports as they are', async () => {
    const { picture, shownPicture } = (await import(
      pathToFileURL(join(root, 'scripts', 'picture.mjs')).href
    )) as { picture: () => string; shownPicture: () => string }
    expect(shownPicture(), 'npm run house -- --picture --write').toBe(picture())
  })

  it('[H39] a newcomer finds each of twelve answers by one search', () => {
    const page = readFileSync(join(root, 'docs', 'find-your-way.md'), 'utf8')
    const rows = [...page.matchAll(/^\| .+\? \| `([^`]+)` \| `([^`]+)` \|$/gm)]
    expect(rows.length).toBe(12)
    const texts = sources
      .map((file) => [name(file), readFileSync(file, 'utf8').toLowerCase()] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [, search, answer] of rows) {
      const hits = texts.filter(([, text]) => text.includes(search!.toLowerCase())).map(([file]) => file)
      expect(hits.slice(0, 3), search).toContain(answer)
    }
  })

  it('[H35] files of the repository that a page names exist', () => {
    const pages = [
      ...['README.md', 'CONTRIBUTING.md', 'ARCHITECTURE.md', 'GLOSSARY.md', 'SPEC.md', 'CHANGELOG.md'].map(
        (page) => join(root, page),
      ),
      ...readdirSync(join(root, 'docs'))
        .filter((page) => page.endsWith('.md'))
        .map((page) => join(root, 'docs', page)),
    ]
    const wrong = pages.flatMap((page) =>
      [
        ...readFileSync(page, 'utf8').matchAll(
          /`((?:src|test|bench|scripts|docs|proofs)\/[\w./-]*)(?:#\w+)?`/g,
        ),
      ]
        .map((match) => match[1]!)
        .filter((path) => !existsSync(join(root, path)))
        .map((path) => `${name(page)}: ${path}`),
    )
    expect(wrong).toEqual([])
  })

  it('[H27] every folder says in one sentence what it is for', () => {
    const folders = new Set(sources.map((file) => dirname(file)).filter((folder) => folder !== src))
    const silent = [...folders].filter((folder) => !hasReadme(folder))
    expect(silent.map(name)).toEqual([])
  })
})

function hasReadme(folder: string): boolean {
  try {
    return statSync(join(folder, 'README.md')).size > 10
  } catch {
    return false
  }
}

/** Start line and length of top-level functions and of methods, by indentation: good enough to catch a giant. */
function functionsOf(lines: readonly string[]): [number, number][] {
  const found: [number, number][] = []
  for (const [index, line] of lines.entries()) {
    const indent =
      /^( {0,2})(?:export )?(?:async )?(?:function\b|(?:static |readonly |#|async |\*)*[\w#]+\(.*\{$)/.exec(
        line,
      )
    if (indent === null || !line.trimEnd().endsWith('{')) continue
    const end = lines.findIndex((other, at) => at > index && other.startsWith(`${indent[1]}}`))
    if (end > index) found.push([index + 1, end - index + 1])
  }
  return found
}
