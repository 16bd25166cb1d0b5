// Wishes of the page to the process that holds a session, as files: nothing that lies there may end that process, and what was
// given up is not done after all.
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import type { Session } from '../../src/engine/session.ts'
import { serveWishes, type WishPorts } from '../../src/inspector/wishes.ts'
import { createEngine, inMemoryStore } from '../../src/index.ts'
import { until } from '../until.ts'

let folder: string
let session: Session
let done: string[]
let ports: WishPorts
const rejected: unknown[] = []
const note = (reason: unknown): void => void rejected.push(reason)

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pal-wishes-'))
  session = await createEngine({ store: inMemoryStore(), modelId: 'claude-sonnet-4-6' }).open()
  done = []
  ports = { fs: machineFileSystem, folder, unique: () => crypto.randomUUID() }
  rejected.length = 0
  process.on('unhandledRejection', note)
})
afterEach(async () => {
  process.off('unhandledRejection', note)
  await session.close()
  await rm(folder, { recursive: true, force: true })
})

const place = (): string => join(folder, session.id)
const serving = (from: WishPorts = ports): (() => void) =>
  serveWishes(
    from,
    () => session,
    (kind, target, effect) => done.push(`${kind} ${target} ${effect.ok ? 'done' : effect.message}`),
  )

it('[IN24] whatever lies among the wishes is refused in words, and the process that holds the session lives on', async () => {
  await mkdir(place(), { recursive: true })
  const texts = ['', '{', 'null', '[]', '{"kind":"undo"}', '{"kind":"constructor","target":1}']
  const wishes = ['undo', 'release', 'pin'].flatMap((kind) =>
    ['-1', '0.5', '1e400', '9007199254740993', '0'].map((target) => `{"kind":"${kind}","target":${target}}`),
  )
  for (const [at, text] of [...texts, ...wishes].entries())
    await writeFile(join(place(), `${String(at).padStart(3, '0')}.wish.json`), text)
  const stop = serving()
  // What is heard is answered after it: nothing may be written there any more when the folder goes.
  await until(async () => {
    const names = await readdir(place())
    return names.length === wishes.length && names.every((name) => name.endsWith('.answer.json'))
  })
  expect(done).toHaveLength(wishes.length)
  stop()
  expect(done.filter((line) => line.endsWith(' done'))).toEqual([])
  expect(rejected).toEqual([])
})

it('[IN24] an error that no verb foresees is an answer', async () => {
  await mkdir(place(), { recursive: true })
  await writeFile(join(place(), 'a.wish.json'), '{"kind":"undo","target":1}')
  const broken = Object.assign(Object.create(session) as Session, {
    undo: () => Promise.reject(new TypeError('broken inside')),
  })
  const stop = serveWishes(
    ports,
    () => broken,
    (kind, target, effect) => done.push(`${kind} ${target} ${effect.ok ? 'done' : effect.message}`),
  )
  await until(async () => (await readdir(place())).includes('a.answer.json') || rejected.length > 0)
  stop()
  expect(rejected).toEqual([])
  expect(done).toEqual(['undo 1 broken inside'])
})

it('[IN24] a wish that was taken away, or cannot be, is not carried out', async () => {
  await mkdir(place(), { recursive: true })
  await writeFile(join(place(), 'a.wish.json'), '{"kind":"undo","target":1}')
  let tries = 0
  const stuck = {
    ...machineFileSystem,
    unlink: async (path: string) => {
      if (path.endsWith('.wish.json') && ++tries < 1000)
        throw Object.assign(new Error('no'), { code: 'EPERM' })
      await machineFileSystem.unlink(path)
    },
  }
  const stop = serving({ ...ports, fs: stuck })
  await until(() => tries >= 2)
  stop()
  expect(done).toEqual([])
})
