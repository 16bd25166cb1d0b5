// docs/gateway-checks.md against the tests it names.
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..', '..')

it('every test that docs/gateway-checks.md names exists under that name', () => {
  const page = readFileSync(join(root, 'docs', 'gateway-checks.md'), 'utf8')
  const named = [...page.matchAll(/`([\w./-]+\.test\.ts)` “([^”]+)”/gu)]
  const rows = page.match(/^\|.*\.test\.ts.*\|$/gmu) ?? []
  expect(named.length).toBeGreaterThan(40)
  expect(named).toHaveLength(rows.length)
  const missing = named.filter(([, file, name]) => {
    const path = join(root, file!)
    return !existsSync(path) || !readFileSync(path, 'utf8').includes(name!)
  })
  expect(missing.map(([all]) => all)).toEqual([])
})
