// Every quirk by itself: what it changes in a request, and that the server which has it takes the one and not the other.
import { describe, expect, it } from 'vitest'
import { checkChatRequest } from '../../src/simulator/dialects/check.ts'
import type { ServerName } from '../../src/simulator/dialects/openai/quirks.ts'
import type { ModelEvent } from '../../src/model/model.ts'
import { Fold } from '../../src/projection/fold.ts'
import { answered, Pen, result, said, start } from '../../src/testing/builders.ts'
import type { Fact } from '../../src/transcript/fact.ts'
import { geminiModel } from '../../src/wires/gemini/adapter.ts'
import { openAiChatWire } from '../../src/wires/openai-chat/wire.ts'
import { openAiResponsesWire } from '../../src/wires/openai-responses/wire.ts'
import { knownServers } from '../../src/wires/servers.ts'
import type { Quirks, Wire } from '../../src/wires/wire.ts'
import { serve } from '../stream-server.ts'

const image = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
} as const

function viewOf() {
  const fold = new Fold()
  const pen = new Pen()
  const tool = { name: 'Read', description: 'Reads.', input_schema: { type: 'object' } }
  const facts: readonly Fact[] = [
    start(),
    { type: 'instructions-set', sections: [{ name: 'a', side: 'static', text: 'You help.' }], tools: [tool] },
    { type: 'user-message', content: [{ type: 'text', text: 'look' }, image], origin: 'typed' },
    answered([{ type: 'tool_use', id: 'call_1', name: 'Read', input: { path: 'a' } }], {
      id: 'm1',
      stop: 'tool_use',
    }),
    result('call_1', 'found'),
    answered([{ type: 'text', text: 'here' }], { id: 'm2' }),
    said('and now?'),
  ]
  for (const fact of facts) fold.push(pen.write(fact))
  return fold.view()
}

function bodyOf(quirks: Quirks, wire: Wire = openAiChatWire as Wire, model = 'some-model'): string {
  const outcome = wire.createComposer({ quirks }).compose(viewOf(), {
    model,
    maxTokens: 100,
    bindsPrefix: false,
    lifetime: '5m',
    effort: 'low',
    cacheKey: 'session-1',
  })
  if (!outcome.ok) throw new Error(outcome.why)
  return outcome.composed.body
}

/** What stands in a request with the quirk and not without it, or the other way round. */
const effects: readonly (readonly [Quirks, has: string | null, hasNot: string | null])[] = [
  [{ systemRole: 'system' }, '"role":"system"', '"role":"developer"'],
  [{ maxTokensField: 'max_tokens' }, '"max_tokens":100', '"max_completion_tokens"'],
  [{ streamUsage: false }, null, '"stream_options"'],
  [{ reasoningBack: true }, '"reasoning_content":""', null],
  [{ cacheKey: false }, null, '"prompt_cache_key"'],
  [{ rootCacheControl: true }, ',"cache_control":{"type":"ephemeral"}}', null],
  [{ effort: false }, null, '"reasoning_effort"'],
  [{ images: false }, 'this model takes text alone', '"image_url"'],
  [{ parallelCalls: false }, '"parallel_tool_calls":false', null],
  [{ textContent: true }, '"content":"and now?"', '"content":[{"type":"text","text":"and now?"}]'],
  [{ breakpoints: true }, '"prompt_cache_breakpoint"', null],
]

describe('a quirk of a server', () => {
  it.each(effects)('[WC9] %j changes what it says and nothing else is lost', (quirk, has, hasNot) => {
    const plain = bodyOf({})
    const changed = bodyOf(quirk)
    expect(changed).not.toBe(plain)
    if (has !== null) expect([plain.includes(has), changed.includes(has)]).toEqual([false, true])
    if (hasNot !== null) expect([plain.includes(hasNot), changed.includes(hasNot)]).toEqual([true, false])
    for (const words of ['look', 'found', 'here', 'and now?', 'You help.']) expect(changed).toContain(words)
    // Once more with the same composer's rules: the request is valid for whoever has the quirk.
    expect(
      openAiChatWire.check(JSON.parse(changed) as never, { model: 'some-model', quirks: quirk }),
    ).toEqual([])
  })

  it('[WC9] texts beside images stay parts where content is one text', () => {
    expect(bodyOf({ textContent: true })).toContain('"image_url"')
    expect(bodyOf({ textContent: true, images: false })).not.toContain('"type":"text"')
  })

  it('[WC9] on Responses too, and tools say there that their schemas are not strict', () => {
    const wire = openAiResponsesWire as Wire
    expect(bodyOf({}, wire, 'gpt-6-sol')).toContain('"strict":false')
    expect(bodyOf({ effort: false, cacheKey: false }, wire, 'gpt-6-sol')).not.toMatch(
      /"reasoning":|prompt_cache_key/,
    )
    expect(bodyOf({ systemRole: 'system' }, wire, 'gpt-6-sol')).toContain('"role":"system"')
  })

  it.each(
    knownServers
      .filter(({ wires }) => wires.includes('openai-chat'))
      .map(({ name, quirks }) => [name, quirks] as const),
  )('[WC9] %s takes its own row', (name, quirks) => {
    const model = name === 'openai' || name === 'azure' ? 'gpt-6-sol' : 'some-model'
    const body: unknown = JSON.parse(bodyOf(quirks, openAiChatWire as Wire, model))
    expect(checkChatRequest(body, { server: name as ServerName })?.message ?? null).toBeNull()
  })

  it.each([
    ['deepseek', { systemRole: undefined }, /role/],
    ['deepseek', { reasoningBack: undefined }, /reasoning_content/],
  ] as const)('[WC9] %s refuses a request without its quirk %j', (name, without, why) => {
    const row = knownServers.find((server) => server.name === name)!
    const body: unknown = JSON.parse(bodyOf({ ...row.quirks, ...without }))
    expect(checkChatRequest(body, { server: name })?.message).toMatch(why)
  })
})

describe('a call that Gemini could not write', () => {
  const malformed = {
    responseId: 'r',
    candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'MALFORMED_FUNCTION_CALL' }],
  }
  const fine = {
    responseId: 'r',
    candidates: [{ content: { role: 'model', parts: [{ text: 'yes' }] }, finishReason: 'STOP' }],
  }
  const ask = async (answers: readonly object[]) => {
    const { url, asked } = await serve((response, _asked, turn) => {
      const answer = answers[Math.min(turn, answers.length) - 1]
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`data: ${JSON.stringify(answer)}\r\n\r\n`)
    })
    const settings = { retryBaseMs: 5, retryMaxMs: 20, drainMs: 50 }
    const model = geminiModel({ apiKey: 'k', baseUrl: url, random: () => 0, settings })
    const events: ModelEvent[] = []
    const request = { model: 'gemini-4-argon', body: '{"contents":[]}', betas: [], source: 'main' }
    for await (const event of model.stream(request, new AbortController().signal)) events.push(event)
    return { last: events.at(-1)!, asked: asked.length }
  }

  it('[WG5] is tried once more, and only once', async () => {
    const again = await ask([malformed, fine])
    expect([again.last.type, again.asked]).toEqual(['end', 2])
    const never = await ask([malformed])
    expect([never.last.type, never.asked]).toEqual(['failed', 2])
    expect(JSON.stringify(never.last)).toContain('MALFORMED_FUNCTION_CALL')
  })
})
