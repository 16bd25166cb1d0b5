// The numbers of one call: the model's window and what of it a list may take, and from which size on a result is cut.
import {
  lookUp,
  modelTable,
  windowOf,
  type ModelInfo,
  type ModelTable,
  type Window,
} from '../model/models.ts'
import { roomOf, type Room } from '../projection/budget.ts'
import { isThrift, pointOf, type DialPoint } from '../projection/dial.ts'
import { defaults } from '../settings/defaults.ts'
import { isRecord } from '../transcript/content.ts'
import type { FitFailure, FitOptions } from './contract.ts'
import { listNames } from './layouts.ts'
import { lifetimes, usualCharsPerToken } from './pace.ts'
import type { SentTo } from './rules.ts'
import type { TrimLimits } from './trim.ts'
import { whole } from '../transcript/whole.ts'

export interface Setting {
  readonly window: Window
  readonly info: ModelInfo | null
  readonly table: ModelTable
  readonly point: DialPoint
  readonly to: SentTo
  readonly lifetimeMs: number
}

/** An option that nobody can have meant, said by its name; a list in JavaScript may hold anything. */
export function wrongOption(messages: unknown, options: FitOptions | undefined): FitFailure | null {
  const given: Given = options ?? {}
  const wrong: readonly Row[] = [
    ['messages', Array.isArray(messages), 'the list that you would send'],
    ...wrongNames(given),
    ...wrongSizes(given),
    ...wrongCallbacks(given),
  ]
  const found = wrong.find(([, isRight]) => !isRight)
  return found === undefined
    ? null
    : badOption(
        `${found[0] === 'messages' ? '' : 'the option '}\`${found[0]}\` is wrong; it takes ${found[2]}`,
      )
}

export const badOption = (message: string): FitFailure => ({ ok: false, code: 'bad-option', message })

type Given = { readonly [Name in keyof FitOptions | 'summarise']?: unknown }
type Row = readonly [name: string, isRight: boolean, wanted: string]

const isNumber = (value: unknown, least: number, most = Infinity): boolean =>
  value === undefined ||
  (typeof value === 'number' && value >= least && value <= most && Number.isFinite(value))
const isRecordOrNone = (value: unknown): boolean => value === undefined || isRecord(value)

function wrongNames({ wire, model, models, quirks, usage }: Given): readonly Row[] {
  const wires = Object.keys(listNames)
  const isRow = (row: unknown): boolean =>
    isRecord(row) && typeof row['id'] === 'string' && isNumber(row['window'], 1)
  const counts = ['input', 'output', 'cacheRead', 'cacheWrite'] as const
  const isUsage = (value: unknown): boolean =>
    isRecord(value) && counts.every((name) => value[name] !== undefined && isNumber(value[name], 0))
  return [
    ['wire', typeof wire === 'string' && Object.hasOwn(listNames, wire), `one of ${wires.join(', ')}`],
    ['model', typeof model === 'string', 'the name of the model'],
    [
      'models',
      models === undefined || (Array.isArray(models) && models.every(isRow)),
      'a list of rows with `id`',
    ],
    ['quirks', isRecordOrNone(quirks), 'an object'],
    ['usage', usage === undefined || usage === null || isUsage(usage), 'what `usageIn` returns'],
  ]
}

function wrongSizes({
  window,
  reserve,
  thrift,
  now,
  lifetimeMs,
  limits,
  toolPolicies,
}: Given): readonly Row[] {
  const isPolicy = (policy: unknown): boolean =>
    isRecord(policy) && (policy['maxResultChars'] === null || isNumber(policy['maxResultChars'], 0))
  return [
    ['window', isNumber(window, 1), 'a number of tokens above 0'],
    [
      'reserve',
      isNumber(reserve, 0, typeof window === 'number' ? window - 1 : Infinity),
      'a number of tokens below the window',
    ],
    ['thrift', thrift === undefined || isThrift(thrift), 'a number from 0 to 1'],
    ['now', isNumber(now, 0), 'milliseconds, as Date.now() gives them'],
    ['lifetimeMs', isNumber(lifetimeMs, 0), 'milliseconds'],
    ['limits', isRecordOrNone(limits ?? undefined), 'an object'],
    ...Object.entries(limits ?? {}).map(([name, value]): Row => [
      `limits.${name}`,
      isNumber(value, 0),
      'a number of characters',
    ]),
    ['toolPolicies', isRecordOrNone(toolPolicies), 'an object'],
    ...Object.entries(toolPolicies ?? {}).map(([name, value]): Row => [
      `toolPolicies.${name}`,
      isPolicy(value),
      'an object with `maxResultChars`, a number or null',
    ]),
  ]
}

const wrongCallbacks = ({ pins, wayBack, summarise }: Given): readonly Row[] =>
  Object.entries({ pins, wayBack, summarise }).map(([name, value]) => [
    name,
    value === undefined || typeof value === 'function',
    'a function',
  ])

export function settingOf(
  options: FitOptions,
): { readonly ok: true; readonly setting: Setting } | FitFailure {
  const { model, quirks, store } = options
  const table = modelTable(options.models)
  const info = lookUp(table, model)
  const window = windowOf({ model, table, override: options.window })
  if (window.from === 'unknown')
    return {
      ok: false,
      code: 'unknown-model',
      message: `the window of the model ${JSON.stringify(model)} is not known; say it with \`window\` (in tokens), or give the model a row with \`models\``,
    }
  const point = pointOf(options.thrift ?? defaults.gateway.thrift)
  const to = { model, info, quirks, store }
  return {
    ok: true,
    setting: { window, info, table, point, to, lifetimeMs: options.lifetimeMs ?? lifetimes.short },
  }
}

/** What a list may take, where system and tools take so many tokens. */
export function roomFor(
  { window, info }: Setting,
  { reserve }: FitOptions,
  fixed: number,
): { readonly ok: true; readonly room: Room } | FitFailure {
  if (reserve !== undefined && reserve >= window.tokens)
    return {
      ok: false,
      code: 'no-room',
      message: `a reserve of ${whole(reserve)} tokens leaves nothing of the window of ${whole(window.tokens)}; say less with \`reserve\``,
    }
  const found = roomOf({
    window: window.tokens,
    maxOutput: info?.maxOutput ?? defaults.model.unknownMaxOutputTokens,
    fixed,
    thresholdTokens: reserve === undefined ? undefined : window.tokens - reserve,
  })
  return found.ok ? found : { ok: false, code: 'no-room', message: found.why }
}

/** One result takes at most this share of the room. */
const resultShare = 0.2

/** From which size on a result is cut. In a small window everything is smaller in proportion. */
export function limitsFor({ room }: Room, given: Partial<TrimLimits> | undefined, share = 1): TrimLimits {
  const { resultChars, messageChars, repeatedChars, headChars, tailChars } = {
    ...defaults.gateway,
    ...given,
  }
  const most = room * resultShare * usualCharsPerToken
  const scale = share * Math.min(1, most / Math.max(1, resultChars))
  const scaled = (chars: number): number => Math.floor(chars * scale)
  return {
    resultChars: scaled(resultChars),
    messageChars: scaled(messageChars),
    repeatedChars,
    headChars: scaled(headChars),
    tailChars: scaled(tailChars),
  }
}
