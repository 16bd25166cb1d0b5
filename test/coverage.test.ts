// docs/coverage.md against the rules and the tests: what it names exists, its tests cite its rules, and no rule of the
// pipeline's families is missing from it.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs', 'coverage.md'), 'utf8')
const families = ['K', 'Z', 'L', 'DI', 'Y', 'P', 'C', 'Q', 'X', 'O', 'RS', 'U', 'SN', 'F']

const rows = [...page.matchAll(/^\| ([^|]+) \| ((?:[A-Z]{1,2}\d+(?:, )?)+) \| (.+) \|$/gmu)].map(
  ([, capability, rules, files]) => ({
    capability: capability!,
    rules: rules!.split(', '),
    files: [...files!.matchAll(/`([^`]+)`/gu)].map(([, file]) => file!),
  }),
)

const books = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('SPEC.md'))
  .map((file) => readFileSync(join(root, 'src', file), 'utf8'))
const known = new Set(
  books.flatMap((text) => [...text.matchAll(/^- \*\*([A-Z]{1,2}\d+)\*\*/gmu)].map(([, id]) => id!)),
)

it('[H50] every capability names rules that exist and test files that cite each of them', () => {
  const wrong = rows.flatMap(({ capability, rules, files }) => {
    const missing = files.filter((file) => !existsSync(join(root, file)))
    const texts = files
      .filter((file) => !missing.includes(file))
      .map((file) => readFileSync(join(root, file), 'utf8'))
    const unknown = rules.filter((rule) => !known.has(rule))
    const uncited = rules.filter((rule) => !texts.some((text) => text.includes(`[${rule}]`)))
    const idle = files.filter((_, at) => !rules.some((rule) => texts[at]?.includes(`[${rule}]`) === true))
    return [...missing, ...unknown, ...uncited, ...idle].map((one) => `${capability}: ${one}`)
  })
  expect(wrong).toEqual([])
  expect(rows.length).toBeGreaterThan(50)
})

it('[H50] every rule of the pipeline stands in the page', () => {
  const named = new Set(rows.flatMap(({ rules }) => rules))
  const left = [...known].filter((rule) => families.includes(rule.replace(/\d+$/u, '')) && !named.has(rule))
  expect(left, 'rules to name in docs/coverage.md').toEqual([])
})

it('[H50] what is different on purpose has a reason', () => {
  const different = page.slice(page.indexOf('## Different on purpose'))
  const lines = [...different.matchAll(/^\| (?!what one|---)(.+) \|$/gmu)].map(([, line]) =>
    line!.split(' | '),
  )
  expect(lines.length).toBeGreaterThan(10)
  expect(lines.filter((cells) => cells.length !== 3 || cells.some((cell) => cell.trim() === ''))).toEqual([])
})
