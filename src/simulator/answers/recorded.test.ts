import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import * as prompts from '../../../test/answers/prompts.ts'
import { ask, callsIn, request, textIn, user } from '../../../test/answers/tool-loop.ts'
import type { WireBlock, WireMessage } from '../../model/wire.ts'
import { recorded, type RecordedAnswerer } from './recorded.ts'
import { scripted } from '../answer.ts'
import { corpusFolder, hasCorpus } from '../../../test/shared-data.ts'

const turns = [
  { role: 'user', content: 'look around' },
  {
    role: 'assistant',
    content: [
      { type: 'text', text: '\n\n' },
      { type: 'thinking', thinking: 'hm', signature_chars: 9 },
      { type: 'tool_use', id: 'old_1', name: 'Read', input: { file_path: 'a' } },
      { type: 'tool_use', id: 'old_2', name: 'Grep', input: { pattern: 'x' } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'old_1', content: 'A' },
      { type: 'tool_result', tool_use_id: 'old_2', content: 'B', is_error: true },
    ],
  },
  { role: 'assistant', content: [{ type: 'text', text: 'Seen.' }] },
  {
    role: 'user',
    content: [
      { type: 'text', text: 'notice', meta: { kind: 'client_note' } },
      { type: 'text', text: 'go on' },
    ],
  },
  {
    role: 'assistant',
    content: [{ type: 'tool_use', id: 'old_3', name: 'Read', input: { file_path: 'b' } }],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'old_3', content: 'C' }] },
  { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
]

const answered = (model: RecordedAnswerer, content: readonly WireBlock[]): WireMessage => ({
  role: 'user',
  content: content
    .filter((block) => block.type === 'tool_use')
    .map((block) => {
      const result = model.resultOf(String(block['id']))
      return {
        type: 'tool_result',
        tool_use_id: block['id'],
        content: result?.content ?? '',
        ...(result?.isError ? { is_error: true } : {}),
      }
    }),
})

/** Plays a whole recording through calls and recorded results, forgetting the past now and then as a compaction does. */
async function playThrough(
  model: RecordedAnswerer,
  offered: readonly string[],
  forgetEvery = Number.POSITIVE_INFINITY,
) {
  const tools = offered.map((name) => ({ name, input_schema: { type: 'object' } }))
  const given: (readonly WireBlock[])[] = []
  let messages: readonly WireMessage[] = []
  for (let turn = 0; turn < model.total; turn += 1) {
    const input = model.inputs[turn]
    if (input !== null && input !== undefined) messages = [...messages, user(input)]
    if (messages.length === 0 || messages.at(-1)?.role === 'assistant')
      messages = [...messages, user('(go on)')]
    const answer = await ask(model, request(messages, { tools }))
    given.push(answer.content)
    messages = [...messages, { role: 'assistant', content: answer.content }]
    if (callsIn(answer).length > 0) messages = [...messages, answered(model, answer.content)]
    if ((turn + 1) % forgetEvery === 0 && callsIn(answer).length === 0) messages = []
  }
  return given
}

describe('recorded', () => {
  it('[W20] plays the turns as calls with fresh ids that lead back to the recording', async () => {
    const model = recorded(turns)
    const given = await playThrough(model, ['Read', 'Grep'])
    expect(given.map((content) => content.map((block) => block.type))).toEqual([
      ['tool_use', 'tool_use'],
      ['text'],
      ['tool_use'],
      ['text'],
    ])
    const ids = given.flat().flatMap((block) => (block.type === 'tool_use' ? [String(block['id'])] : []))
    expect(ids.map((id) => model.recordedId(id))).toEqual(['old_1', 'old_2', 'old_3'])
    expect(new Set(ids).size).toBe(3)
    expect(model.resultOf(ids[1] ?? '')).toEqual({ content: 'B', isError: true })
    expect(model.inputs).toEqual(['look around', null, 'go on', null])
    expect(textIn(await ask(model, request([user('more')])))).toBe(
      '[recording ended] all 4 turns were played.',
    )
  })

  it('[W20] thinks aloud only when thinking is on', async () => {
    const on = await ask(recorded(turns), request([user('look around')], { thinking: { type: 'adaptive' } }))
    expect(on.content[0]).toEqual({ type: 'thinking', thinking: 'hm' })
  })

  it('[W21] keeps its place when the past is compacted away, and finds it after a restart', async () => {
    const model = recorded(turns)
    const first = await ask(model, request([user('look around')]))
    const results = answered(model, first.content)
    expect(textIn(await ask(model, request([user('a summary of the past'), user('go')])))).toBe('Seen.')
    const again = recorded(turns)
    const resumed = await ask(
      again,
      request([user('look around'), { role: 'assistant', content: first.content }, results]),
    )
    expect(textIn(resumed)).toBe('Seen.')
    expect(again.position).toBe(2)
  })

  it('[W21] answers a repeated request with the same turn', async () => {
    const model = recorded(turns)
    const once = await ask(model, request([user('look around')]))
    expect(await ask(model, request([user('look around')]))).toEqual(once)
    expect(model.position).toBe(1)
  })

  it('[W22] leaves what is not the main thread to another answerer', async () => {
    const model = recorded(turns, { fallback: scripted(['one', 'two', 'three']) })
    const summary = request([
      user('look around'),
      { role: 'assistant', content: 'ok' },
      user(String(prompts.summaries[0])),
    ])
    expect(textIn(await ask(model, summary))).toBe('one')
    expect(textIn(await ask(model, request([user('look around')], { tools: [] })))).toBe('two')
    expect(model.position).toBe(0)
    const own = recorded(turns, {
      fallback: scripted(['aside']),
      isMain: ({ headers }) => headers['x-source'] === 'main',
    })
    expect(textIn(await ask(own, request([user('look around')])))).toBe('aside')
  })
})

describe.skipIf(!hasCorpus)('recorded, on the corpus (skipped without recorded sessions)', () => {
  it.each([
    'cc-cli-acdd84abe7',
    'codex-mise-1b761173',
    'pi-preloop-f0a051a5',
    'mb-memorybank-siliconfriend-user1',
  ])('[W20] plays %s through', async (name) => {
    const lines = gunzipSync(readFileSync(join(corpusFolder, `${name}.jsonl.gz`)))
      .toString('utf8')
      .trimEnd()
      .split('\n')
    const recording = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
    const header = recording[0] as { tools?: readonly { name: string }[]; stats: { tool_calls: number } }
    for (const forgetEvery of [Number.POSITIVE_INFINITY, 3]) {
      const model = recorded(recording)
      const given = await playThrough(
        model,
        (header.tools ?? []).map((tool) => tool.name),
        forgetEvery,
      )
      expect(model.position).toBe(model.total)
      const calls = given.flat().filter((block) => block.type === 'tool_use')
      expect(calls).toHaveLength(header.stats.tool_calls)
      // The last turn of a recording may end in calls that nobody answered.
      const open = given.at(-1) ?? []
      const missing = calls.filter((block) => model.resultOf(String(block['id'])) === undefined)
      expect(missing.every((block) => open.includes(block))).toBe(true)
      expect(given.every((content) => content.length > 0)).toBe(true)
    }
  })
})
