// What an endpoint offers is declared in a settings file, and nowhere else: the requests show that it is used.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { WireRequest } from '../../src/model/wire.ts'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server } from './pal.ts'

const model = 'claude-sonnet-4-6'
const files = Array.from({ length: 12 }, (_, index) => `part-${index}.txt`)

/** A session that reads twelve files and is asked once more; gives the deletions of each request. */
async function deletionsWith(capabilities: Readonly<Record<string, boolean>> | null) {
  const steps = [...files.map((file) => [call('Read', { file_path: file })]), 'read them all', 'and on']
  const { access, simulator } = await server(steps, { capabilities: { cacheEdits: true } })
  const { pal, project, state } = await openWorkspace(access)
  for (const file of files)
    await writeFile(
      join(project, file),
      Array.from({ length: 80 }, (_, at) => `${file} line ${at}\n`).join(''),
    )
  await mkdir(state, { recursive: true })
  const models = capabilities === null ? [] : [{ id: model, capabilities }]
  await writeFile(join(state, 'settings.json'), JSON.stringify({ model, models, notes: false }))
  for (const words of [
    ['-p', 'read all parts'],
    ['-p', '--continue', 'and now?'],
  ]) {
    const ended = await pal(words)
    expect(ended.err).toBe('')
    expect(ended.code).toBe(0)
  }
  const bodies = simulator.log.requests.map(({ body }) => body as WireRequest)
  expect(bodies).toHaveLength(files.length + 2)
  return bodies.map((body) => (body.cache_edits ?? []).length)
}

describe('capabilities in a settings file', () => {
  it('[G34] switch cache edits on: with a warm cache the server deletes all but the newest five results', async () => {
    const deletions = await deletionsWith({ cacheEdits: true })
    expect(deletions.at(0)).toBe(0)
    expect(deletions.at(-1)).toBe(files.length - 5)
  })

  it('[G34] are what the table says where the file says nothing, or no', async () => {
    expect((await deletionsWith(null)).every((count) => count === 0)).toBe(true)
    expect((await deletionsWith({ cacheEdits: false })).every((count) => count === 0)).toBe(true)
  })
})
