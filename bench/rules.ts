// Do our rules for other programs decide as those programs do? `npm run bench -- rules [--corpus]`
//
// Each session is replayed under our rule, and at every request the program's own code is given the whole conversation.
// For each result of more than a few words both say whether it is still there in full; the share on which they agree is
// printed. Sizes are counted by one counter for both, so that rules are compared and not counters. The AI SDK is one of
// our packages; LangChain is installed into bench/peers when this runs, and left out with a line where it cannot be.
import { join } from 'node:path'
import { pruneMessages, type ModelMessage } from 'ai'
import type { WireRequest } from '../src/model/wire.ts'
import { contentText } from '../src/lab/measuring/texts.ts'
import type { Script } from '../src/lab/playing/script.ts'
import { policyNamed } from '../src/lab/policies/list.ts'
import { prepareReplay, replay } from '../src/lab/replay.ts'
import { load, sampleSources, type Source } from '../src/lab/source.ts'
import { createCounter, findModel, simulatedModels } from '../src/simulator/index.ts'
import { corpusOr } from '../test/shared-data.ts'
import { peerPackages } from './peer-packages.ts'

const modelId = 'claude-sonnet-5'
const window = 1_000_000
const fewWords = 100
/** At every so many requests the program is asked: its code is run over everything each time. */
const askEvery = 5

interface Peer {
  readonly policy: string
  readonly what: string
  /** Ids of the calls whose results are still there before this step. */
  decide(script: Script, step: number): Promise<ReadonlySet<string>>
}

const aiSdk: Peer = {
  policy: 'ai-sdk-prune',
  what: 'ai, pruneMessages({ toolCalls: before-last-2-messages })',
  decide: (script, step) => {
    const pruned = pruneMessages({
      messages: modelMessages(script, step),
      reasoning: 'before-last-message',
      toolCalls: 'before-last-2-messages',
      emptyMessages: 'remove',
    })
    const ids = pruned.flatMap(({ role, content }) =>
      role !== 'tool'
        ? []
        : content.flatMap((part) => (part.type === 'tool-result' ? [part.toolCallId] : [])),
    )
    return Promise.resolve(new Set(ids))
  },
}

type Said = Exclude<Extract<ModelMessage, { role: 'assistant' }>['content'], string>[number]

function modelMessages({ steps }: Script, step: number): ModelMessage[] {
  const messages: ModelMessage[] = []
  for (const [index, { results, input, answer }] of steps.slice(0, step + 1).entries()) {
    if (results.length > 0)
      messages.push({
        role: 'tool',
        content: results.map(({ id, content }) => ({
          type: 'tool-result',
          toolCallId: id,
          toolName: 'tool',
          output: { type: 'text', value: contentText(content) },
        })),
      })
    if (input.length > 0) messages.push({ role: 'user', content: contentText(input) })
    if (index === step) break
    messages.push({
      role: 'assistant',
      content: answer.content.flatMap((block): Said[] => {
        if (block.type === 'text' && 'text' in block) return [{ type: 'text' as const, text: block.text }]
        return block.type === 'tool_use' && 'id' in block
          ? [{ type: 'tool-call' as const, toolCallId: block.id, toolName: 'tool', input: block.input }]
          : []
      }),
    })
  }
  return messages
}

// ---- LangChain, as far as it is used here ----

interface ChainMessage {
  readonly content: unknown
  readonly tool_call_id?: string
}
interface Chain {
  readonly ClearToolUsesEdit: new () => {
    apply(given: {
      readonly messages: ChainMessage[]
      readonly countTokens: (messages: readonly ChainMessage[]) => number
    }): Promise<void>
  }
}
type Maker = new (fields: object) => ChainMessage
interface ChainMessages {
  readonly AIMessage: Maker
  readonly HumanMessage: Maker
  readonly ToolMessage: Maker
}

async function langChain(): Promise<Peer | string> {
  const bring = peerPackages('langchain')
  if (typeof bring === 'string') return bring
  const chain = (await bring('langchain')) as Chain
  const makers = (await bring('@langchain/core/messages')) as ChainMessages
  const counter = createCounter()
  const model = findModel(simulatedModels, modelId)!
  const sizes = new WeakMap<ChainMessage, number>()
  const sizeOf = (message: ChainMessage): number => {
    const known = sizes.get(message)
    if (known !== undefined) return known
    const calls = (message as { tool_calls?: unknown }).tool_calls ?? []
    const text = `${String(message.content)}${JSON.stringify(calls)}`
    const size = counter.block({ type: 'text', text }, model)
    sizes.set(message, size)
    return size
  }
  return {
    policy: 'langchain-clear',
    what: 'langchain, ClearToolUsesEdit with its defaults',
    decide: async (script, step) => {
      const messages = chainMessages(script, step, makers)
      const countTokens = (all: readonly ChainMessage[]): number =>
        all.reduce((sum, one) => sum + sizeOf(one), 0)
      await new chain.ClearToolUsesEdit().apply({ messages, countTokens })
      return new Set(
        messages.flatMap(({ tool_call_id: id, content }) =>
          id === undefined || content === '[cleared]' ? [] : [id],
        ),
      )
    },
  }
}

function chainMessages({ steps }: Script, step: number, makers: ChainMessages): ChainMessage[] {
  const { AIMessage, HumanMessage, ToolMessage } = makers
  return steps.slice(0, step + 1).flatMap(({ results, input, answer }, index) => [
    ...results.map(({ id, content }) => new ToolMessage({ tool_call_id: id, content: contentText(content) })),
    ...(input.length > 0 ? [new HumanMessage({ content: contentText(input) })] : []),
    ...(index === step
      ? []
      : [
          new AIMessage({
            content: contentText(answer.content),
            tool_calls: answer.content.flatMap((block) =>
              block.type === 'tool_use' && 'id' in block
                ? [{ id: block.id, name: 'tool', args: block.input }]
                : [],
            ),
          }),
        ]),
  ])
}

// ---- the comparison ----

/** Ids of calls whose results stand in a request as they were recorded. */
function shownIn(request: WireRequest, whole: ReadonlyMap<string, string>): ReadonlySet<string> {
  const shown = new Set<string>()
  for (const { content } of request.messages) {
    if (typeof content === 'string') continue
    for (const block of content) {
      const id = block['tool_use_id']
      if (typeof id === 'string' && contentText(block['content']).startsWith(whole.get(id) ?? '\0'))
        shown.add(id)
    }
  }
  return shown
}

async function compare(peer: Peer, sources: readonly Source[]): Promise<string> {
  let [asked, same, oursOnly, theirsOnly] = [0, 0, 0, 0]
  for (const source of sources) {
    const loaded = await load(source)
    if (!loaded.ok) continue
    const prepared = prepareReplay(loaded.recording)
    const { script } = prepared
    const whole = new Map(
      script.steps.flatMap(({ results }) =>
        results.map(({ id, content }) => [id, contentText(content)] as const),
      ),
    )
    const ours: ReadonlySet<string>[] = []
    const policy = policyNamed(peer.policy)!
    await replay(prepared, {
      policy,
      window,
      model: modelId,
      watch: (request) => ours.push(shownIn(request, whole)),
    })
    for (let step = 0; step < ours.length; step += askEvery) {
      const theirs = await peer.decide(script, step)
      const known = script.steps.slice(0, step + 1).flatMap(({ results }) => results.map(({ id }) => id))
      for (const id of known.filter((one) => whole.get(one)!.length > fewWords)) {
        asked += 1
        const [left, right] = [ours[step]!.has(id), theirs.has(id)]
        if (left === right) same += 1
        else if (left) oursOnly += 1
        else theirsOnly += 1
      }
    }
  }
  const share = asked === 0 ? '–' : `${((100 * same) / asked).toFixed(2)} %`
  return `${peer.policy.padEnd(18)}${String(asked).padStart(10)}${share.padStart(12)}${String(oursOnly).padStart(12)}${String(theirsOnly).padStart(14)}   ${peer.what}`
}

const recorded = ['cc-cli-c35cf82b04', 'cc-cli-a1d04b39c7', 'codex-mise-50efdba9', 'pi-preloop-af0dd7bf']
const isRecorded = process.argv.includes('--corpus')
const corpus = isRecorded ? corpusOr(undefined) : ''
const sources = isRecorded
  ? recorded.map((name): Source => ({ kind: 'file', path: join(corpus, `${name}.jsonl.gz`) }))
  : sampleSources
console.log(`${sources.length} ${isRecorded ? 'recorded' : 'made-up'} sessions, every ${askEvery}th request`)
console.log(
  `${'our rule'.padEnd(18)}${'decisions'.padStart(10)}${'the same'.padStart(12)}${'only ours'.padStart(12)}${'only theirs'.padStart(14)}   their code`,
)
for (const peer of [aiSdk, await langChain()])
  console.log(typeof peer === 'string' ? `left out: ${peer}` : await compare(peer, sources))
