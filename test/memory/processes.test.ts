// Many processes change one memory at the same time, and nothing is lost.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { listMemories } from '../../src/memory/files.ts'
import { Ledger } from '../../src/memory/keeping/ledger.ts'
import { exited, program } from '../faults/child.ts'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { folder } from './folder.ts'
import { placeIn } from './memories.ts'

const writers = 8
const updates = 200

it('[ME1] 8 processes with 200 updates each lose none', async () => {
  const base = await folder()
  const writer = await program('../memory/writer.ts')
  onTestFinished(() => writer.remove())
  const names = Array.from({ length: writers }, (_, i) => `writer${i}`)
  const codes = await Promise.all(names.map((name) => exited(writer.run(base, name, String(updates)))))
  expect(codes).toEqual(names.map(() => 0))
  const place = placeIn(base)
  const texts = await Promise.all(
    ['shared', ...names].map((name) => readFile(join(place.root, `${name}.md`), 'utf8')),
  )
  const lines = new Set(
    texts.flatMap((text) => text.split('\n').filter((line) => line.startsWith('- writer'))),
  )
  expect(lines.size).toBe(writers * updates)
  const ledger = new Ledger(machineFileSystem, place)
  expect(await ledger.refresh()).toEqual({ ok: true })
  expect(ledger.damaged).toBe(0)
  expect(ledger.records()).toHaveLength(writers * updates)
  const listed = await listMemories(machineFileSystem, place)
  expect(listed.ok && listed.memories.map(({ standing }) => standing)).toEqual(
    Array(writers + 1).fill('open'),
  )
  const index = await readFile(join(place.root, 'MEMORY.md'), 'utf8')
  expect(index.match(/^- \[/gm)).toHaveLength(writers + 1)
})
