import OpenAI from 'openai'
import { describe, expect, it } from 'vitest'
import { servers } from '../../../../test/simulated-server.ts'
import {
  call,
  checkChatRequest,
  dialectModels,
  text,
  thinking,
  type Answerer,
  type ServerName,
} from '../../index.ts'

const serve = servers()
const thinker: Answerer = {
  answer: ({ request }) => ({
    content:
      request.tools === undefined
        ? [thinking('hm hm'), text('ok')]
        : [thinking('hm'), call('read', { path: 'a' })],
    stop_reason: request.tools === undefined ? 'end_turn' : 'tool_use',
  }),
}
const asked = { model: 'some-model', messages: [{ role: 'user', content: 'go' }] }
const bases: Readonly<Record<ServerName, string>> = {
  openai: '/v1',
  openrouter: '/openrouter/api/v1',
  deepseek: '/deepseek',
  groq: '/groq/openai/v1',
  ollama: '/ollama/v1',
  vllm: '/vllm/v1',
  lmstudio: '/lmstudio/v1',
  azure: '/azure/openai/v1',
  litellm: '/litellm',
}
const post = async (
  url: string,
  body: object,
  headers: Readonly<Record<string, string>> = { authorization: 'Bearer k' },
) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: (await response.json()) as Record<string, never> }
}
const chunksOf = async (url: string, body: object) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer k', 'api-key': 'k' },
    body: JSON.stringify({ ...body, stream: true }),
  })
  return (await response.text()).split('\n\n').filter((each) => each !== '')
}
const parsed = (frames: readonly string[]) =>
  frames
    .filter((each) => each.startsWith('data: {'))
    .map((each) => JSON.parse(each.slice(6)) as Record<string, unknown>)

describe('servers that speak like OpenAI', () => {
  it('[V77] each is reached below its name by the SDK', async () => {
    const { url, simulator } = await serve(thinker)
    for (const [server, base] of Object.entries(bases)) {
      const client = new OpenAI({
        apiKey: 'k',
        baseURL: `${url}${base}`,
        maxRetries: 0,
        ...(server === 'azure' ? { defaultHeaders: { 'api-key': 'k' } } : {}),
      })
      const model = server === 'openai' || server === 'azure' ? 'gpt-5.5' : 'some-model'
      const answer = await client.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'go' }],
      })
      expect([server, answer.choices[0]?.message.content]).toEqual([server, 'ok'])
    }
    expect(simulator.log.requests.every((each) => each.status === 200)).toBe(true)
  })

  it('[V77] reasoning is told under the name each uses, and wanted back or refused', async () => {
    const { url } = await serve(thinker)
    const said = async (server: ServerName) =>
      JSON.stringify((await post(`${url}${bases[server]}/chat/completions`, asked)).body)
    expect(await said('deepseek')).toContain('"reasoning_content":"hm hm"')
    expect(await said('vllm')).toContain('"reasoning_content":"hm hm"')
    expect(await said('groq')).toContain('"reasoning":"hm hm"')
    expect(await said('openrouter')).toContain('"reasoning_details":[{"type":"reasoning.text"')
    const calls = [{ id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } }]
    const loop = (more: object) => ({
      ...asked,
      messages: [
        ...asked.messages,
        { role: 'assistant', content: null, tool_calls: calls, ...more },
        { role: 'tool', tool_call_id: 'c1', content: 'x' },
      ],
    })
    const check = (server: ServerName, more: object, model = 'some-model') =>
      checkChatRequest({ ...loop(more), model }, { server })?.message ?? null
    expect(check('deepseek', {})).toBe(
      'The `reasoning_content` in the thinking mode must be passed back to the API.',
    )
    expect(check('deepseek', { reasoning_content: 'hm' })).toBeNull()
    expect(check('groq', { reasoning_content: 'hm' })).toBe(
      "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]",
    )
    expect(check('openai', { reasoning_content: 'hm' }, 'gpt-5.5')).toBe(
      "Unknown parameter: 'messages[1].reasoning_content'.",
    )
    expect(check('openai', {}, 'gpt-5.5')).toBeNull()
    expect(check('openrouter', { reasoning_content: 'hm', reasoning_details: [] })).toBeNull()
  })

  it('[V77] usage on a stream comes where each puts it, or not at all', async () => {
    const { url } = await serve({ answer: () => ({ content: [text('ok')], stop_reason: 'end_turn' }) })
    const frames = (server: ServerName, more: object = {}) =>
      chunksOf(`${url}${bases[server]}/chat/completions`, { ...asked, ...more })
    const deepseek = parsed(await frames('deepseek'))
    expect(deepseek.at(-1)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      usage: { prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: expect.any(Number) },
    })
    const openrouter = await frames('openrouter')
    expect(openrouter[0]).toBe(': OPENROUTER PROCESSING')
    expect(parsed(openrouter).at(-1)).toMatchObject({ choices: [], usage: { cost: 0 } })
    expect(parsed(await frames('vllm')).some((each) => 'usage' in each)).toBe(false)
    expect(parsed(await frames('vllm', { stream_options: { include_usage: true } })).at(-1)).toMatchObject({
      choices: [],
    })
    const azure = parsed(await frames('azure', { model: 'gpt-5.5' }))
    expect(azure[0]).toMatchObject({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] })
    expect((await frames('deepseek')).at(-1)).toBe('data: [DONE]')
  })

  it('[V77] keys, models, roles, tool choices and errors are each server’s own', async () => {
    const { url } = await serve(thinker, { keys: ['k'] })
    const at = (server: ServerName) => `${url}${bases[server]}/chat/completions`
    for (const server of ['ollama', 'vllm', 'lmstudio'] as const)
      expect((await post(at(server), asked, {})).status).toBe(200)
    expect((await post(at('openai'), asked, {})).status).toBe(401)
    expect((await post(at('azure'), { ...asked, model: 'gpt-5.5' }, { 'api-key': 'k' })).status).toBe(200)
    const deployed = `${url}/azure/openai/deployments/gpt-5.5/chat/completions?api-version=2026-06-01`
    expect((await post(deployed, { messages: asked.messages }, { 'api-key': 'k' })).status).toBe(200)
    expect((await post(at('openai'), asked)).status).toBe(404)
    const developer = { ...asked, messages: [{ role: 'developer', content: 'x' }, ...asked.messages] }
    expect(checkChatRequest(developer, { server: 'deepseek' })?.message).toContain(
      'unknown variant `developer`',
    )
    expect(checkChatRequest(developer, { server: 'vllm' })).toBeNull()
    const tools = [{ type: 'function', function: { name: 'read' } }]
    const chosen = { ...asked, tools, tool_choice: { type: 'function', function: { name: 'read' } } }
    expect(checkChatRequest(chosen, { server: 'lmstudio' })?.body).toEqual({
      error: "Invalid tool_choice type: 'object'. Supported string values: none, auto, required",
    })
    const orphan = {
      ...asked,
      messages: [...asked.messages, { role: 'tool', tool_call_id: 'c', content: 'x' }],
    }
    expect(checkChatRequest(orphan, { server: 'deepseek' })?.message).toBe(
      "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
    )
    expect(checkChatRequest(orphan, { server: 'openrouter' })?.body).toMatchObject({ error: { code: 400 } })
    expect(checkChatRequest(orphan, { server: 'vllm' })?.body).toMatchObject({
      error: { type: 'BadRequestError', code: 400 },
    })
    expect(checkChatRequest({ ...asked, store: true, foo: 1 }, { server: 'groq' })?.message).toBe(
      "property 'foo' is unsupported",
    )
    expect((await post(`${url}/deepseek/responses`, { model: 'x', input: 'x' })).status).toBe(404)
  })

  it('[V77] a prompt over the window is refused in each server’s words, or cut without a word', async () => {
    const base = dialectModels.find((each) => each.id === 'gpt-4o')
    if (base === undefined) throw new Error('no model')
    const seen: string[] = []
    const listening: Answerer = {
      answer: ({ request }) => {
        seen.push(JSON.stringify(request.messages))
        return { content: [text('ok')], stop_reason: 'end_turn' }
      },
    }
    const { url } = await serve(listening, { dialectModels: [{ ...base, id: 'small', window: 2000 }] })
    const long = 'word '.repeat(2000)
    const body = {
      model: 'small',
      messages: [
        { role: 'system', content: 'stay' },
        { role: 'user', content: long },
        { role: 'user', content: 'last' },
      ],
    }
    const words = async (server: ServerName) =>
      JSON.stringify((await post(`${url}${bases[server]}/chat/completions`, body)).body)
    expect(await words('openai')).toMatch(
      /maximum context length is 2000 tokens\. However, your messages resulted in \d+ tokens.*context_length_exceeded/,
    )
    expect(await words('vllm')).toContain('in the completion)')
    expect(await words('openrouter')).toContain("This endpoint's maximum context length is 2000 tokens")
    expect(await words('lmstudio')).toContain('greater than the context length')
    expect(await words('litellm')).toContain('litellm.BadRequestError')
    expect(await words('ollama')).toContain('"content":"ok"')
    expect(seen.at(-1)).toContain('last')
    expect(seen.at(-1)).not.toContain('word word')
  })
})
