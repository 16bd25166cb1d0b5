import { ApiError, GoogleGenAI, Type, type Content, type GenerateContentResponse } from '@google/genai'
import { describe, expect, it } from 'vitest'
import { servers } from '../../../../test/simulated-server.ts'
import { call, ruleModel, scripted, text, thinking, type Answerer } from '../../index.ts'

const serve = servers()
const client = (url: string, apiKey = 'test-key') =>
  new GoogleGenAI({ apiKey, httpOptions: { baseUrl: url } })
const model = 'gemini-3.1-pro-preview'
const tools = [
  {
    functionDeclarations: [
      {
        name: 'read',
        description: 'reads',
        parameters: { type: Type.OBJECT, properties: { path: { type: Type.STRING } } },
      },
    ],
  },
]
const user = (words: string): Content => ({ role: 'user', parts: [{ text: words }] })
const LONG = 'a sentence that is long enough to be kept. '.repeat(500)

const worker: Answerer = {
  answer: ({ request }) => {
    const said = JSON.stringify(request.messages.at(-1)?.content)
    return said.includes('tool_result')
      ? { content: [text('Read both.')], stop_reason: 'end_turn' }
      : {
          content: [thinking('Two files.'), call('read', { path: 'a' }), call('read', { path: 'b' })],
          stop_reason: 'tool_use',
        }
  },
}

const answersTo = (response: GenerateContentResponse): Content => ({
  role: 'user',
  parts: (response.functionCalls ?? []).map(({ id, name }) => ({
    functionResponse: { ...(id === undefined ? {} : { id }), name: name ?? '', response: { output: 'text' } },
  })),
})
const contentOf = (response: GenerateContentResponse): Content => response.candidates?.[0]?.content ?? {}
const refusal = async (sent: Promise<unknown>): Promise<ApiError> => {
  const error = await sent.then(
    () => null,
    (each: unknown) => each,
  )
  if (!(error instanceof ApiError)) throw new Error(`was taken: ${String(error)}`)
  return error
}

describe('the official SDK on Gemini', () => {
  it('[V70] parallel calls, their responses, usage and a list of models', async () => {
    const { url, last } = await serve(worker)
    const first = await client(url).models.generateContent({
      model,
      contents: [user('go')],
      config: { tools },
    })
    expect(first.functionCalls?.map((each) => each.args)).toEqual([{ path: 'a' }, { path: 'b' }])
    const signed = contentOf(first).parts?.map((part) => part.thoughtSignature !== undefined)
    expect(signed).toEqual([true, false])
    const { usageMetadata: usage } = first
    expect(usage?.totalTokenCount).toBe(
      (usage?.promptTokenCount ?? 0) + (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    )
    const contents = [user('go'), contentOf(first), answersTo(first)]
    const second = await client(url).models.generateContent({ model, contents, config: { tools } })
    expect(second.text).toBe('Read both.')
    expect(second.candidates?.[0]?.finishReason).toBe('STOP')
    expect(last()).toMatchObject({
      path: `/v1beta/models/${model}:generateContent`,
      status: 200,
      model: 'gemini-3.1-pro',
    })
    const names: string[] = []
    for await (const each of await client(url).models.list()) names.push(each.name ?? '')
    expect(names).toContain('models/gemini-4-argon')
    const counted = await client(url).models.countTokens({ model, contents: [user('go')] })
    expect(counted.totalTokens).toBeGreaterThan(0)
  })

  it('[V71] every event is a whole response with the next parts; calls come whole', async () => {
    const { url } = await serve({
      answer: () => ({ content: [text('one two three four five six')], stop_reason: 'end_turn' }),
    })
    const seen: GenerateContentResponse[] = []
    for await (const each of await client(url).models.generateContentStream({ model, contents: 'go' }))
      seen.push(each)
    expect(seen.map((each) => each.text ?? '').join('')).toBe('one two three four five six')
    expect(seen.length).toBeGreaterThan(2)
    expect(seen.every((each) => (each.usageMetadata?.promptTokenCount ?? 0) > 0)).toBe(true)
    expect(seen.filter((each) => each.candidates?.[0]?.finishReason !== undefined)).toHaveLength(1)
    expect(seen.at(-1)?.candidates?.[0]?.content?.parts?.[0]?.thoughtSignature).toBeDefined()
    const calling = await serve(worker)
    const calls: unknown[] = []
    for await (const each of await client(calling.url).models.generateContentStream({
      model,
      contents: 'go',
      config: { tools },
    }))
      calls.push(...(each.functionCalls ?? []).map((made) => made.args))
    expect(calls).toEqual([{ path: 'a' }, { path: 'b' }])
  })

  it('[V72] calls and responses belong together, in number, order and place', async () => {
    const { url } = await serve(worker)
    const first = await client(url).models.generateContent({
      model,
      contents: [user('go')],
      config: { tools },
    })
    const made = contentOf(first)
    const answers = answersTo(first)
    const send = (...contents: Content[]) =>
      refusal(client(url).models.generateContent({ model, contents, config: { tools } }))
    const number =
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
    const one = { ...answers, parts: answers.parts?.slice(0, 1) ?? [] }
    expect((await send(user('go'), made, one)).message).toContain(number)
    expect((await send(user('go'), made, user('and'))).message).toContain(number)
    expect((await send(made, answers)).message).toContain(
      'comes immediately after a user turn or after a function response turn',
    )
    expect((await send(user('go'), answers)).message).toContain(
      'function response turn comes immediately after a function call turn',
    )
    expect((await send({ role: 'assistant', parts: [{ text: 'x' }] })).message).toContain(
      'Please use a valid role: user, model.',
    )
    expect((await send({ role: 'user', parts: [] })).message).toContain('must not be empty')
  })

  it('[V73] signatures: only those of the current turn are asked for, and each is for one model', async () => {
    const { url } = await serve(worker)
    const first = await client(url).models.generateContent({
      model,
      contents: [user('go')],
      config: { tools },
    })
    const made = contentOf(first)
    const answers = answersTo(first)
    const signedBy = (signature: string | undefined): Content => ({
      ...made,
      parts: (made.parts ?? []).map((part, index) => {
        const { thoughtSignature: _, ...rest } = part
        return index === 0 && signature !== undefined ? { ...rest, thoughtSignature: signature } : rest
      }),
    })
    const send = (...contents: Content[]) =>
      client(url).models.generateContent({ model, contents, config: { tools } })
    const missing = await refusal(send(user('go'), signedBy(undefined), answers))
    expect(missing.message).toContain('Function call is missing a thought_signature in functionCall parts.')
    expect(missing.message).toContain('function call `default_api:read` , position 2.')
    expect((await refusal(send(user('go'), signedBy('bm9uc2Vuc2U='), answers))).message).toContain(
      'Corrupted thought signature.',
    )
    const elsewhere = await refusal(
      client(url).models.generateContent({
        model: 'gemini-4-argon',
        contents: [user('go'), made, answers],
        config: { tools },
      }),
    )
    expect(elsewhere.message).toContain('Invalid thought signature.')
    expect((await send(user('go'), signedBy('skip_thought_signature_validator'), answers)).text).toBe(
      'Read both.',
    )
    const earlier = [
      user('go'),
      signedBy(undefined),
      answers,
      { role: 'model', parts: [{ text: 'so' }] },
      user('and'),
    ]
    expect((await send(...earlier)).functionCalls).toHaveLength(2)
  })

  it('[V74] the implicit cache hits by chance, drawn from a seed, from its minimum on', async () => {
    const hits = async (chance: number, seed: number) => {
      const { url } = await serve(worker, { luck: { chance, seed } })
      const seen: boolean[] = []
      for (let turn = 0; turn < 12; turn += 1) {
        const { usageMetadata } = await client(url).models.generateContent({ model, contents: [user(LONG)] })
        seen.push((usageMetadata?.cachedContentTokenCount ?? 0) >= 4096)
      }
      return seen
    }
    expect(await hits(1, 1)).toEqual([false, ...Array.from({ length: 11 }, () => true)])
    const some = await hits(0.5, 7)
    expect(some.filter(Boolean).length).toBeGreaterThan(1)
    expect(some.slice(1)).toContain(false)
    expect(await hits(0.5, 7)).toEqual(some)
    const { url } = await serve(worker)
    const short = () => client(url).models.generateContent({ model, contents: [user(LONG.slice(0, 12_000))] })
    await short()
    expect((await short()).usageMetadata?.cachedContentTokenCount).toBeUndefined()
  })

  it('[V75] refusals have Google’s form', async () => {
    const { url } = await serve(scripted([]), { keys: ['right'] })
    const wrong = await refusal(client(url).models.generateContent({ model, contents: 'go' }))
    expect(wrong).toMatchObject({ status: 400, message: expect.stringContaining('API_KEY_INVALID') })
    const none = await refusal(
      client(url, 'right').models.generateContent({ model: 'gemini-9', contents: 'go' }),
    )
    expect(none).toMatchObject({
      status: 404,
      message: expect.stringContaining('is not found for API version v1beta'),
    })
    const post = (body: string) =>
      fetch(`${url}/v1beta/models/${model}:generateContent`, {
        method: 'POST',
        body,
        headers: { 'x-goog-api-key': 'right', 'content-type': 'application/json' },
      }).then((each) => each.json())
    expect(await post('{')).toMatchObject({ error: { code: 400, status: 'INVALID_ARGUMENT' } })
    expect(await post('{"contents":[{"parts":[{"text":"x","foo":1}]}]}')).toMatchObject({
      error: {
        message: `Invalid JSON payload received. Unknown name "foo" at 'contents[0].parts[0]': Cannot find field.`,
      },
    })
    expect(await post('{}')).toMatchObject({
      error: { message: '* GenerateContentRequest.contents: contents is not specified\n' },
    })
  })

  it('[V70] the rule-based model follows a task, and either case of a key is read', async () => {
    const { url } = await serve(ruleModel())
    const body = {
      system_instruction: { parts: [{ text: 'You work.' }] },
      contents: [{ role: 'user', parts: [{ text: '<task name="t">\n1. read a.ts\n2. say Done.\n</task>' }] }],
      tools: [
        {
          function_declarations: [
            { name: 'read', parameters: { type: 'OBJECT', properties: { path: { type: 'STRING' } } } },
          ],
        },
      ],
    }
    const response = await fetch(`${url}/v1beta/models/${model}:generateContent?key=k`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    expect(JSON.stringify(await response.json())).toContain('"args":{"path":"a.ts"}')
    const listed = await fetch(`${url}/v1beta/models/${model}:streamGenerateContent?key=k`, {
      method: 'POST',
      body: JSON.stringify(body),
    })
    expect(await listed.json()).toBeInstanceOf(Array)
  })
})
