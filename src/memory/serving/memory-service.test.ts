// The gate before served memories: every surface that reads, called by callers who see other scopes.
import * as fc from 'fast-check'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folder } from '../../../test/memory/folder.ts'
import { keeperOptions } from '../../../test/memory/memories.ts'
import { memoryText, plant } from '../../../test/recall/memory-folder.ts'
import { openFolderStore, type FolderStore } from '../keeping/folder-store.ts'
import type { MemoryScope } from '../memory.ts'
import { MemoryService, type Caller } from './memory-service.ts'

const scopes = ['user', 'project', 'team'] as const
const standings = ['open', 'fenced', 'held'] as const
type Standing = (typeof standings)[number]
const trustOf = { open: 'user', fenced: 'data', held: null } as const

/** What only the text of that memory says. */
const markOf = (scope: MemoryScope, standing: Standing): string => `mark-${scope}-${standing}-x`

async function storesIn(base: string): Promise<readonly FolderStore[]> {
  const places = scopes.map((scope) => ({
    scope,
    root: join(base, scope),
    state: join(base, `${scope}-state`),
  }))
  for (const place of places)
    await plant(
      place,
      standings.map((standing) => ({
        file: `${standing}.md`,
        text: memoryText(
          `the zebra ${markOf(place.scope, standing)}`,
          `About the zebra: ${markOf(place.scope, standing)}.`,
        ),
        trust: trustOf[standing],
      })),
    )
  return places.map((place) => openFolderStore(place, keeperOptions()))
}

const serviceFor = (stores: readonly FolderStore[], caller: Caller): MemoryService =>
  new MemoryService({
    stores,
    caller,
    confirm: null,
    writes: { at: [] },
    now: () => Date.UTC(2026, 10, 16),
    typed: () => Promise.resolve({ session: 's', text: 'zebra mark-session' }),
    waiting: () => Promise.resolve(0),
    savedSince: () => Promise.resolve(0),
    forget: () => Promise.resolve(null),
    around: () => Promise.resolve({ ok: true, text: 'mark-session' }),
    kept: () => Promise.resolve({ ok: true, text: 'mark-session' }),
    newest: () => Promise.resolve('mark-session'),
  })

type Surface = (service: MemoryService, scope: MemoryScope, standing: Standing) => Promise<string>
const said = async (answer: Promise<{ readonly text: string }>): Promise<string> => (await answer).text
const hash = 'a'.repeat(64)

/** Every method that reads; one that is added has to be added here. */
const surfaces: Readonly<Record<string, readonly Surface[]>> = {
  search: [
    (one) => said(one.search({ query: 'zebra' })),
    (one, scope) => said(one.search({ query: 'zebra', scope })),
    (one, scope, standing) => said(one.search({ query: markOf(scope, standing), limit: 10 })),
  ],
  open: [
    (one, scope, standing) => said(one.open({ name: `${scope}/${standing}.md` })),
    (one, scope, standing) => said(one.open({ name: `${scope}/${standing}` })),
    (one, _, standing) => said(one.open({ name: standing })),
    (one, scope, standing) => said(one.open({ name: `../${scope}/${standing}.md` })),
    (one, scope, standing) => said(one.open({ name: `user/../${scope}/${standing}.md` })),
    (one, scope, standing) => said(one.open({ name: `${scope}//${standing}.md` })),
  ],
  forget: [(one, scope, standing) => said(one.forget({ name: `${scope}/${standing}.md`, base: hash }))],
  remember: [
    (one, _, standing) =>
      said(
        one.remember({
          name: standing,
          text: 'x',
          description: 'x',
          type: 'project',
          base: hash,
          quote: 'zebra',
        }),
      ),
  ],
  expand: [
    (one) => said(one.expand({ ref: 's:1' })),
    (one) => said(one.expand({ ref: hash })),
    (one) => said(one.expand({ ref: `kept://${hash}`, offset: 3 })),
  ],
  resume: [(one) => said(one.resume())],
  titles: [(one) => one.titles(4000)],
}

it('[MS5] for any caller, memory and surface nothing is shown that the caller may not see', async () => {
  const stores = await storesIn(await folder())
  const methods = Object.getOwnPropertyNames(MemoryService.prototype).filter((name) => name !== 'constructor')
  expect(Object.keys(surfaces).toSorted()).toEqual(methods.toSorted())
  const every = Object.values(surfaces).flat()
  const counted = { cases: 0, foreign: 0, shown: 0 }
  const leaks: string[] = []
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.constantFrom(...scopes)),
      fc.constantFrom(...every),
      fc.constantFrom(...scopes),
      fc.constantFrom(...standings),
      async (seen, surface, scope, standing) => {
        const caller: Caller = { name: 'other', scopes: new Set(seen) }
        const text = await surface(serviceFor(stores, caller), scope, standing)
        counted.cases++
        const maySee = (one: MemoryScope, how: Standing): boolean =>
          seen.some((mine) => mine === one) && how !== 'held'
        if (!maySee(scope, standing)) counted.foreign++
        for (const one of scopes)
          for (const how of standings) {
            const mark = markOf(one, how)
            if (!text.includes(`${mark}.`) && !text.includes(`zebra ${mark}`)) continue
            counted.shown++
            if (!maySee(one, how)) leaks.push(`${mark} to ${seen.join(' ')}: ${surface.toString()}`)
          }
        if (text.includes('mark-session') && !seen.includes('project')) leaks.push(surface.toString())
      },
    ),
    { numRuns: 400 },
  )
  expect(leaks).toEqual([])
  expect(counted.foreign).toBeGreaterThan(0.4 * counted.cases)
  expect(counted.shown).toBeGreaterThan(0.1 * counted.cases)
})
