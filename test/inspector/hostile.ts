// One fact of every kind with every text in it replaced by what attacks a page. What only some words may fill (a kind, an
// outcome) stays; names, ids, labels, reasons, paths and texts do not.
import type { Fact } from '../../src/transcript/fact.ts'
import { callId, seq, sessionId, uuid } from '../../src/transcript/ids.ts'

export const payloads = [
  '<script>window.ran=1</script>',
  '<img src=x onerror="window.ran=1">',
  '"><svg onload=window.ran=1>',
  "'-window.ran=1-'",
  'javascript:window.ran=1',
  '</title></style></textarea><iframe srcdoc="<script>parent.ran=1</script>">',
  '{{constructor.constructor("window.ran=1")()}}',
  '${window.ran=1}',
  '\u202Egpj.exe\u2066\u200B\u0000\u001B[2J\u2028',
  '<link rel=stylesheet href=//evil.example/x.css><base href=//evil.example>',
  '<meta http-equiv=refresh content="0;url=//evil.example">',
  'data:text/html,<script>window.ran=1</script>',
  '__proto__',
  '</script><script>window.ran=1</script><!--',
] as const

/** Kinds of facts that nobody knows: what attacks a page, names that every object has, and more than a column of bytes can tell apart. */
export const hostileKinds: readonly string[] = [
  '\u202Eepyt\u200B',
  'constructor',
  'toString',
  'valueOf',
  'hasOwnProperty',
  ...payloads,
  ...Array.from({ length: 260 }, (_, at) => `kind-${at}`),
]

/** Counts through the payloads, so that every one of them stands in many places. */
export function hostileFacts(
  textAt: (turn: number) => string = (turn) => payloads[turn % payloads.length]!,
): readonly Fact[] {
  let turn = 0
  const p = (): string => `${textAt(turn++)} ${turn}`
  const text = (): { readonly type: 'text'; readonly text: string } => ({ type: 'text', text: p() })
  const usage = { input: 10, cacheRead: 2000, cacheWrite: 500, output: 40 }
  const sent = (upTo: number): Fact => ({
    type: 'request-sent',
    source: p(),
    model: p(),
    upTo: seq(upTo),
    hash: p(),
    tokens: 2510,
    marks: [p(), p()],
    estimate: 2500,
    parameters: { model: p(), thinking: p(), effort: p(), betas: p(), extra: p() },
    declined: [
      {
        layer: p(),
        why: p(),
        tokens: 9,
        price: {
          kind: 'economy',
          isWarm: true,
          freedTokens: 9,
          tailTokens: 1,
          expectedRequests: 2,
          saves: 0.1,
          costs: 0.2,
          net: -0.1,
          isWorth: false,
        },
      },
    ],
  })
  const said = (name: string, id: string): Fact => ({
    type: 'assistant-message',
    content: [
      { type: 'thinking', thinking: p(), signature: p() },
      text(),
      { type: 'tool_use', id, name, input: { [p()]: p(), nested: { [p()]: [p()] } } },
    ],
    messageId: p(),
    stop: p(),
    model: p(),
    provider: p(),
    usage,
    diagnosis: { reason: p(), tokens: 3 },
    timing: { ms: 5, tries: 1, requestId: p() },
  })
  const tool = p()
  const id = callId(p())
  return [
    { type: 'session-start', session: sessionId('hostile'), purpose: p(), cwd: p(), imported: p() },
    {
      type: 'instructions-set',
      sections: [
        { name: p(), text: p(), side: 'static' },
        { name: p(), text: p(), side: 'dynamic' },
      ],
      tools: [{ name: tool, description: p(), input_schema: { type: 'object', [p()]: p() } }],
      reminder: p(),
    },
    {
      type: 'user-message',
      content: [
        text(),
        { type: 'image', source: { type: 'base64', media_type: p(), data: btoa('<svg onload=alert(1)>') } },
      ],
      origin: 'typed',
    },
    sent(2),
    said(tool, id),
    { type: 'tool-result', call: id, content: [text(), text()], isError: true },
    { type: 'attachment', kind: p(), content: [text()], source: p(), id: p() },
    { type: 'memory-recall', files: [p(), p()], text: p() },
    sent(7),
    { ...said(tool, callId(p())), content: [text()] } as Fact,
    {
      type: 'cache-break',
      source: p(),
      causes: [p(), { kind: p(), message: 3, name: p() }],
      tokens: 900,
      cost: 0.01,
      diff: p(),
      provider: p(),
      providerTokens: 890,
    },
    {
      type: 'view-edit',
      layer: p(),
      asked: 'automatic',
      edits: [{ kind: 'stub', at: { seq: seq(5) }, text: p(), ref: p() }],
      why: p(),
      tokensFreed: 50,
    },
    {
      type: 'boundary',
      trigger: 'auto',
      source: 'extractive',
      tokensBefore: 4000,
      tokensAfter: 900,
      messagesSummarised: 4,
      instructions: p(),
      last: uuid(p()),
      audit: {
        retention: 0.5,
        lost: [p(), { kind: p(), text: p() }],
        kinds: { [p()]: { found: 2, kept: 1 } },
      },
      layer: p(),
      asked: 'user',
      edits: [{ kind: 'summary', from: seq(2), to: seq(7), text: p(), ref: p(), keep: [] }],
      why: p(),
      tokensFreed: 3000,
    },
    { type: 'compaction-failed', source: p(), why: p() },
    { type: 'summary-previewed', account: p(), ask: p(), upTo: seq(5) },
    { type: 'permission', tool: p(), decision: 'deny', by: p(), rule: p() },
    { type: 'model-set', model: p(), effort: p() },
    {
      type: 'agent-start',
      child: sessionId(p()),
      label: p(),
      agent: p(),
      mode: 'background',
      name: p(),
      worktree: { path: p(), branch: p() },
    },
    {
      type: 'fork-end',
      child: sessionId(p()),
      purpose: p(),
      outcome: 'failed',
      text: p(),
      spent: { tokens: 3, dollars: 0.1 },
    },
    { type: 'notes-update', blob: p(), coversTo: seq(3), tokens: 4 },
    { type: 'memories-extracted', coversTo: seq(3), files: [p()] },
    { type: 'damage-found', lost: [], report: [p()] },
    { type: 'turn-end', outcome: 'failed', failure: { code: p(), message: p() } },
    { type: 'user-message', content: [text()], origin: 'queued' },
    sent(23),
    { ...said(tool, callId(p())), content: [text(), text()] } as Fact,
    { type: 'turn-end', outcome: 'done' },
    { type: 'compaction-recorded', client: p(), text: `${p()} `.repeat(60) },
  ]
}
