// Ways in which lists of messages were seen to break: cuts, lost and doubled pieces, moved blocks, corrupted fields.
import type FastCheck from 'fast-check'
import type { WireBlock, WireMessage } from '../../src/model/wire.ts'

type Fc = typeof FastCheck
type Arbitrary<T> = FastCheck.Arbitrary<T>
type Message = { role: string; content: unknown } & Record<string, unknown>
/** Changes the list in place; the numbers say where, taken modulo what there is. */
type Blow = (list: Message[], a: number, b: number) => void

const pick = <T>(list: readonly T[], at: number): T | undefined => list[at % Math.max(1, list.length)]
const blocksAt = (list: Message[], at: number): unknown[] => {
  const message = pick(list, at)
  if (message === undefined) return []
  if (typeof message.content === 'string') message.content = [{ type: 'text', text: message.content }]
  if (!Array.isArray(message.content)) message.content = []
  return message.content as unknown[]
}
const onBlock =
  (change: (block: Record<string, unknown>) => unknown): Blow =>
  (list, a, b) => {
    const blocks = blocksAt(list, a)
    if (blocks.length === 0) return
    const at = b % blocks.length
    blocks[at] = change({ ...(blocks[at] as Record<string, unknown>) })
  }
const onType =
  (type: string, change: (block: Record<string, unknown>) => unknown): Blow =>
  (list, a) => {
    const places = list.flatMap((message, at) =>
      Array.isArray(message.content)
        ? message.content.flatMap((block: unknown, index) =>
            (block as WireBlock | null)?.type === type ? [{ at, index }] : [],
          )
        : [],
    )
    const place = pick(places, a)
    const blocks = place === undefined ? [] : (list[place.at]?.content as unknown[])
    if (place !== undefined)
      blocks[place.index] = change({ ...(blocks[place.index] as Record<string, unknown>) })
  }
const inserting =
  (...made: readonly unknown[]): Blow =>
  (list, a, b) => {
    const blocks = blocksAt(list, a)
    const block = pick(made, b)
    blocks.splice(
      b % (blocks.length + 1),
      0,
      typeof block === 'object' && block !== null ? { ...block } : block,
    )
  }

const structure: Readonly<Record<string, Blow>> = {
  cutHead: (list, a) => void list.splice(0, a % (list.length + 1)),
  cutTail: (list, a) => void list.splice(list.length - (a % (list.length + 1))),
  cutMiddle: (list, a, b) => void list.splice(a % (list.length + 1), b % 4),
  swap: (list, a, b) => {
    const [one, two] = [a % Math.max(1, list.length), b % Math.max(1, list.length)]
    const [first, second] = [list[one], list[two]]
    if (first !== undefined && second !== undefined) [list[one], list[two]] = [second, first]
  },
  doubleMessage: (list, a, b) => {
    const message = pick(list, a)
    if (message !== undefined) list.splice(b % (list.length + 1), 0, { ...message })
  },
  loseBlock: (list, a, b) => void blocksAt(list, a).splice(b % 7, 1),
  doubleBlock: (list, a, b) => {
    const block = pick(blocksAt(list, a), b)
    if (block !== undefined) blocksAt(list, a + b).push(block)
  },
  moveBlock: (list, a, b) => {
    const [block] = blocksAt(list, a).splice(b % 5, 1)
    if (block !== undefined) blocksAt(list, a + b).unshift(block)
  },
  splitMessage: (list, a) => {
    const at = a % Math.max(1, list.length)
    const message = list[at]
    if (message === undefined || !Array.isArray(message.content)) return
    list.splice(at + 1, 0, { ...message, content: message.content.splice(1) })
  },
  changeRole: (list, a, b) => {
    const message = pick(list, a)
    if (message !== undefined)
      message.role = pick(['user', 'assistant', 'system', 'tool', 'developer'], b) ?? 'user'
  },
  addSystem: (list, a, b) =>
    void list.splice(a % (list.length + 1), 0, {
      role: 'system',
      content: b % 3 === 0 ? '' : 'new rule',
      clear_by: 1,
    }),
  loseContent: (list, a, b) => {
    const message = pick(list, a)
    if (message !== undefined) message.content = pick([null, undefined, [], '', ' \n', 7], b)
  },
  addKeys: (list, a) => void Object.assign(pick(list, a) ?? {}, { id: 'msg_1', usage: {}, tool_calls: [] }),
}

const fields: Readonly<Record<string, Blow>> = {
  blankText: onType('text', (block) => ({ ...block, text: ' \u2003\n' })),
  halfCharacter: onType('text', (block) => ({ ...block, text: `${String(block['text'])}\ud83d` })),
  noText: onType('text', (block) => ({ ...block, text: null })),
  citations: onType('text', (block) => ({ ...block, citations: [{ type: 'char_location' }] })),
  callId: onType('tool_use', (block) => ({ ...block, id: 'bad id/1' })),
  sameId: onType('tool_use', (block) => ({ ...block, id: 'toolu_0001' })),
  noId: onType('tool_use', (block) => ({ ...block, id: undefined })),
  callName: onType('tool_use', (block) => ({ ...block, name: `файл${'x'.repeat(80)}` })),
  cutInput: onType('tool_use', (block) => ({ ...block, input: '{"path":"a' })),
  listInput: onType('tool_use', (block) => ({ ...block, input: [1] })),
  brokenInput: onType('tool_use', (block) => ({ ...block, broken: '{"a' })),
  strayResult: onType('tool_result', (block) => ({ ...block, tool_use_id: 'toolu_9999' })),
  blankResult: onType('tool_result', (block) => ({ ...block, content: [{ type: 'text', text: '' }] })),
  oddResult: onType('tool_result', (block) => ({ ...block, content: { rows: 3 }, is_error: 'yes' })),
  nestedResult: onType('tool_result', (block) => ({
    ...block,
    content: ['bare', { type: 'tool_use', id: 'x' }, null],
  })),
  failedImage: onType('tool_result', (block) => ({
    ...block,
    is_error: true,
    content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }],
  })),
  silentFailure: onType('tool_result', (block) => ({ ...block, is_error: true, content: [] })),
  unsigned: onType('thinking', (block) => ({ ...block, signature: undefined })),
  foreignSignature: onType('thinking', (block) => ({ ...block, signature: 'reasoning_content' })),
  cutSignature: onType('thinking', (block) => ({
    ...block,
    signature: String(block['signature']).slice(0, -3),
  })),
  halfThought: onType('thinking', (block) => ({ ...block, thinking: 'cut \ud83d' })),
  noSource: onType('image', (block) => ({ ...block, source: undefined })),
  mark: onBlock((block) => ({ ...block, cache_control: { type: 'ephemeral' } })),
  longMark: onBlock((block) => ({ ...block, cache_control: { type: 'ephemeral', ttl: '1h' } })),
  oddMark: onBlock((block) => ({ ...block, cache_control: { type: 'forever', ttl: '2d' } })),
  nullMark: onBlock((block) => ({ ...block, cache_control: null })),
  extraKey: onBlock((block) => ({ ...block, note: 1, id2: null })),
  noType: onBlock((block) => ({ ...block, type: undefined })),
  junk: inserting(null, 7, 'bare words', { text: 'no type' }, []),
  strangers: inserting(
    { type: 'thinking', thinking: '', signature: 'AAAA' },
    { type: 'tool_use', id: 'x1', name: 'read', input: {} },
    { type: 'tool_result', tool_use_id: 'x2', content: 'lost' },
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
    { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a' } },
    {
      type: 'search_result',
      source: 's',
      title: 't',
      content: [{ type: 'text', text: 'q', citations: [{}] }],
    },
    { type: 'tool_addition' },
    { type: 'text', text: '', cache_control: { type: 'ephemeral' } },
  ),
}

const struck = (
  messages: readonly WireMessage[],
  blows: readonly (readonly [Blow, number, number])[],
): readonly WireMessage[] => {
  const list = structuredClone<unknown>(messages) as Message[]
  for (const [blow, a, b] of blows) blow(list, a, b)
  const out: unknown = list
  return out as readonly WireMessage[]
}
const blowsOf = (
  fc: Fc,
  blows: Readonly<Record<string, Blow>>,
  maxLength: number,
): Arbitrary<readonly (readonly [Blow, number, number])[]> =>
  fc
    .array(fc.tuple(fc.constantFrom(...Object.keys(blows)), fc.nat(1000), fc.nat(1000)), {
      minLength: 1,
      maxLength,
    })
    .map((list) =>
      list.flatMap(([name, a, b]) => (blows[name] === undefined ? [] : [[blows[name], a, b] as const])),
    )

/** Any damage, several blows at a time. */
export const damaged = (
  fc: Fc,
  history: Arbitrary<readonly WireMessage[]>,
): Arbitrary<readonly WireMessage[]> =>
  fc
    .tuple(history, blowsOf(fc, { ...structure, ...fields }, 8))
    .map(([messages, blows]) => struck(messages, blows))

const visible = new Set(
  'blankText halfCharacter callId cutInput strayResult blankResult cutSignature mark extraKey'.split(' '),
)
/** One blow that no valid list shows: what repair must notice by itself. A clean cut is the caller's to tell. */
export const visibleDamage = (
  fc: Fc,
  history: Arbitrary<readonly WireMessage[]>,
): Arbitrary<readonly WireMessage[]> => {
  const chosen = Object.fromEntries(Object.entries(fields).filter(([name]) => visible.has(name)))
  return fc.tuple(history, blowsOf(fc, chosen, 1)).map(([messages, blows]) => struck(messages, blows))
}
