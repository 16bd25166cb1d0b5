// The reference of exported names is what the compiler declares, and no function stands in it without a word.
import { readFileSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..', '..')
const folder = join(root, 'docs', 'api')
let pages: ReadonlyMap<string, string>

beforeAll(async () => {
  const script = (await import(pathToFileURL(join(root, 'scripts', 'api.mjs')).href)) as {
    apiPages: () => ReadonlyMap<string, string>
  }
  pages = script.apiPages()
})

describe('docs/api', () => {
  it('[EM6] is current: npm run api writes it anew', () => {
    const written = new Map(
      readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
    )
    expect([...written.keys()].sort()).toEqual([...pages.keys()].sort())
    for (const [name, text] of pages) expect(written.get(name), `${name}: npm run api`).toBe(text)
  })

  it('[EM6] has every name behind each door', async () => {
    for (const [page, door] of Object.entries({
      'palimpsest.md': () => import('../../src/index.ts'),
      'tools.md': () => import('../../src/tools/index.ts'),
      'testing.md': () => import('../../src/testing/index.ts'),
    })) {
      const named = new Set([...pages.get(page)!.matchAll(/^### (\w+)$/gm)].map(([, name]) => name))
      expect(Object.keys(await door()).filter((name) => !named.has(name))).toEqual([])
    }
  })

  it('[EM6] says what every function, class and value is for', () => {
    const silent = [...pages].flatMap(([page, text]) =>
      text
        .split(/^## /m)
        .slice(1)
        .filter((part) => !part.startsWith('Types'))
        .flatMap((part) => [...part.matchAll(/^### (\w+)\n\n```/gm)].map(([, name]) => `${page}: ${name}`)),
    )
    expect(silent).toEqual([])
  })
})
