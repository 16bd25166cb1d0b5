// Vectors beside words, over HTTP and from a package: what is sent, what is kept, and what happens where nothing answers.
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { forget } from '../../src/memory/keeping/forget.ts'
import { httpEncoder, packagedEncoder, packagedNames } from '../../src/memory/recall/encoders.ts'
import { decodeVectors, encodeVectors, storedVectorsFile } from '../../src/memory/recall/stored-index.ts'
import { folderSource } from '../../src/memory/recall/memory-source.ts'
import { MemoryRecall } from '../../src/memory/recall/recall.ts'
import { cosine } from '../../src/memory/recall/vectors.ts'
import { projectOf } from '../../src/preset/project.ts'
import { openWorkspace, server } from '../cli/pal.ts'
import { folder, later } from '../e2e/simulated.ts'
import { keeperIn } from '../memory/memories.ts'
import { memoryText, placeIn, plant, type Planted } from './memory-folder.ts'

interface Asked {
  readonly path: string | undefined
  readonly key: string | undefined
  readonly model: string
  readonly input: readonly string[]
}

/** An endpoint that knows two subjects: what is eaten, and everything else. Answers out of order, as servers may. */
async function endpoint(answer?: (response: http.ServerResponse) => void) {
  const asked: Asked[] = []
  const listening = http.createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString('utf8')))
    request.on('end', () => {
      const { model, input } = JSON.parse(body) as { model: string; input: readonly string[] }
      asked.push({ path: request.url, key: request.headers.authorization, model, input })
      if (answer !== undefined) return answer(response)
      const data = input.map((text, index) => ({
        index,
        embedding: /peanut|lunch/iu.test(text) ? [3, 0.1] : [0.1, 2],
      }))
      response.end(JSON.stringify({ object: 'list', data: data.toReversed() }))
    })
  })
  await new Promise<void>((resolve) => listening.listen(0, '127.0.0.1', resolve))
  later(() => new Promise<void>((resolve) => void listening.close(() => resolve())))
  return { asked, url: `http://127.0.0.1:${(listening.address() as AddressInfo).port}/v1` }
}

const signal = new AbortController().signal
const encoderAt = (url: string) => httpEncoder({ url, model: 'm', key: 'k', fetch: globalThis.fetch })

const isInstalled = await import(packagedNames[1]).then(
  () => true,
  () => false,
)

describe('an encoder', () => {
  it('[RC44] of any OpenAI-compatible endpoint is asked in its form, and its vectors are put in order', async () => {
    const { asked, url } = await endpoint()
    const made = await encoderAt(`${url}/`).embed(['lunch', '', 'x'.repeat(9000)], signal)
    expect(made).toEqual({
      ok: true,
      vectors: [
        [3, 0.1],
        [0.1, 2],
        [0.1, 2],
      ].map((vector) => Float32Array.from(vector)),
    })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatchObject({ path: '/v1/embeddings', key: 'Bearer k', model: 'm' })
    expect(asked[0]!.input.map(({ length }) => length)).toEqual([5, 1, 2000])
  })

  it.each<[string, (response: http.ServerResponse) => void]>([
    ['an error', (response) => response.writeHead(500).end('no such model')],
    ['no JSON', (response) => response.end('<html>')],
    ['too few', (response) => response.end('{"data":[]}')],
    ['no numbers', (response) => response.end('{"data":[{"embedding":["a"]}]}')],
    ['a redirect', (response) => response.writeHead(307, { location: 'http://192.0.2.1/' }).end()],
    ['a cut', (response) => response.destroy()],
  ])(
    '[RC44] an endpoint that answers with %s leaves the choice to the words and is said',
    async (_, answer) => {
      const { url } = await endpoint(answer)
      const made = await encoderAt(url).embed(['a'], signal)
      expect(made).toMatchObject({
        ok: false,
        why: expect.stringContaining('Recall goes on with words alone'),
      })
    },
  )

  it('[RC44] of a package that is not installed says how to get it', async () => {
    const none = packagedEncoder(() => Promise.reject(new Error('Cannot find package')))
    expect(await none.embed(['a'], signal)).toMatchObject({
      ok: false,
      why: expect.stringContaining(`npm install ${packagedNames[0]}`),
    })
  })

  it.skipIf(!isInstalled)(
    `[RC44] of the package works offline (skipped where ${packagedNames[1]} is not installed)`,
    async () => {
      const encoder = packagedEncoder((name) => import(name))
      const made = await encoder.embed(
        [
          'The user is allergic to peanuts.',
          'What could we eat for lunch?',
          'The build fails on the linker.',
        ],
        signal,
      )
      if (!made.ok) throw new Error(made.why)
      const [nuts, lunch, build] = made.vectors
      expect(cosine(lunch!, nuts!)).toBeGreaterThan(cosine(lunch!, build!))
    },
    120_000,
  )

  it('[RC45] keeps its vectors beside the index: a later process asks for the message and what is new alone', async () => {
    const base = await folder()
    const keeper = keeperIn(base)
    const { place } = keeper
    const planted: readonly Planted[] = [
      { file: 'nuts.md', text: memoryText('an allergy', 'Peanuts are dangerous for her.') },
      { file: 'linker.md', text: memoryText('the linker', 'Pass the flag.') },
    ]
    await plant(place, planted)
    const { asked, url } = await endpoint()
    let unique = 0
    const recall = () =>
      new MemoryRecall({
        sources: [folderSource(machineFileSystem, place, () => `v${++unique}`)],
        now: () => Date.now(),
        pause: () => Promise.resolve(),
        embedder: encoderAt(url),
      })
    const ask = (message: string) => ({
      message,
      earlier: [],
      surfaced: new Set<string>(),
      visibleBytes: 0,
      read: new Set<string>(),
      recentTools: [],
    })
    const quick = async (message: string) => {
      const memories = recall()
      const { recalled } = await memories.quick(ask(message), false, signal, true)
      await memories.settled()
      return recalled?.files
    }
    expect(await quick('where do we go for lunch?')).toEqual(['nuts.md'])
    expect(asked.map(({ input }) => input.length)).toEqual([3])
    expect((await stat(storedVectorsFile(place.state))).mode & 0o777).toBe(0o600)
    expect(await quick('is lunch on Friday?')).toEqual(['nuts.md'])
    await plant(place, [{ file: 'nuts.md', text: memoryText('an allergy', 'Peanuts, and walnuts too.') }])
    expect(await quick('any lunch today?')).toEqual(['nuts.md'])
    expect(asked.map(({ input }) => input.length)).toEqual([3, 1, 2])
    expect(await forget(keeper, { file: 'nuts.md' })).toMatchObject({ ok: true })
    await expect(readFile(storedVectorsFile(place.state))).rejects.toThrow('ENOENT')
  })

  it('[RC45] vectors of another encoder or ledger, or of a file that is torn, count as none', () => {
    const sha = 'ab'.repeat(32)
    const origin = { ledger: 'l', encoder: 'e' }
    const bytes = encodeVectors(new Map([[sha, Float32Array.from([0.5, -1, 0])]]), origin)
    const read = decodeVectors(bytes, origin).get(sha)!
    expect(cosine(read, Float32Array.from([0.5, -1, 0]))).toBeGreaterThan(0.999)
    expect(decodeVectors(bytes, { ...origin, encoder: 'f' }).size).toBe(0)
    expect(decodeVectors(bytes, { ...origin, ledger: 'm' }).size).toBe(0)
    for (let at = 0; at < bytes.length; at++) {
      const flipped = Buffer.from(bytes)
      flipped[at]! ^= 0x11
      expect(decodeVectors(flipped, origin).size).toBe(0)
      expect(decodeVectors(bytes.subarray(0, at), origin).size).toBe(0)
    }
  })

  it('[RC46] in pal finds what shares no word, and nothing is sent anywhere unless the user’s own settings say so', async () => {
    const at = await openWorkspace()
    const found = await projectOf(machineFileSystem, at.project)
    if (!found.ok) throw new Error(found.failure.message)
    const own = join(at.state, 'projects', found.project.slug)
    const place = { ...placeIn(own), root: join(own, 'memory'), state: join(own, 'memory-state') }
    await plant(place, [
      { file: 'nuts.md', text: memoryText('an allergy', 'Peanuts are dangerous for her.') },
    ])
    const { asked, url } = await endpoint()
    await mkdir(join(at.project, '.palimpsest'))
    await writeFile(join(at.project, '.palimpsest', 'settings.json'), JSON.stringify({ recallEncoder: url }))
    const { access, simulator } = await server(['One.', 'Two.'])
    const words = ['-p', 'where could we have lunch on Friday?']
    const plain = await at.pal([...words, '--trust'], { environment: { ...access } })
    expect(plain.code).toBe(0)
    expect(plain.err).toContain('recallEncoder')
    expect(asked).toEqual([])
    expect(JSON.stringify(simulator.log.last()?.body)).not.toContain('Peanuts')
    const named = { ...access, PALIMPSEST_RECALL_ENCODER: url, PALIMPSEST_RECALL_ENCODER_MODEL: 'small' }
    expect((await at.pal(words, { environment: named })).code).toBe(0)
    expect(asked[0]).toMatchObject({ model: 'small', key: undefined })
    expect(JSON.stringify(simulator.log.last()?.body)).toContain('Peanuts')
  })
})
