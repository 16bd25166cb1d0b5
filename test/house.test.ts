// The house rules, re-derived from the source at every run so that no lint setting can weaken them:
// imports go down in rank, never up, never sideways; no cycles; small files and functions; a README a folder.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')

const ranks: Record<string, number> = {
  settings: 0,
  disk: 0,
  transcript: 1,
  projection: 2,
  stores: 2,
  memory: 2,
  compaction: 3,
  model: 3,
  request: 4,
  tools: 4,
  engine: 5,
  forks: 6,
  testing: 6,
  preset: 7,
  simulator: 8,
  lab: 9,
  inspector: 9,
  cli: 10,
  index: 11,
}
const limits = { fileLines: 350, functionLines: 80 }
const browserSafe = ['transcript', 'projection']

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  )
}
const sources = filesBelow(src).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
const roomOf = (file: string): string => relative(src, file).split(/[/\\]/)[0]!.replace(/\.ts$/, '')
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
