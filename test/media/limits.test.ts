// Media over HTTP against the limits of the provider: real files, refused as the provider refuses them. A picture that
// cannot be sent never ends a session.
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createEngine, fileStore, inMemoryStore, type EngineOptions, type Session } from '../../src/index.ts'
import { modelTable } from '../../src/model/models.ts'
import { call } from '../../src/simulator/index.ts'
import { expandTool } from '../../src/tools/context.ts'
import type { Tool } from '../../src/tools/tool.ts'
import type { UserBlock } from '../../src/transcript/content.ts'
import {
  factsOf,
  folder,
  modelId,
  refusals,
  simulated,
  turn,
  words,
  type SimulatedApi,
} from '../e2e/simulated.ts'
import { documentBlock, imageBlock, jpeg, largePng, pdf, png } from '../media-bytes.ts'

const small = 'claude-haiku-4-5'

async function opened(api: SimulatedApi, options: Partial<EngineOptions> = {}): Promise<Session> {
  return createEngine({ store: inMemoryStore(), modelId, model: api.model, ...options }).open()
}

/** What the last request carried: its media by type, and all of its text. */
function lastSent({ simulator }: SimulatedApi) {
  const body = simulator.log.requests.at(-1)!.body as { messages: { content: unknown }[] }
  const json = JSON.stringify(body.messages)
  return {
    images: json.match(/"type":"image"/g)?.length ?? 0,
    documents: json.match(/"type":"document"/g)?.length ?? 0,
    text: json.replaceAll(/"data":"[^"]*"/g, ''),
    json,
  }
}

const shows = (name: string, content: () => readonly UserBlock[]): Tool => ({
  spec: { name, description: `does ${name}`, input_schema: { type: 'object', properties: {} } },
  policy: { readOnly: true, results: 'keep', maxResultChars: null },
  parse: (input) => ({ ok: true, input }),
  run: () => Promise.resolve({ content: content(), isError: false }),
})

describe('limits that are known', () => {
  it('[C20] a picture with too long a side is named in its place, and the session goes on', async () => {
    const api = await simulated([[call('Shot', {})], 'seen', 'on'])
    const tools = [shows('Shot', () => [{ type: 'text', text: 'here' }, imageBlock(png(9000, 50))])]
    const session = await opened(api, { tools })
    expect((await turn(session.send('look'))).outcome).toBe('done')
    expect((await turn(session.send('and on'))).outcome).toBe('done')
    expect(refusals(api)).toEqual([])
    expect(lastSent(api).text).toMatch(
      /\[png image, 9000×50, \d+ (bytes|KB): not sent, a side above 8000 pixels.* Expand .{5,30} returns it/,
    )
  })

  it('[C20] beside many pictures a wide one goes, and too large a file goes alone', async () => {
    const api = await simulated(['one', 'two', 'three'])
    const session = await opened(api)
    await turn(session.send([{ type: 'text', text: 'wide' }, imageBlock(png(2162, 322))]))
    const many = Array.from({ length: 20 }, (_, index) => imageBlock(png(40, 40, index)))
    expect((await turn(session.send([{ type: 'text', text: 'many' }, ...many]))).outcome).toBe('done')
    expect(lastSent(api).images).toBe(20)
    const huge = imageBlock(largePng(100, 100, 5_500_000))
    expect((await turn(session.send([{ type: 'text', text: 'huge' }, huge]))).outcome).toBe('done')
    expect(lastSent(api).text).toMatch(/png image, 100×100, 5\.2 MB: not sent, images above 3\.8 MB/)
    expect(refusals(api)).toEqual([])
  })

  it('[C20] above the count the oldest go, with some to spare, and the newest stay', async () => {
    const api = await simulated(['a', 'b', 'c', 'd'])
    const session = await opened(api, { modelId: small, window: 1_000_000 })
    const batch = (from: number, count: number): readonly UserBlock[] => [
      { type: 'text', text: 'more' },
      ...Array.from({ length: count }, (_, index) => imageBlock(png(30, 30, from + index))),
    ]
    await turn(session.send(batch(0, 90)))
    await turn(session.send(batch(90, 20)))
    expect(lastSent(api).images).toBe(75)
    // The last of all is among them.
    expect(lastSent(api).json).toContain(png(30, 30, 109).toString('base64'))
    expect(lastSent(api).json).not.toContain(`"${png(30, 30, 0).toString('base64')}"`)
    const edits = session.view().changedFrom
    await turn(session.send(batch(110, 10)))
    expect(lastSent(api).images).toBe(85)
    expect(edits).toBeDefined()
    expect(refusals(api)).toEqual([])
  })

  it('[C20] a request stays within its bytes, oldest first, and a limit is data of a model', async () => {
    const api = await simulated(['a', 'b', 'c'], { maxBodyBytes: 400_000 })
    const models = modelTable([{ id: modelId, media: { requestBytes: 390_000 } }])
    const session = await opened(api, { models })
    for (const seed of [1, 2, 3]) {
      const picture = imageBlock(largePng(50, 50, 120_000, seed))
      const ended = await turn(session.send([{ type: 'text', text: `picture ${seed}` }, picture]))
      expect(ended.outcome).toBe('done')
    }
    expect(refusals(api)).toEqual([])
    expect(lastSent(api).json).toContain(largePng(50, 50, 120_000, 3).toString('base64'))
    expect(lastSent(api).text).toContain('picture 1')
  })
})

describe('refusals', () => {
  it('[E30] a cut picture is replaced where the provider names none, and the request is sent once more', async () => {
    const api = await simulated(['good', [call('Shot', {})], 'seen', 'on'])
    const whole = png(300, 300)
    const tools = [shows('Shot', () => [imageBlock(whole.subarray(0, whole.length - 30))])]
    const session = await opened(api, { tools })
    await turn(session.send([{ type: 'text', text: 'good one' }, imageBlock(jpeg(64, 64), 'image/jpeg')]))
    const ended = await turn(session.send('look'))
    expect(refusals(api)).toEqual(['Could not process image'])
    expect(ended.outcome).toBe('done')
    expect(ended.notices).toContain('media-replaced')
    expect(lastSent(api).images).toBe(1)
    expect((await turn(session.send('and on'))).outcome).toBe('done')
    expect(refusals(api).length).toBe(1)
  })

  it('[E30] the block that a refusal names is replaced, inside a result too', async () => {
    const message =
      'messages.2.content.0.tool_result.content.1.image.source.base64.data: The image is not valid'
    const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
    const api = await simulated([[call('Shot', {})], 'seen'], { faults: [{ at: 2, fault }] })
    const tools = [
      shows('Shot', () => [
        imageBlock(png(20, 20, 1)),
        imageBlock(png(600, 20, 2)),
        imageBlock(png(20, 20, 3)),
      ]),
    ]
    const session = await opened(api, { tools })
    expect((await turn(session.send('look'))).outcome).toBe('done')
    const sent = lastSent(api)
    expect(sent.images).toBe(2)
    expect(sent.json).not.toContain(png(600, 20, 2).toString('base64'))
    expect(sent.text).toMatch(/png image, 600×20, .*the provider refused it \(The image is not valid\)/)
  })

  it('[E31] a refusal for bytes takes media and no words, and is not read as one for tokens', async () => {
    const api = await simulated(['a', 'b', 'c', 'd', 'e', 'f'], { maxBodyBytes: 500_000 })
    const session = await opened(api)
    for (const word of ['first', 'second', 'third', 'fourth']) await turn(session.send(`the ${word} word`))
    const three = [1, 2, 3].map((seed) => imageBlock(largePng(50, 50, 150_000, seed)))
    const ended = await turn(session.send([{ type: 'text', text: 'LASTWORDS' }, ...three]))
    expect(ended.outcome).toBe('done')
    const sent = lastSent(api)
    for (const word of ['first', 'second', 'third', 'fourth', 'LASTWORDS']) expect(sent.text).toContain(word)
    expect(sent.images).toBe(1)
  })

  it('[E32] a prompt too long because of a document loses the document and keeps every word', async () => {
    const message = 'prompt is too long: 330000 tokens > 200000 maximum'
    const fault = { kind: 'status', status: 400, type: 'invalid_request_error', message } as const
    const holds = ({ body }: { body: unknown }): boolean => JSON.stringify(body).includes('"document"')
    const api = await simulated(['one', 'two', 'three', 'four'], { faults: [{ at: holds, fault }] })
    const session = await opened(api, { modelId: small })
    for (const word of ['first', 'second', 'third']) await turn(session.send(`the ${word} word`))
    const ended = await turn(
      session.send([
        { type: 'text', text: 'LASTWORDS list the termination clauses' },
        documentBlock(pdf(30)),
      ]),
    )
    expect(ended.outcome).toBe('done')
    const sent = lastSent(api)
    expect(sent.documents).toBe(0)
    for (const word of ['first', 'second', 'third', 'LASTWORDS']) expect(sent.text).toContain(word)
    expect(sent.text).toMatch(/pdf document, 30 pages, .*the prompt was too long with it/)
  })
})

describe('bringing back', () => {
  it('[C21] Expand shows a picture that was replaced, and its bytes lie beside the session once', async () => {
    const root = await folder()
    const store = fileStore({ root })
    const picture = largePng(1200, 800, 20_000, 7)
    const models = modelTable([{ id: modelId, media: { count: 2 } }])
    const steps = ['noted', 'more', 'again', [call('Expand', { ref: '2.1' })], 'seen', 'later']
    const api = await simulated(steps)
    const options = { store, models, tools: [expandTool()] }
    const session = await opened(api, options)
    await turn(session.send([{ type: 'text', text: 'the mock-up' }, imageBlock(picture)]))
    for (const seed of [1, 2])
      await turn(session.send([{ type: 'text', text: 'other' }, imageBlock(largePng(1000, 900, 9000, seed))]))
    expect(lastSent(api).json).not.toContain(picture.toString('base64'))
    expect(lastSent(api).text).toMatch(
      /png image, 1200×800, .*a request may hold 2 images.* Expand .{8,12}2\.1.{3,5} returns it/,
    )
    expect((await turn(session.send('show me the first again'))).outcome).toBe('done')
    expect(lastSent(api).json).toContain(picture.toString('base64'))
    await session.close()
    const facts = await factsOf(store, session.id)
    expect(JSON.stringify(facts).includes(picture.toString('base64').slice(0, 200))).toBe(false)
    const files = (await readdir(root, { recursive: true })).filter((name) => name.includes('media-'))
    expect(files.length).toBe(3)
    // Opened again, the same bytes are sent.
    const again = await createEngine({ modelId, model: api.model, ...options }).open(session.id)
    const before = lastSent(api).json
    expect((await turn(again.send('and later'))).outcome).toBe('done')
    expect(lastSent(api).json.startsWith(before.slice(0, 5000))).toBe(true)
    expect(lastSent(api).json).toContain(picture.toString('base64'))
    expect(refusals(api)).toEqual([])
    await again.close()
  })

  it('[Z24] a kept picture or text that was changed since is not shown for the one that was kept', async () => {
    const root = await folder()
    const store = fileStore({ root })
    const picture = largePng(1200, 800, 20_000, 7)
    const long = `BEGIN ${'lorem ipsum '.repeat(400_000)} END`
    let ref = ''
    const steps = ['noted', 'read', 'on', () => [call('Expand', { ref })], 'seen']
    const api = await simulated(steps)
    const options = { store, tools: [expandTool()] }
    const session = await opened(api, options)
    await turn(session.send([{ type: 'text', text: 'the mock-up' }, imageBlock(picture)]))
    await turn(session.send(long))
    await session.close()
    const kept = join(root, session.id, 'tool-results')
    const names = await readdir(kept)
    const [image, text] = ['media-', 'text-'].map((kind) => names.find((name) => name.startsWith(kind))!)
    const other = largePng(1200, 800, 20_000, 8)
    await writeFile(join(kept, image!), other)
    await writeFile(join(kept, text!), long.replace('lorem', 'LOREM'))
    ref = text!.replace('.txt', '')
    const again = await createEngine({ modelId, model: api.model, ...options }).open(session.id)
    await turn(again.send('and now?'))
    expect(lastSent(api).json).not.toContain(other.toString('base64'))
    expect(lastSent(api).text).toMatch(/png image, 1200×800, [^\]]*its file could not be read/)
    await turn(again.send('expand it'))
    expect(lastSent(api).text).not.toContain('LOREM')
    expect(lastSent(api).text).toContain('was changed since')
    await again.close()
  })

  it('[C22] the same picture is sent once, whoever shows it again', async () => {
    const api = await simulated(['one', [call('Shot', {})], 'two'])
    const picture = largePng(900, 900, 20_000, 3)
    const tools = [shows('Shot', () => [imageBlock(picture)])]
    const session = await opened(api, { tools })
    await turn(session.send([{ type: 'text', text: 'look' }, imageBlock(picture)]))
    await turn(session.send('take a shot'))
    expect(lastSent(api).images).toBe(1)
    expect(lastSent(api).text).toMatch(/png image, 900×900, .*the same is shown above and is sent once/)
  })

  it('[E33] taking a replacement back is refused with the reason where it could not be sent', async () => {
    const api = await simulated(['one', 'two'])
    const session = await opened(api)
    await turn(session.send([{ type: 'text', text: 'look' }, imageBlock(png(9000, 40))]))
    const [row] = await session.edits()
    await expect(session.undo(row!.seq)).rejects.toMatchObject({
      message: expect.stringMatching(/a side above 8000 pixels/) as string,
    })
  })
})

describe('compaction', () => {
  it('[O35] names what leaves by kind, size and ref, also what had been replaced, and over a second one', async () => {
    const steps = Array.from({ length: 16 }, (_, index) => `answer ${index}`)
    const api = await simulated(steps)
    const session = await opened(api, { tools: [expandTool()] })
    const mockUp = imageBlock(png(640, 480, 5))
    await turn(session.send([{ type: 'text', text: 'Here is the mock-up; keep its colours.' }, mockUp]))
    await turn(session.send([{ type: 'text', text: 'and a wide one' }, imageBlock(png(9000, 40))]))
    const more = async (): Promise<void> => {
      for (let index = 0; index < 6; index++) await turn(session.send(words(1500, `word${index}`)))
    }
    await more()
    for (let round = 0; round < 2; round++) {
      await session.compact()
      expect((await turn(session.send('go on'))).outcome).toBe('done')
      const sent = lastSent(api)
      expect(sent.images).toBe(0)
      expect(sent.text).toContain('keep its colours')
      expect(sent.text).toMatch(/png image, 640×480, [^:]*: Expand .{8,12}2\.1/)
      expect(sent.text).toMatch(/png image, 9000×40, [^:]*: Expand/)
      if (round === 0) await more()
    }
    expect(refusals(api)).toEqual([])
  })

  it('[E32] media that were answered leave before any word does', async () => {
    const api = await simulated(Array.from({ length: 14 }, (_, index) => `answer ${index}`))
    const session = await opened(api, { modelId: small, window: 30_000 })
    await turn(session.send([{ type: 'text', text: 'FIRSTWORDS' }, documentBlock(pdf(6))]))
    let turns = 0
    while (lastSent(api).documents > 0 && turns++ < 11)
      expect((await turn(session.send(words(1500, 'alpha')))).outcome).toBe('done')
    expect(lastSent(api).documents).toBe(0)
    expect(session.view().messages.length).toBe(2 + 2 * turns)
    expect(lastSent(api).text).toContain('FIRSTWORDS')
    expect(lastSent(api).text).toMatch(/pdf document, 6 pages, .*removed from context to make room/)
    expect(refusals(api)).toEqual([])
  })
})

describe('what is larger than a record', () => {
  it('[E34] goes beside the session: messages, results and long texts', async () => {
    const store = fileStore({ root: await folder() })
    const shots = Array.from({ length: 5 }, (_, seed) => imageBlock(largePng(60, 60, 3_700_000, seed)))
    const api = await simulated(['read', [call('Shot', {})], 'seen', 'kept'])
    const session = await opened(api, { store, tools: [shows('Shot', () => shots)] })
    const large = documentBlock(pdf(3, 20_000_000))
    expect((await turn(session.send([{ type: 'text', text: 'read' }, large]))).outcome).toBe('done')
    expect(lastSent(api).documents).toBe(1)
    expect((await turn(session.send('shoot'))).outcome).toBe('done')
    const long = `BEGIN ${'lorem ipsum '.repeat(1_600_000)} END`
    expect((await turn(session.send(long))).outcome).toBe('done')
    expect(lastSent(api).text).toMatch(/persisted-output .*BEGIN.* END/s)
    expect(refusals(api)).toEqual([])
    await session.close()
  })
})
