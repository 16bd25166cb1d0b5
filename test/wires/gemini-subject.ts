// The Gemini API under the contract of wires: recorded answers and refusals, judged by the simulator's dialect.
import { checkGeminiRequest } from '../../src/simulator/dialects/check.ts'
import { sealContent } from '../../src/simulator/rules/seal.ts'
import type { RecordedAnswer, WireSubject } from '../../src/testing/wire-subject.ts'
import { geminiWire } from '../../src/wires/gemini/wire.ts'
import type { Wire } from '../../src/wires/wire.ts'
import { damageList } from './damage.ts'

const model = 'gemini-4-argon'
const secret = 'judge'
/** A signature sealed as the judge seals it: another model's would be refused. */
const signature = (text: string, by = model): string =>
  sealContent(secret, { kind: 'thought', model: by, tenant: null, tokens: 9, text })
const [first, second] = [signature('1'), signature('2')]

const usageMetadata = {
  promptTokenCount: 5000,
  cachedContentTokenCount: 4096,
  candidatesTokenCount: 20,
  thoughtsTokenCount: 9,
  totalTokenCount: 5029,
}
const event = (id: string, parts: readonly object[], finishReason?: string) => ({
  candidates: [
    { content: { role: 'model', parts }, index: 0, ...(finishReason === undefined ? {} : { finishReason }) },
  ],
  usageMetadata,
  modelVersion: `${model}-001`,
  responseId: id,
})

const answers: readonly RecordedAnswer[] = [
  {
    name: 'a thought, and words whose end is signed',
    events: [
      event('r1', [{ text: 'Hm.', thought: true }]),
      event('r1', [{ text: 'Hello ' }]),
      event('r1', [{ text: 'there.' }]),
      event('r1', [{ text: '', thoughtSignature: first }], 'STOP'),
    ],
    whole: event(
      'r1',
      [{ text: 'Hm.', thought: true }, { text: 'Hello there.' }, { text: '', thoughtSignature: first }],
      'STOP',
    ),
    text: 'Hello there.',
    calls: [],
    ended: 'end',
    goesBack: [JSON.stringify(first)],
  },
  {
    name: 'two calls, the first signed',
    events: [
      event('r2', [
        { functionCall: { id: 'c1', name: 'Read', args: { path: '1' } }, thoughtSignature: second },
      ]),
      event('r2', [{ functionCall: { id: 'c2', name: 'Read', args: { path: '2' } } }]),
      event('r2', [{ text: '' }], 'STOP'),
    ],
    whole: event(
      'r2',
      [
        { functionCall: { id: 'c1', name: 'Read', args: { path: '1' } }, thoughtSignature: second },
        { functionCall: { id: 'c2', name: 'Read', args: { path: '2' } } },
      ],
      'STOP',
    ),
    text: '',
    calls: [
      { name: 'Read', input: { path: '1' } },
      { name: 'Read', input: { path: '2' } },
    ],
    ended: 'tool',
    goesBack: [JSON.stringify(second)],
  },
  {
    name: 'cut by its length',
    events: [event('r3', [{ text: 'and ' }]), event('r3', [{ text: 'so' }], 'MAX_TOKENS')],
    whole: event('r3', [{ text: 'and so' }], 'MAX_TOKENS'),
    text: 'and so',
    calls: [],
    ended: 'length',
    goesBack: [],
  },
]

const error = (code: number, status: string, message: string, more: object = {}): string =>
  JSON.stringify({ error: { code, message, status, ...more } })

export const geminiSubject: WireSubject = {
  wire: geminiWire as Wire,
  model,
  otherModel: 'gemini-3.1-pro',
  answers,
  refusals: [
    {
      status: 400,
      text: error(
        400,
        'INVALID_ARGUMENT',
        'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
      ),
      code: 'overflow',
      retry: false,
    },
    {
      status: 429,
      text: error(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'),
      code: 'rate-limited',
      retry: true,
    },
    {
      status: 503,
      text: error(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
      code: 'overloaded',
      retry: true,
    },
    {
      status: 400,
      text: error(400, 'INVALID_ARGUMENT', 'Invalid thought signature.'),
      code: 'reasoning-invalid',
      retry: false,
    },
    {
      status: 400,
      text: error(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.'),
      code: 'unauthorized',
      retry: false,
    },
    {
      status: 500,
      text: error(500, 'INTERNAL', 'An internal error has occurred.'),
      code: 'server',
      retry: true,
    },
  ],
  asMade: (fact, by) => {
    let calls = 0
    const content = fact.content
      .filter((block) => block.type !== 'thinking')
      .map((block) =>
        block.type === 'tool_use' && 'input' in block && calls++ === 0
          ? {
              ...block,
              sidecar: {
                wire: 'gemini',
                model: by,
                raw: JSON.stringify({ thoughtSignature: signature('made', by) }),
              },
            }
          : block,
      )
    return { ...fact, model: by, content }
  },
  judge: (body, by) => checkGeminiRequest(JSON.parse(body), by, { secret })?.message ?? null,
  damage: (request, pick) => damageList(request, 'contents', ['parts'], pick),
}
