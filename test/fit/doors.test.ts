// The doors of frameworks: their own objects come back, only what was shortened is made anew, and what fails is told.
import { createOpenAI } from '@ai-sdk/openai'
import {
  generateText,
  streamText,
  isStepCount,
  tool,
  wrapLanguageModel,
  type LanguageModelMiddleware,
  type ModelMessage,
  type PrepareStepFunction,
  type ToolSet,
} from 'ai'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  agentsFit,
  aiSdkFit,
  langChainFit,
  type AgentsSession,
  type FitFailure,
  type FitReport,
  type FitState,
  type FitStates,
} from '../../src/fit/index.ts'
import { call, scripted, type ScriptStep } from '../../src/simulator/index.ts'
import { servers } from '../simulated-server.ts'
import { linesOf } from './lists.ts'

const serve = servers()
const steps = 30
const reader: readonly ScriptStep[] = [
  ...Array.from({ length: steps }, (_, page): ScriptStep => [
    call('read', { page }),
    call('read', { page: page + 100 }),
  ]),
  'All is read.',
]
const read = tool({
  description: 'Reads.',
  inputSchema: z.object({ page: z.number() }),
  execute: ({ page }) => linesOf(page, 20_000),
})

/** What was told, call by call. */
function teller(): {
  readonly told: (FitReport | FitFailure)[]
  onFit: (each: FitReport | FitFailure) => void
} {
  const told: (FitReport | FitFailure)[] = []
  return { told, onFit: (each) => void told.push(each) }
}
const reports = (told: readonly (FitReport | FitFailure)[]): readonly FitReport[] =>
  told.map((each) => {
    if ('ok' in each) throw new Error(each.message)
    return each
  })

describe('the AI SDK', () => {
  it.each(['prepareStep', 'middleware'] as const)(
    '[FI16] %s keeps a long loop of parallel calls valid, within the window and on the cache',
    async (way) => {
      const { url, simulator } = await serve(scripted(reader))
      const { told, onFit } = teller()
      const door = aiSdkFit({ model: 'gpt-5.5', window: 40_000, onFit })
      // Both are what the SDK asks for, by its own types.
      door.prepareStep satisfies PrepareStepFunction<ToolSet>
      const middleware: LanguageModelMiddleware = door.middleware
      const plain = createOpenAI({ apiKey: 'k', baseURL: `${url}/v1` }).chat('gpt-5.5')
      const done = await generateText({
        model: way === 'middleware' ? wrapLanguageModel({ model: plain, middleware }) : plain,
        prompt: 'Read everything.',
        tools: { read },
        stopWhen: isStepCount(100),
        ...(way === 'prepareStep' ? { prepareStep: door.prepareStep } : {}),
      })
      expect(done.text).toBe('All is read.')
      const { requests } = simulator.log
      expect(requests.map(({ error }) => error).filter((error) => error !== null)).toEqual([])
      expect(requests).toHaveLength(steps + 1)
      const all = reports(told)
      expect(all.filter(({ boundary }) => boundary?.isNew).length).toBeGreaterThan(1)
      expect(all.flatMap(({ edits }) => edits.filter(({ isNew }) => isNew)).length).toBeGreaterThan(steps)
      expect(all.every(({ tokensAfter, limit }) => tokensAfter < limit)).toBe(true)
      // The cache is read all along, but for what a compaction made new; the first prompt is too short for it.
      expect(all.every(({ prefix }) => prefix.why === null || prefix.why === 'boundary')).toBe(true)
      const cached = done.steps.map(({ usage }) => usage.inputTokenDetails.cacheReadTokens ?? 0)
      const broken = all.flatMap(({ boundary }, at) => (boundary?.isNew === true || at < 2 ? [at] : []))
      expect(cached.filter((tokens, at) => tokens === 0 && !broken.includes(at))).toEqual([])
    },
  )

  it('[FI25] a middleware sends what is refused for its length once more, smaller, and hears the usage of streams', async () => {
    const { url, simulator } = await serve(scripted(reader))
    const { told, onFit } = teller()
    // The provider takes less than it was said to.
    const { middleware } = aiSdkFit({
      model: 'gpt-4o',
      window: 900_000,
      onFit,
      limits: { resultChars: 30_000 },
    })
    const model = wrapLanguageModel({
      model: createOpenAI({ apiKey: 'k', baseURL: `${url}/v1` }).chat('gpt-4o'),
      middleware,
    })
    const done = streamText({
      model,
      prompt: 'Read everything.',
      tools: { read },
      stopWhen: isStepCount(100),
      maxRetries: 0,
    })
    expect(await done.text).toBe('All is read.')
    const refused = simulator.log.requests.filter(({ error }) => error !== null)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused.length).toBeLessThan(4)
    const all = reports(told)
    expect(all.filter(({ boundary }) => boundary?.isNew).length).toBeGreaterThan(1)
    // What the provider counted is what is counted from then on.
    expect(all.at(-1)!.window).toBe(128_000)
  })

  it('[FI16] leaves files, reasoning and what the provider ran as they are, and a call that waits for approval alone', async () => {
    const { told, onFit } = teller()
    const door = aiSdkFit({ model: 'gpt-5.5', onFit })
    const bytes = new Uint8Array(50_000).fill(7)
    const messages: ModelMessage[] = [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'file', data: bytes, mediaType: 'image/png' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'reasoning', text: 'Hm.', providerOptions: { x: { signature: 's' } } },
          { type: 'tool-call', toolCallId: 'a', toolName: 'read', input: { page: 1 } },
          { type: 'tool-call', toolCallId: 'b', toolName: 'read', input: { page: 2 } },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: 'a',
            toolName: 'read',
            output: { type: 'json', value: { lines: linesOf(1, 30_000) } },
          },
          {
            type: 'tool-result',
            toolCallId: 'b',
            toolName: 'read',
            output: {
              type: 'content',
              value: [
                { type: 'text', text: linesOf(2, 30_000) },
                { type: 'text', text: 'end' },
              ],
            },
          },
        ],
      },
    ]
    const before = JSON.stringify(messages)
    const { messages: sent } = await door.prepareStep({ messages, steps: [] })
    expect(JSON.stringify(messages)).toBe(before)
    expect(sent.slice(0, 3).every((message, at) => message === messages[at])).toBe(true)
    const [json, content] = (sent[3] as object as { content: { output: { type: string; value: never } }[] })
      .content
    expect(json!.output).toMatchObject({
      type: 'text',
      value: expect.stringContaining('characters left out'),
    })
    expect(content!.output.value).toMatchObject([
      { text: expect.stringContaining('characters left out') },
      { text: 'end' },
    ])
    expect(reports(told)[0]!.edits.map(({ message }) => message)).toEqual([3, 3])

    const waiting: ModelMessage[] = [
      { role: 'user', content: 'Delete it.' },
      {
        role: 'assistant',
        content: [
          { type: 'tool-call', toolCallId: 'd', toolName: 'delete', input: {} },
          { type: 'tool-approval-request', approvalId: 'x', toolCallId: 'd' },
        ],
      },
    ]
    const untouched = await aiSdkFit({ model: 'gpt-5.5' }).prepareStep({ messages: waiting, steps: [] })
    expect(untouched.messages).toEqual(waiting)
  })

  it('[FI17] throws for a model it does not know, and sends what cannot fit as it is', async () => {
    const user = { role: 'user', content: 'word '.repeat(50_000) }
    await expect(aiSdkFit({ model: 'mine' }).prepareStep({ messages: [user], steps: [] })).rejects.toThrow(
      '`window`',
    )
    const { told, onFit } = teller()
    const { messages } = await aiSdkFit({ model: 'mine', window: 20_000, onFit }).prepareStep({
      messages: [user],
      steps: [],
    })
    expect(messages).toEqual([user])
    expect(told).toMatchObject([{ ok: false, code: 'too-large' }])
  })

  it('[FI17] names what is missing when it is made, not when it first breaks', () => {
    for (const make of [aiSdkFit, agentsFit] as readonly ((options: never) => unknown)[])
      expect(() => make({} as never)).toThrow(/`model` is missing/)
    expect(() => langChainFit({ model: 'gpt-5.5' } as never)).toThrow(
      /`HumanMessage` or `ToolMessage` is missing/,
    )
  })
})

describe('what the doors share', () => {
  /** Kept as text, as a database would. */
  function textStates(): FitStates & { readonly texts: Map<string, string> } {
    const texts = new Map<string, string>()
    return {
      texts,
      get: (name) => {
        const text = texts.get(name)
        return text === undefined ? undefined : (JSON.parse(text) as FitState)
      },
      set: (name, state) => texts.set(name, JSON.stringify(state)),
    }
  }
  const rounds = (count: number): object[] => [
    { type: 'message', role: 'user', content: 'Read everything.' },
    ...Array.from({ length: count }, (_, at) => [
      {
        type: 'function_call',
        callId: `c${at}`,
        name: 'read',
        arguments: `{"page":${at}}`,
        status: 'completed',
      },
      {
        type: 'function_call_result',
        name: 'read',
        callId: `c${at}`,
        status: 'completed',
        output: { type: 'text', text: linesOf(at, 20_000) },
      },
    ]).flat(),
  ]

  it('[FI23] a program that starts again goes on from a state that was kept as text, with the bytes it sent', async () => {
    const states = textStates()
    const sent: string[][] = []
    const { told, onFit } = teller()
    for (let count = 1; count <= 20; count++) {
      // A new door each time: nothing is in memory.
      const filter = agentsFit({ model: 'gpt-5.6-sol', window: 40_000, states, onFit })
      const { input } = await filter({ modelData: { input: rounds(count) } })
      sent.push(input.map((item) => JSON.stringify(item)))
    }
    const all = reports(told)
    expect(all.filter(({ boundary }) => boundary?.isNew).length).toBeGreaterThan(0)
    for (const [at, list] of sent.entries())
      if (at > 0 && all[at]!.boundary?.isNew !== true)
        expect(list.slice(0, sent[at - 1]!.length)).toEqual(sent[at - 1])
    expect(states.texts.size).toBe(1)
  })

  it('[FI24] a session shows what fits and keeps every item, alone and together with the filter', async () => {
    const items: object[] = []
    const underneath: AgentsSession = {
      getSessionId: () => Promise.resolve('s'),
      getItems: () => Promise.resolve([...items]),
      addItems: (more) => Promise.resolve(void items.push(...more)),
      popItem: () => Promise.resolve(items.pop()),
      clearSession: () => Promise.resolve(void items.splice(0)),
    }
    const { told, onFit } = teller()
    const filter = agentsFit({ model: 'gpt-5.6-sol', window: 40_000, onFit })
    const session = filter.session(underneath)
    expect(await session.getItems()).toEqual([])
    let before: readonly string[] = []
    const compacted: number[] = []
    for (let turn = 0; turn < 12; turn++) {
      // As a run does it: what the session has and what is new, before each call of the model; then all that is new into the session.
      const view = structuredClone(await session.getItems())
      const added = rounds(4).map((item) =>
        'callId' in item ? { ...item, callId: `${String(item.callId)}-${turn}` } : item,
      )
      for (let upTo = 1; upTo <= added.length; upTo += 2) {
        const { input } = await filter({ modelData: { input: [...view, ...added.slice(0, upTo)] } })
        const now = input.map((item) => JSON.stringify(item))
        const report = reports(told).at(-1)!
        if (report.boundary?.isNew !== true) expect(now.slice(0, before.length)).toEqual(before)
        else compacted.push(upTo)
        expect(report.match).not.toBe('branch')
        before = now
      }
      await session.addItems([
        ...added,
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: `Turn ${turn} is done.` }],
        },
      ])
    }
    expect(items).toHaveLength(12 * 10)
    // Also in the middle of a run, whose list goes on from what the session gave.
    expect(compacted.some((upTo) => upTo > 1 && upTo < 9)).toBe(true)
    expect(JSON.stringify(items)).not.toContain('left out')
    const view = await session.getItems()
    expect(JSON.stringify(view).length).toBeLessThan(JSON.stringify(items).length / 4)
    expect(await session.getItems(2)).toEqual(view.slice(-2))
    expect(reports(told).filter(({ boundary }) => boundary?.isNew).length).toBeGreaterThan(0)
    expect(
      reports(told).every(({ isStateForeign, repairs }) => !isStateForeign && repairs.length === 0),
    ).toBe(true)
    const last = items.at(-1)
    expect(await session.popItem()).toBe(last)
    await session.clearSession()
    expect(items).toEqual([])
    expect(await session.getSessionId()).toBe('s')
  })

  it('[FI18] [FI20] pins and a text by the caller see the messages of the framework', async () => {
    const pinned: object[] = []
    const asked: (readonly object[])[] = []
    const filter = agentsFit({
      model: 'gpt-5.6-sol',
      window: 60_000,
      limits: { resultChars: 6000, headChars: 2000, tailChars: 1000 },
      pins: (item) => {
        pinned.push(item)
        return JSON.stringify(item).includes('"c1"')
      },
      summarise: ({ messages }) => {
        asked.push(messages)
        return Promise.resolve(
          `What was read so far: pages of a log. ${'Nothing was found in it. '.repeat(12)}`,
        )
      },
    })
    const all = rounds(12)
    const { input } = await filter({ modelData: { input: all } })
    expect(asked).toHaveLength(1)
    expect(asked[0]!.every((item) => all.includes(item))).toBe(true)
    expect(pinned.every((item) => all.includes(item))).toBe(true)
    const text = JSON.stringify(input)
    expect(text).toContain('What was read so far')
    expect(text).toContain(JSON.stringify(linesOf(1, 20_000)).slice(1, 500))
  })
})

/** As LangChain has them: classes with a type and fields. */
class LcMessage {
  readonly content: unknown
  readonly type: string
  constructor(fields: object, type: string) {
    this.content = undefined
    this.type = type
    Object.assign(this, fields)
  }
}
class HumanMessage extends LcMessage {
  constructor(fields: { content: string }) {
    super(fields, 'human')
  }
}
class ToolMessage extends LcMessage {
  constructor(fields: { content: string; tool_call_id: string; status?: 'success' | 'error' }) {
    super(fields, 'tool')
  }
}

describe('LangChain and the Agents SDK', () => {
  it('[FI16] a middleware sends messages of the same classes and leaves the agent its own; threads are told apart', async () => {
    const { told, onFit } = teller()
    const kept: string[] = []
    const middleware = langChainFit({
      model: 'claude-sonnet-5',
      HumanMessage,
      ToolMessage,
      onFit,
      keep: ({ ref }) => kept.push(ref),
    })
    const messages: LcMessage[] = [
      new HumanMessage({ content: 'Go.' }),
      new LcMessage(
        {
          content: [{ type: 'tool_use', id: 'a', name: 'read', input: {} }],
          tool_calls: [{ id: 'a', name: 'read', args: {} }],
        },
        'ai',
      ),
      new ToolMessage({ content: linesOf(1, 40_000), tool_call_id: 'a' }),
    ]
    const sent: (readonly object[])[] = []
    const ask = async (list: readonly LcMessage[], thread: string): Promise<void> => {
      await middleware.wrapModelCall(
        { messages: list, runtime: { configurable: { thread_id: thread } } },
        (request) => {
          sent.push(request.messages)
          return 'answer'
        },
      )
    }
    await ask(messages, 'one')
    expect(sent[0]![2]).toBeInstanceOf(ToolMessage)
    expect(sent[0]![2]).toMatchObject({
      tool_call_id: 'a',
      content: expect.stringContaining('characters left out'),
    })
    expect(messages[2]!.content).toBe(linesOf(1, 40_000))
    expect(sent[0]!.slice(0, 2)).toEqual(messages.slice(0, 2))
    expect(kept).toEqual([reports(told)[0]!.edits[0]!.ref])
    await ask(messages, 'two')
    await ask(messages, 'one')
    expect(reports(told).map(({ match }) => match)).toEqual(['new', 'new', 'again'])
    // A call whose result is lost gets one that says so.
    const open = [
      ...messages,
      new LcMessage({ content: '', tool_calls: [{ id: 'z', name: 'read', args: {} }] }, 'ai'),
      new HumanMessage({ content: 'And?' }),
    ]
    await ask(open, 'one')
    expect(sent.at(-1)!.at(-2)).toMatchObject({ type: 'tool', tool_call_id: 'z', status: 'error' })
  })

  it('[FI16] an input filter shortens results in the form they came in and leaves the rest alone', async () => {
    const { told, onFit } = teller()
    const filter = agentsFit({ model: 'gpt-5.6-sol', onFit })
    const result = (callId: string, output: unknown): object => ({
      type: 'function_call_result',
      name: 'read',
      callId,
      status: 'completed',
      output,
    })
    const input: object[] = [
      { type: 'message', role: 'user', content: 'Go.' },
      { type: 'reasoning', id: 'rs_1', content: [], providerData: { encrypted_content: 'x' } },
      ...['a', 'b', 'c'].map((callId) => ({
        type: 'function_call',
        callId,
        id: `fc_${callId}`,
        name: 'read',
        arguments: '{}',
        status: 'completed',
      })),
      result('a', { type: 'text', text: linesOf(1, 30_000) }),
      result('b', linesOf(2, 30_000)),
      result('c', [{ type: 'input_text', text: linesOf(3, 30_000) }]),
    ]
    const { input: sent, instructions } = await filter({ modelData: { input, instructions: 'Be brief.' } })
    expect(instructions).toBe('Be brief.')
    expect(sent.slice(0, 5).every((item, at) => item === input[at])).toBe(true)
    const short = expect.stringContaining('characters left out') as string
    expect(sent.slice(5)).toMatchObject([
      { callId: 'a', output: { type: 'text', text: short } },
      { callId: 'b', output: short },
      { callId: 'c', output: [{ type: 'input_text', text: short }] },
    ])
    expect(reports(told)[0]!.repairs).toEqual([])
  })
})

describe('calls with ids that no OpenAI model takes', () => {
  const long = `fc_${'a'.repeat(60)}`
  const lost = `fc_${'b'.repeat(60)}`
  class Message {
    readonly content: string
    readonly type: string = 'human'
    constructor({ content }: { content: string }) {
      this.content = content
    }
  }
  class ToolMessage extends Message {
    override readonly type = 'tool'
    readonly tool_call_id: string
    constructor(fields: { content: string; tool_call_id: string }) {
      super(fields)
      this.tool_call_id = fields.tool_call_id
    }
  }

  it('[FI26] the AI SDK gets its own messages back, and a lost result under its own id', async () => {
    const asked = (toolCallId: string): ModelMessage => ({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId, toolName: 'read', input: {} }],
    })
    const messages: ModelMessage[] = [
      { role: 'user', content: 'go' },
      asked(long),
      {
        role: 'tool',
        content: [
          { type: 'tool-result', toolCallId: long, toolName: 'read', output: { type: 'text', value: 'ok' } },
        ],
      },
    ]
    const { prepareStep } = aiSdkFit({ model: 'claude-sonnet-5' })
    const whole = await prepareStep({ messages, steps: [] })
    expect(whole.messages).toEqual(messages)
    const given = [...messages, asked(lost), { role: 'user', content: 'stop' } as const]
    const cut = await prepareStep({ messages: given, steps: [] })
    expect(cut.messages.slice(0, 4)).toEqual(given.slice(0, 4))
    expect(cut.messages[4]).toMatchObject({ role: 'tool', content: [{ toolCallId: lost }] })
  })

  it('[FI26] LangChain gets its own messages back, and a lost result under its own id', async () => {
    const asked = (id: string) => ({ type: 'ai', content: '', tool_calls: [{ id, name: 'read', args: {} }] })
    const messages = [
      new Message({ content: 'go' }),
      asked(long),
      new ToolMessage({ content: 'ok', tool_call_id: long }),
      asked(lost),
      new Message({ content: 'stop' }),
    ]
    const door = langChainFit({
      model: 'claude-sonnet-5',
      HumanMessage: Message,
      ToolMessage,
    })
    const sent = await door.wrapModelCall({ messages }, (request) => request.messages)
    expect([...sent.slice(0, 4), sent[5]]).toEqual(messages)
    expect(sent[4]).toMatchObject({ type: 'tool', tool_call_id: lost })
  })

  it('[FI26] the Agents SDK gets its own items back, and a lost result under its own id', async () => {
    const items = [
      { role: 'user', content: 'go' },
      { type: 'function_call', callId: long, name: 'read', arguments: '{}' },
      { type: 'function_call_result', callId: long, name: 'read', output: { type: 'text', text: 'ok' } },
      { type: 'function_call', callId: lost, name: 'read', arguments: '{}' },
      { role: 'user', content: 'stop' },
    ]
    const { input } = await agentsFit({ model: 'gpt-6-sol' })({ modelData: { input: items } })
    expect([...input.slice(0, 4), input[5]]).toEqual(items)
    expect(input[4]).toMatchObject({ type: 'function_call_result', callId: lost })
  })
})
