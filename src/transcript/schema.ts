// The facts as schemas, for the edges: what is read from disk or handed in from outside is checked against these.
// Objects are loose, so that fields of later versions survive. The types stand in `fact`; a test keeps both in step.
import * as z from 'zod/mini'
import { assistantBlock, userBlock } from './content.ts'
import type { FactType } from './fact.ts'

const place = z.number().check(z.int(), z.nonnegative())
const blockRef = z.looseObject({ seq: place, block: z.optional(place) })
const innerRef = z.looseObject({ seq: place, block: z.optional(place), inner: z.optional(place) })
const kept = z.looseObject({
  at: blockRef,
  head: z.optional(place),
  tail: z.optional(place),
  lines: z.optional(z.array(z.tuple([place, place]))),
})
const count = z.number()
const text = z.string()

const stubEdit = z.looseObject({ kind: z.literal('stub'), at: innerRef, text, ref: text })
const dropEdit = z.looseObject({ kind: z.literal('drop'), from: place, to: place })
const summaryEdit = z.looseObject({
  kind: z.literal('summary'),
  from: place,
  to: place,
  text,
  ref: text,
  keep: z.array(kept),
  media: z.optional(z.array(text)),
  // Whoever goes on from it checks it: a form of another version must not cost the edit it stands in.
  counted: z.optional(z.unknown()),
})
const remoteEdit = z.looseObject({
  kind: z.literal('remote'),
  at: z.array(blockRef),
  via: z.enum(['cache-edit', 'context-management']),
})
export const knownEdit = z.union([stubEdit, dropEdit, summaryEdit, remoteEdit])
const edit = z.union([
  knownEdit,
  z.looseObject({ kind: z.string().check(z.regex(/^(?!(stub|drop|summary|remote)$)/)) }),
])

const usageShape = z.looseObject({
  input: count,
  cacheRead: count,
  cacheWrite: count,
  cacheWrite1h: z.optional(count),
  output: count,
  estimated: z.optional(z.literal(true)),
})
const toolSpec = z.looseObject({
  name: text,
  description: text,
  input_schema: z.record(z.string(), z.unknown()),
})
const section = z.looseObject({ name: text, text, side: z.enum(['static', 'dynamic']) })
const asked = z.enum(['user', 'model', 'automatic'])
const outcome = z.enum(['done', 'aborted', 'failed'])
const editing = {
  layer: text,
  asked,
  edits: z.array(edit),
  why: text,
  tokensFreed: count,
  price: z.optional(z.unknown()),
}

const shapes = {
  'session-start': {
    session: text,
    purpose: text,
    parent: z.optional(z.looseObject({ session: text, upTo: place, requestHash: z.optional(text) })),
    cwd: z.optional(text),
    startedBy: z.optional(text),
    imported: z.optional(text),
  },
  'instructions-set': { sections: z.array(section), tools: z.array(toolSpec), reminder: z.optional(text) },
  'user-message': {
    content: z.array(userBlock),
    origin: z.enum(['typed', 'program', 'queued', 'injected']),
    queued: z.optional(place),
    id: z.optional(text),
  },
  'input-queued': { content: z.array(userBlock) },
  'assistant-message': {
    content: z.array(assistantBlock),
    messageId: text,
    stop: z.nullable(text),
    ended: z.optional(z.enum(['end', 'length', 'tool', 'refusal', 'filter', 'window', 'paused', 'other'])),
    model: text,
    provider: z.optional(text),
    usage: z.optional(usageShape),
    partial: z.optional(z.boolean()),
    leftOut: z.optional(z.boolean()),
    diagnosis: z.optional(z.looseObject({ reason: text, tokens: z.optional(count) })),
    timing: z.optional(
      z.looseObject({ firstMs: z.optional(count), ms: count, tries: count, requestId: z.optional(text) }),
    ),
  },
  'tool-result': {
    call: text,
    content: z.array(userBlock),
    isError: z.boolean(),
    spill: z.optional(z.looseObject({ blob: text, bytes: count, sha256: text })),
  },
  attachment: {
    kind: text,
    content: z.array(userBlock),
    source: z.optional(text),
    restored: z.optional(z.boolean()),
    id: z.optional(text),
  },
  'memory-recall': { files: z.array(text), text },
  'request-sent': {
    source: text,
    model: text,
    upTo: place,
    hash: text,
    tokens: count,
    marks: z.array(text),
    lifetime: z.optional(z.templateLiteral([z.number(), z.enum(['m', 'h'])])),
    markedAt: z.optional(z.looseObject({ seq: place, block: place })),
    estimate: z.optional(count),
    parameters: z.optional(
      z.looseObject({ model: text, thinking: text, effort: text, betas: text, extra: text }),
    ),
    declined: z.optional(
      z.array(z.object({ layer: text, why: text, tokens: z.number(), price: z.unknown() })),
    ),
  },
  'cache-break': {
    source: text,
    causes: z.array(z.unknown()),
    tokens: count,
    cost: count,
    diff: z.optional(text),
    provider: z.optional(text),
    providerTokens: z.optional(count),
  },
  'reasoning-refused': { upTo: place },
  'feature-refused': {
    feature: z.enum([
      'context-management',
      'thinking',
      'effort',
      'caching',
      'long-lifetime',
      'cache-diagnostics',
    ]),
  },
  'window-learned': { tokens: count },
  'media-learned': {
    limits: z.looseObject({
      count: z.optional(count),
      side: z.optional(count),
      manySide: z.optional(count),
      imageBytes: z.optional(count),
      requestBytes: z.optional(count),
    }),
  },
  'view-edit': editing,
  'notes-update': { blob: text, coversTo: place, tokens: count },
  'memories-extracted': { coversTo: place, files: z.array(text), skipped: z.optional(z.boolean()) },
  boundary: {
    ...editing,
    trigger: z.enum(['auto', 'manual', 'reactive']),
    source: z.enum(['notes', 'model', 'extractive', 'user']),
    tokensBefore: count,
    tokensAfter: count,
    messagesSummarised: count,
    last: z.optional(text),
    toolsKnown: z.optional(z.array(text)),
    instructions: z.optional(text),
    kept: z.optional(z.looseObject({ head: text, tail: text, anchor: text })),
    audit: z.optional(z.unknown()),
    chain: z.optional(
      z.looseObject({
        recompaction: z.boolean(),
        turnsSince: count,
        turn: z.optional(text),
        threshold: count,
        requestSource: text,
      }),
    ),
  },
  'compaction-failed': { source: text, why: text },
  'summary-previewed': { account: text, ask: text, upTo: place },
  'compaction-recorded': { client: text, text },
  'collapse-stage': {
    spans: z.array(z.looseObject({ from: place, to: place, text: z.optional(text) })),
    armed: z.boolean(),
    lastSpawnTokens: count,
  },
  pin: { at: blockRef },
  undo: { target: place, whole: z.optional(text) },
  release: { target: place },
  rewind: { to: place },
  permission: { tool: text, decision: z.enum(['allow', 'deny']), by: text, rule: z.optional(text) },
  'model-set': { model: text, thinking: z.optional(z.unknown()), effort: z.optional(text) },
  'agent-start': {
    child: text,
    label: text,
    agent: text,
    mode: z.enum(['foreground', 'background', 'teammate']),
    forked: z.optional(z.boolean()),
    name: z.optional(text),
    worktree: z.optional(z.looseObject({ path: text, branch: text })),
  },
  'fork-end': {
    child: text,
    purpose: text,
    outcome,
    text,
    spent: z.optional(z.looseObject({ tokens: count, dollars: count })),
  },
  'turn-end': { outcome, failure: z.optional(z.looseObject({ code: text, message: text })) },
  'damage-found': {
    lost: z.array(z.looseObject({ from: place, to: place })),
    report: z.array(text),
    at: z.optional(z.array(count)),
  },
} satisfies Record<FactType, Record<string, z.ZodMiniType>>

export const factSchemas: ReadonlyMap<string, z.ZodMiniType> = new Map(
  Object.entries(shapes).map(([type, shape]) => [type, z.looseObject({ type: z.literal(type), ...shape })]),
)
