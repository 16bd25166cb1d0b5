import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { keeperIn } from '../../../test/memory/memories.ts'
import { memoryText, placeIn, plant, type Planted } from '../../../test/recall/memory-folder.ts'
import { machineFileSystem, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { forget } from '../keeping/forget.ts'
import type { MemoryPlace } from '../memory.ts'
import { FileRanker } from './file-ranker.ts'
import { Lexicon, readingPrint } from './lexicon/terms.ts'
import { folderSource } from './memory-source.ts'
import { MemoryRecall, type RecallQuery } from './recall.ts'
import {
  decodeIndex,
  encodeIndex,
  storedIndexFile,
  type StoredIndex,
  type StoredMemory,
} from './stored-index.ts'

const lexicon = new Lexicon()
const vocabulary =
  'parser lint deploy postgres 数据库 迁移 coffee kite release tokenCount 天气 it_works'.split(' ')
const text = fc
  .array(fc.constantFrom(...vocabulary), { minLength: 1, maxLength: 9 })
  .map((all) => all.join(' '))
const docs = fc.uniqueArray(
  fc.record({ id: fc.string({ minLength: 1, maxLength: 4 }).filter((id) => !id.includes('\n')), text }),
  {
    selector: ({ id }) => id,
    maxLength: 20,
  },
)
const filled = (all: readonly { readonly id: string; readonly text: string }[]): FileRanker => {
  const ranker = new FileRanker(lexicon)
  for (const one of all) ranker.set(one.id, { fields: [{ text: one.text, weight: 2 }], triggers: [one.text] })
  return ranker
}
const storedOf = (ranker: FileRanker): StoredIndex => {
  const { documents, postings } = ranker.stored([...ranker.ids()])
  const memories = documents.map(({ id, triggers }, at): StoredMemory => ({
    file: id,
    sha256: createHash('sha256').update(id).digest('hex'),
    mark: `m${at}`,
    bytes: at,
    modifiedMs: at / 2,
    standing: 'open',
    type: at % 2 === 0 ? 'feedback' : null,
    supersedes: at % 3 === 0 ? ['x.md'] : [],
    expires: at % 5 === 0 ? '2026-01-01' : null,
    triggerWords: triggers,
  }))
  return { memories, postings }
}
const origin = { ledger: 'l', words: 'w', ledgerBytes: 7 }

describe('an index on disk', () => {
  it('[RC42] ranks as the one it was made from, also beside another and after changes', () => {
    fc.assert(
      fc.property(docs, docs, text, fc.nat(), (all, more, query, pick) => {
        const again = new FileRanker(lexicon)
        const others = more.map((one) => ({ ...one, id: `more/${one.id}` }))
        for (const [ranked, under] of [
          [filled(all), ''],
          [filled(more), 'more/'],
        ] as const) {
          const decoded = decodeIndex(encodeIndex(storedOf(ranked), origin), origin)!
          expect(decoded.memories).toEqual(storedOf(ranked).memories)
          const documents = decoded.memories.map(({ file, triggerWords }) => ({
            id: `${under}${file}`,
            triggers: triggerWords,
          }))
          again.adopt({ documents, postings: decoded.postings })
        }
        expect(again.rank(query, 50)).toEqual(filled([...all, ...others]).rank(query, 50))
        const gone = all[pick % Math.max(1, all.length)]?.id
        if (gone === undefined) return
        again.delete(gone)
        again.set('new', { fields: [{ text: query, weight: 1 }] })
        const anew = filled([...all.filter(({ id }) => id !== gone), ...others])
        anew.set('new', { fields: [{ text: query, weight: 1 }] })
        expect(again.rank(query, 50)).toEqual(anew.rank(query, 50))
      }),
    )
  })

  it('[RC43] that is torn, changed anywhere, or made with something else counts as none', () => {
    const bytes = encodeIndex(storedOf(filled([{ id: 'a', text: 'parser lint 天气' }])), origin)
    expect(decodeIndex(bytes, origin)).not.toBeNull()
    for (let at = 0; at < bytes.length; at++) {
      expect(decodeIndex(bytes.subarray(0, at), origin)).toBeNull()
      const flipped = Buffer.from(bytes)
      flipped[at]! ^= 0x11
      expect(decodeIndex(flipped, origin)).toBeNull()
    }
    expect(decodeIndex(bytes, { ...origin, ledger: 'another' })).toBeNull()
    expect(decodeIndex(bytes, { ...origin, words: 'others' })).toBeNull()
  })

  it('[RC43] is made anew when texts are read into other terms: a change of either is a change of both', () => {
    const { words, more } = lexicon.read(
      'The parsers ran twice on 2023-05-08: tokenCount and it_works, naïve cafés, the children’s, installed 数据库迁移。',
    )
    // Other terms here, and the same print: raise `readingVersion` beside it.
    expect([readingPrint(), words.join(' '), more.join(' ')]).toMatchInlineSnapshot(`
      [
        "81d229a9be44e543",
        "parser run twice 2023 may 8 tokencount token count itwork work naiv cafe child instal 数据 据库 库迁 迁移",
        "~fitness ~shell ~security ~work ~meals ~child ~packages ~database ~database ·数 ·据 ·库 ·迁 ·移",
      ]
    `)
  })
})

let folder: string
let place: MemoryPlace
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pal-stored-'))
  place = placeIn(folder)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const notes = (count: number): readonly Planted[] =>
  Array.from({ length: count }, (_, n) => ({
    file: `note-${n}.md`,
    text: memoryText(
      `notes on sienna${n} and teal${n}`,
      `The gearbox of module ${n} is vermilion${n}, its hull ochre${n}.`,
    ),
  }))
const many = notes(defaults.recall.coldFiles + 1)
const ask = (message: string): RecallQuery => ({
  message,
  earlier: [],
  surfaced: new Set(),
  visibleBytes: 0,
  read: new Set(),
  recentTools: [],
})
let unique = 0

/** A process of its own, and which files it opened. */
function process(onOpen: (opened: number) => void = () => {}): {
  readonly recall: MemoryRecall
  readonly opened: string[]
} {
  const opened: string[] = []
  const fs: FileSystem = {
    ...machineFileSystem,
    open: (path, ...how) => {
      if (path.endsWith('.md')) onOpen(opened.push(path.split('/').at(-1)!))
      return machineFileSystem.open(path, ...how)
    },
  }
  const recall = new MemoryRecall({
    sources: [folderSource(fs, place, () => `u${++unique}`)],
    now: () => Date.UTC(2026, 10, 15),
    pause: () => Promise.resolve(),
  })
  return { recall, opened }
}
const signal = new AbortController().signal
const byBody = (n: number) => ask(`is it vermilion${n} or ochre${n}?`)
const quick = async (recall: MemoryRecall, query: RecallQuery) =>
  (await recall.quick(query, false, signal, true)).recalled?.files ?? []

/** Reads everything once, as a session at rest does. */
async function stored(): Promise<void> {
  const { recall } = process()
  await recall.choose(byBody(1), null, signal)
}

describe('the memories of a folder between processes', () => {
  it('[RC42] are ranked by what was read before, and only what is shown is read', async () => {
    await plant(place, many)
    await stored()
    expect((await stat(storedIndexFile(place.state))).mode & 0o777).toBe(0o600)
    const { recall, opened } = process()
    expect(await quick(recall, byBody(77))).toEqual(['note-77.md'])
    expect(opened).toEqual(['note-77.md'])
  })

  it('[RC42] are ranked by their heads where no index is, and their reading is kept however far it came', async () => {
    await plant(place, many)
    const first = process()
    expect(await quick(first.recall, ask('what about sienna142 and teal142?'))).toEqual(['note-142.md'])
    await first.recall.settled()
    const { recall, opened } = process()
    expect(await quick(recall, byBody(142))).toEqual(['note-142.md'])
    expect(opened).toEqual(['note-142.md'])
  })

  it('[RC42] those that an earlier process had not come to are found by the next', async () => {
    const more = notes(defaults.recall.coldFiles + 100)
    await plant(place, more)
    // It ends in the middle: what it had read is kept, the rest it never saw.
    const ending = new AbortController()
    const first = process((opened) => {
      if (opened === defaults.recall.coldFiles + 40) ending.abort()
    })
    await first.recall.index.refresh(ending.signal)
    await first.recall.index.store()
    const unread = [...more.keys()].find((n) => !first.opened.includes(`note-${n}.md`))
    expect(first.opened.length).toBeGreaterThan(defaults.recall.coldFiles)
    const { recall } = process()
    expect(await quick(recall, ask(`what about sienna${unread} and teal${unread}?`))).toEqual([
      `note-${unread}.md`,
    ])
  })

  it('[RC43] one that changed since is read anew, and one that something else changed is not shown', async () => {
    await plant(place, many)
    await stored()
    await plant(place, [
      { file: 'note-5.md', text: memoryText('notes on module 5', 'The mast is cerulean5, the keel umber5.') },
    ])
    await writeFile(
      join(place.root, 'note-9.md'),
      memoryText('notes on module 9', 'The mast is cerulean9, the keel umber9.'),
    )
    const { recall, opened } = process()
    expect(await quick(recall, ask('is it cerulean5 or umber5?'))).toEqual(['note-5.md'])
    expect(new Set(opened)).toEqual(new Set(['note-5.md']))
    expect(await quick(recall, byBody(5))).toEqual([])
    expect(await quick(recall, byBody(9))).toEqual([])
  })

  it('[RC43] the ledger alone says what one is worth: what the index holds of a memory that is data recalls nothing', async () => {
    await plant(place, many)
    await stored()
    await plant(place, [{ ...many[33]!, trust: 'data' }])
    expect(await quick(process().recall, byBody(33))).toEqual([])
  })

  it('[ME12] what is forgotten leaves no word in the index, also where it is written at the same time', async () => {
    const secret = memoryText('the wedding of zacharias', 'Zacharias marries in Rome.')
    await plant(place, [...many, { file: 'wedding.md', text: secret }])
    await stored()
    const path = storedIndexFile(place.state)
    expect(await readFile(path, 'utf8')).toMatch(/zacharia/u)
    // A process that has read everything writes its index after the other has forgotten.
    const { recall } = process()
    await recall.index.refresh(signal)
    const keeper = { ...keeperIn(folder), place }
    expect(await forget(keeper, { file: 'wedding.md' })).toMatchObject({ ok: true })
    await expect(readFile(path)).rejects.toThrow('ENOENT')
    await recall.index.store()
    await expect(readFile(path)).rejects.toThrow('ENOENT')
  })
})
