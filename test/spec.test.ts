// The rules and the tests that cite them, compared: a rule that no test cites is a promise nobody keeps, and a test
// that cites no rule tests something nobody promised.
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const ruleLine = /^- \*\*([A-Z]{1,2}\d+)\*\* \S/gm
// In a test's name, or as the rule of a case in a table or a contract suite.
const citation = /\[([A-Z]{1,2}\d+)\]|\brule: '([A-Z]{1,2}\d+)'/g

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  )
}

// Each room has its rules beside its code; the page at the root says where.
const books = [join(root, 'src'), join(root, 'test')]
  .flatMap(filesBelow)
  .filter((file) => basename(file) === 'SPEC.md')
const index = readFileSync(join(root, 'SPEC.md'), 'utf8')
const rulesIn = (text: string): string[] => [...text.matchAll(ruleLine)].map((match) => match[1]!)
const rules = [...books.flatMap((file) => rulesIn(readFileSync(file, 'utf8'))), ...rulesIn(index)]
const tests = [join(root, 'src'), join(root, 'test')]
  .flatMap(filesBelow)
  .filter((file) => file.endsWith('.test.ts') || file.endsWith('-contract.ts'))
const cited = new Set(
  tests.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(citation)].map((match) => match[1] ?? match[2]!),
  ),
)

describe('the rule book', () => {
  it('[H28] names each rule once', () => {
    expect(rules.filter((rule, index) => rules.indexOf(rule) !== index)).toEqual([])
  })

  it('[H28] is found from the page at the root, with the families of ids that each book holds', () => {
    const rows = new Map(
      [...index.matchAll(/^\| \[[^\]]+\]\(([^)]+)\) \|.*\| ([A-Z ]+) \|$/gm)].map((row) => [
        row[1]!,
        row[2]!,
      ]),
    )
    expect(rulesIn(index), 'rules stand in the book of their room').toEqual([])
    expect([...rows.keys()].sort()).toEqual(books.map((file) => relative(root, file)).sort())
    for (const file of books) {
      const families = rulesIn(readFileSync(file, 'utf8')).map((rule) => rule.replace(/\d+$/, ''))
      expect([...new Set(families)].sort(), file).toEqual(rows.get(relative(root, file))!.split(' ').sort())
    }
  })

  it('[H28] has every rule cited by a test', () => {
    expect(rules.filter((rule) => !cited.has(rule))).toEqual([])
  })

  it('[H28] has every rule that a test cites', () => {
    expect([...cited].filter((rule) => !rules.includes(rule)).sort()).toEqual([])
  })
})
