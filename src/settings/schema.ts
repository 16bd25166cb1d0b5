// The settings file: every key it may hold, what a value must look like, and where the key may stand. A key is checked
// on its own, so that one bad value costs that key and not the file.
//
// The file is one JSON object. Keys marked `user` decide where data goes or what runs on this machine; a project may
// never set them, trusted or not.
import * as z from 'zod/mini'
import { count, modelRow, provider, threshold } from './model-rows.ts'

const money = z.number().check(z.positive())

const hook = z.strictObject({
  command: z.string().check(z.minLength(1)),
  /** Only for these tools; left out, for all. */
  tools: z.optional(z.array(z.string())),
})
const hooks = z.strictObject({
  SessionStart: z.optional(z.array(hook)),
  InstructionsLoaded: z.optional(z.array(hook)),
  UserPromptSubmit: z.optional(z.array(hook)),
  PreToolUse: z.optional(z.array(hook)),
  PostToolUse: z.optional(z.array(hook)),
  PreCompact: z.optional(z.array(hook)),
  PostCompact: z.optional(z.array(hook)),
  Stop: z.optional(z.array(hook)),
})
/** Over what a tool says of its own results. */
const toolPolicy = z.strictObject({
  results: z.optional(z.enum(['keep', 'superseded', 'clear'])),
  maxResultChars: z.optional(z.nullable(count)),
})
const rules = z.array(z.string().check(z.minLength(1)))
const address = z.string().check(z.regex(/^https?:\/\/[^\s]+$/u))

export const schema = z.object({
  model: z.string().check(z.minLength(1)),
  window: count,
  threshold,
  maxOutputTokens: count,
  thinking: z.union([z.literal('adaptive'), z.literal('off'), count]),
  effort: z.string().check(z.minLength(1)),
  maxCost: money,
  maxTokens: count,
  cacheLifetime: z.enum(['5m', '1h', 'off']),
  allow: rules,
  ask: rules,
  deny: rules,
  language: z.string().check(z.regex(/^[\p{L}][\p{L}\p{M} ()'-]{0,39}$/u)),
  outputStyle: z.string().check(z.regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/)),
  permissionMode: z.enum(['default', 'acceptEdits', 'plan', 'dontAsk', 'bypass']),
  sandbox: z.enum(['auto', 'off', 'require']),
  sandboxNetwork: z.boolean(),
  sandboxWrite: z.array(z.string().check(z.regex(/^\//))),
  models: z.array(modelRow),
  providers: z.record(z.string().check(z.regex(/^[a-z][a-z0-9-]*$/)), provider),
  automaticRemoval: z.boolean(),
  budget: z.boolean(),
  snip: z.boolean(),
  microcompact: z.boolean(),
  timeClearing: z.boolean(),
  cachedClearing: z.boolean(),
  nativeClearing: z.boolean(),
  cacheDiagnostics: z.boolean(),
  autocompact: z.boolean(),
  pressureClearing: z.boolean(),
  thrift: z.union([z.number().check(z.gte(0), z.lte(1)), z.enum(['fidelity', 'balanced', 'economy'])]),
  modelSummary: z.boolean(),
  summaryModel: z.string().check(z.minLength(1)),
  notes: z.boolean(),
  notesAsSummary: z.boolean(),
  agents: z.boolean(),
  teammates: z.boolean(),
  keepResults: count,
  digestChars: z.int().check(z.nonnegative()),
  toolPolicies: z.record(z.string(), toolPolicy),
  restoreFiles: z.int().check(z.nonnegative()),
  restoreFileTokens: count,
  memory: z.boolean(),
  memoryHeadless: z.boolean(),
  memoryIndex: z.boolean(),
  memoryReview: z.boolean(),
  recall: z.boolean(),
  recallModel: z.string().check(z.minLength(1)),
  recallEncoder: z.union([z.literal('packaged'), address]),
  recallEncoderModel: z.string().check(z.minLength(1)),
  diary: z.boolean(),
  extraction: z.boolean(),
  extractionEvery: count,
  dream: z.boolean(),
  memoryDirectory: z.string().check(z.minLength(1)),
  notify: z.enum(['bell', 'desktop', 'off']),
  notifyAfter: z.int().check(z.nonnegative()),
  sync: z.enum(['full', 'batch', 'none']),
  keepSessionDays: count,
  keepSessionMegabytes: count,
  baseUrl: address,
  telemetry: z.union([z.literal('off'), address]),
  telemetryContent: z.boolean(),
  hooks,
})

export type Settings = { readonly [Key in keyof z.infer<typeof schema>]?: z.infer<typeof schema>[Key] }
export type Key = keyof Settings
export type HookSettings = z.infer<typeof hooks>

interface About {
  /** What a value must be, in words for the person who wrote another. */
  readonly expected: string
  /** `user`: only in the user's own file, in the environment or on the command line. */
  readonly scope: 'any' | 'user'
  /** The variable that sets it; hooks and model rows are too large for one. */
  readonly variable?: string
  /** In a variable it is written as on or off. */
  readonly isSwitch?: boolean
  /** Lists are gathered from all scopes. */
  readonly isList?: boolean
  /** Values that count only behind a flag, and the only ones that a project may set. */
  readonly onlyFlag?: readonly unknown[]
  readonly fromProject?: readonly unknown[]
}

const ruleList = (expected: string, variable: string): About => ({
  expected,
  scope: 'any',
  variable,
  isList: true,
})

const ofUser = (variable: string, expected: string): About => ({ expected, scope: 'user', variable })
const onOff = (variable: string): About => ({
  expected: 'true or false',
  scope: 'any',
  variable,
  isSwitch: true,
})

export const keys: Readonly<Record<Key, About>> = {
  model: { expected: 'the name of a model', scope: 'any', variable: 'PALIMPSEST_MODEL' },
  window: { expected: 'a whole number of tokens above 0', scope: 'any', variable: 'PALIMPSEST_WINDOW' },
  threshold: {
    expected: 'tokens above 0, or a share of the window such as "80%"',
    scope: 'any',
    variable: 'PALIMPSEST_THRESHOLD',
  },
  maxOutputTokens: {
    expected: 'a whole number of tokens above 0',
    scope: 'any',
    variable: 'PALIMPSEST_MAX_OUTPUT_TOKENS',
  },
  thinking: {
    expected: '"adaptive", "off" or a number of tokens',
    scope: 'any',
    variable: 'PALIMPSEST_THINKING',
  },
  effort: { expected: 'a level the model knows, as "high"', scope: 'any', variable: 'PALIMPSEST_EFFORT' },
  maxCost: { expected: 'dollars above 0', scope: 'any', variable: 'PALIMPSEST_MAX_COST' },
  maxTokens: {
    expected: 'a whole number of tokens above 0',
    scope: 'any',
    variable: 'PALIMPSEST_MAX_TOKENS',
  },
  cacheLifetime: { expected: '"5m", "1h" or "off"', scope: 'any', variable: 'PALIMPSEST_CACHE_LIFETIME' },
  allow: ruleList('a list of rules, as ["Edit", "Bash(npm test)"]', 'PALIMPSEST_ALLOW'),
  ask: ruleList('a list of rules, as ["Bash(git push *)"]', 'PALIMPSEST_ASK'),
  deny: ruleList('a list of rules, as ["Read(secrets/**)"]', 'PALIMPSEST_DENY'),
  language: {
    expected: 'the name of a language, as German',
    scope: 'user',
    variable: 'PALIMPSEST_LANGUAGE',
  },
  outputStyle: {
    expected: 'the name of a file in output-styles, without .md',
    scope: 'any',
    variable: 'PALIMPSEST_OUTPUT_STYLE',
  },
  permissionMode: {
    expected: '"default", "acceptEdits", "plan" or "dontAsk"; "bypass" only behind --permission-mode',
    scope: 'any',
    variable: 'PALIMPSEST_PERMISSION_MODE',
    onlyFlag: ['bypass'],
    fromProject: ['default', 'plan', 'dontAsk'],
  },
  sandbox: { expected: '"auto", "off" or "require"', scope: 'user', variable: 'PALIMPSEST_SANDBOX' },
  sandboxNetwork: {
    expected: 'true or false',
    scope: 'user',
    variable: 'PALIMPSEST_SANDBOX_NETWORK',
    isSwitch: true,
  },
  sandboxWrite: { expected: 'a list of folders, each from the root of the disk', scope: 'user' },
  models: {
    expected:
      'a list of {id, window?, maxOutput?, minCacheTokens?, prices?, threshold?, capabilities?, media?}',
    scope: 'any',
  },
  providers: { expected: 'by name {wire?, baseUrl?, keyVariable?, quirks?}', scope: 'user' },
  automaticRemoval: onOff('PALIMPSEST_AUTOMATIC_REMOVAL'),
  budget: onOff('PALIMPSEST_BUDGET'),
  snip: onOff('PALIMPSEST_SNIP'),
  microcompact: onOff('PALIMPSEST_MICROCOMPACT'),
  timeClearing: onOff('PALIMPSEST_TIME_CLEARING'),
  cachedClearing: onOff('PALIMPSEST_CACHED_CLEARING'),
  nativeClearing: onOff('PALIMPSEST_NATIVE_CLEARING'),
  cacheDiagnostics: onOff('PALIMPSEST_CACHE_DIAGNOSTICS'),
  autocompact: onOff('PALIMPSEST_AUTOCOMPACT'),
  pressureClearing: onOff('PALIMPSEST_PRESSURE_CLEARING'),
  thrift: {
    expected: 'a number from 0 to 1, or "fidelity", "balanced" or "economy"',
    scope: 'any',
    variable: 'PALIMPSEST_THRIFT',
  },
  modelSummary: onOff('PALIMPSEST_MODEL_SUMMARY'),
  summaryModel: { expected: 'the name of a model', scope: 'any', variable: 'PALIMPSEST_SUMMARY_MODEL' },
  notes: onOff('PALIMPSEST_NOTES'),
  notesAsSummary: onOff('PALIMPSEST_NOTES_AS_SUMMARY'),
  agents: onOff('PALIMPSEST_AGENTS'),
  teammates: onOff('PALIMPSEST_TEAMMATES'),
  keepResults: {
    expected: 'a whole number above 0',
    scope: 'any',
    variable: 'PALIMPSEST_KEEP_RESULTS',
  },
  digestChars: {
    expected: 'a whole number of characters, or 0',
    scope: 'any',
    variable: 'PALIMPSEST_DIGEST_CHARS',
  },
  toolPolicies: {
    expected:
      'by the name of a tool {"results": "keep", "superseded" or "clear", "maxResultChars": a number or null}',
    scope: 'any',
  },
  restoreFiles: {
    expected: 'a whole number of files, or 0',
    scope: 'any',
    variable: 'PALIMPSEST_RESTORE_FILES',
  },
  restoreFileTokens: {
    expected: 'a whole number of tokens above 0',
    scope: 'any',
    variable: 'PALIMPSEST_RESTORE_FILE_TOKENS',
  },
  memory: { ...onOff('PALIMPSEST_MEMORY'), fromProject: [false] },
  memoryHeadless: { ...onOff('PALIMPSEST_MEMORY_HEADLESS'), scope: 'user' },
  memoryIndex: onOff('PALIMPSEST_MEMORY_INDEX'),
  memoryReview: { ...onOff('PALIMPSEST_MEMORY_REVIEW'), fromProject: [true] },
  recall: onOff('PALIMPSEST_RECALL'),
  recallModel: {
    expected: 'the name of a model, or "off"',
    scope: 'any',
    variable: 'PALIMPSEST_RECALL_MODEL',
  },
  recallEncoder: ofUser('PALIMPSEST_RECALL_ENCODER', 'an http address, or "packaged"'),
  recallEncoderModel: ofUser('PALIMPSEST_RECALL_ENCODER_MODEL', 'the name of a model'),
  diary: onOff('PALIMPSEST_DIARY'),
  extraction: { ...onOff('PALIMPSEST_EXTRACTION'), fromProject: [false] },
  extractionEvery: {
    expected: 'a whole number of turns above 0',
    scope: 'any',
    variable: 'PALIMPSEST_EXTRACTION_EVERY',
  },
  dream: { ...onOff('PALIMPSEST_DREAM'), fromProject: [false] },
  memoryDirectory: ofUser('PALIMPSEST_MEMORY_DIRECTORY', 'an absolute path, or one that begins with ~/'),
  keepSessionDays: {
    expected: 'a whole number of days above 0',
    scope: 'user',
    variable: 'PALIMPSEST_KEEP_SESSION_DAYS',
  },
  keepSessionMegabytes: {
    expected: 'a whole number of megabytes above 0',
    scope: 'user',
    variable: 'PALIMPSEST_KEEP_SESSION_MEGABYTES',
  },
  notify: { expected: '"bell", "desktop" or "off"', scope: 'user', variable: 'PALIMPSEST_NOTIFY' },
  notifyAfter: {
    expected: 'a whole number of seconds, or 0',
    scope: 'user',
    variable: 'PALIMPSEST_NOTIFY_AFTER',
  },
  sync: { expected: '"full", "batch" or "none"', scope: 'any', variable: 'PALIMPSEST_SYNC' },
  baseUrl: { expected: 'an http or https address', scope: 'user', variable: 'ANTHROPIC_BASE_URL' },
  telemetry: ofUser('OTEL_EXPORTER_OTLP_ENDPOINT', 'the http address of an OTLP collector, or "off"'),
  // No variable: what a project's scripts put into the environment must not send what was said elsewhere.
  telemetryContent: { expected: 'true or false', scope: 'user' },
  hooks: { expected: 'for each moment a list of {command, tools?}', scope: 'user' },
}

/** Never a project's to set, under any name people try. */
const neverFromProject =
  /^(?:base_?url|api_?url|api_?key(?:helper)?|auth_?token|hooks?|env|environment|proxy|https?_?proxy|(?:auto_?)?memory_?(?:dir|directory|folder))$/i
export const isUsersOnly = (key: string): boolean =>
  neverFromProject.test(key) || (isKey(key) && keys[key].scope === 'user')

export const isKey = (key: string): key is Key => Object.hasOwn(keys, key)

export type Checked<K extends Key> =
  | { readonly ok: true; readonly value: Settings[K] }
  | { readonly ok: false; readonly where: string }

/** One value against its key. `where` names the place inside it that does not fit. */
export function check<K extends Key>(key: K, value: unknown): Checked<K> {
  const parsed = schema.shape[key].safeParse(value)
  if (parsed.success) return { ok: true, value: parsed.data as Settings[K] }
  const path = parsed.error.issues[0]?.path ?? []
  return { ok: false, where: [key, ...path].join('.') }
}

/** Keys that earlier versions knew: a file that still has one is told what became of it. */
export const retired: Readonly<Record<string, string>> = {
  collapse: 'is no longer a setting: the layer it switched on cost more than it saved. Remove the key',
}
