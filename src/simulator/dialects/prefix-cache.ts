// The cache of vendors that keep prefixes unasked: hits in whole steps, from a minimum on, apart by model, tenant and key, and
// readable once the writing response has begun. Models that bill writes also take explicit marks, whose end is exact. Open
// choices: a use renews what it used with the request's lifetime; a mark is read only by a mark or by steps that were written
// unasked; a model that promises nothing is asked by the caller whether it hits.
// The cache sees a request as one text whose every fourth byte is a token, so that positions, steps and counts agree by
// construction. What is not text (pictures, sealed reasoning) stands there by its digest, padded to its weight.
import { hash } from 'node:crypto'
import { createSweep } from '../cache.ts'
import type { DialectModel } from './models.ts'

interface PrefixQuery {
  readonly prompt: RenderedPrompt
  readonly model: DialectModel
  /** Tenant, and the key a client routes by: another one is another machine. */
  readonly scope: string
  readonly startedAt: number
  /** Whether the end of the prompt is written unasked. */
  readonly mode: 'implicit' | 'explicit'
  readonly lifetimeMs: number
  readonly isLucky: boolean
}

export interface PrefixReading {
  readonly totalTokens: number
  readonly cachedTokens: number
  /** Zero where the model does not bill writes. */
  readonly writtenTokens: number
  /** Of those, what is kept longer than the model's usual lifetime. */
  readonly writtenLongTokens: number
  /** Names of the steps, for comparing two prompts. */
  readonly steps: readonly string[]
  commit(firstByteAt: number): void
}

interface Kept {
  readonly lifetimeMs: number
  visibleAt: number
  expiresAt: number
}

/** Marks that are looked at when reading, and written by one request. */
const LOOKED_AT_MARKS = 80
const WRITTEN_MARKS = { implicit: 3, explicit: 4 } as const
const ALGORITHM = 'sha1'

export function createPrefixCache(): { open(query: PrefixQuery): PrefixReading } {
  const kept = new Map<string, Kept>()
  const sweep = createSweep(kept)
  return {
    open: (query) => {
      const { prompt, model, startedAt, mode } = query
      const steps = stepNames(query)
      const marks = model.cache.writes ? prompt.marks.slice(-LOOKED_AT_MARKS) : []
      const isThere = (name: string): boolean => {
        const entry = kept.get(name)
        return entry !== undefined && entry.visibleAt <= startedAt && entry.expiresAt > startedAt
      }
      const usable = (tokens: number): number => (tokens >= model.cache.minimum ? tokens : 0)
      const leading = steps.findIndex((name) => !isThere(name))
      const stepTokens = (leading < 0 ? steps.length : leading) * model.cache.step
      const markTokens = Math.max(
        0,
        ...marks.filter((mark) => isThere(markName(query, steps, mark))).map(tokensOf),
      )
      const byStep = mode === 'implicit' ? usable(stepTokens) : 0
      const cachedTokens = query.isLucky ? Math.max(byStep, usable(markTokens)) : 0
      const written = marks.slice(-WRITTEN_MARKS[mode]).filter((mark) => usable(tokensOf(mark)) > 0)
      const implicitEnd = mode === 'implicit' ? usable(steps.length * model.cache.step) : 0
      const ends = [...written.map(tokensOf), implicitEnd, cachedTokens]
      const longEnds = [
        ...written
          .filter((mark) => (mark.lifetimeMs ?? query.lifetimeMs) > model.cache.lifetimeMs)
          .map(tokensOf),
        ...(query.lifetimeMs > model.cache.lifetimeMs ? [implicitEnd] : []),
      ]
      const writtenTokens = model.cache.writes ? Math.max(...ends) - cachedTokens : 0
      return {
        totalTokens: prompt.tokens,
        cachedTokens,
        writtenTokens,
        writtenLongTokens: model.cache.writes ? Math.max(0, Math.max(0, ...longEnds) - cachedTokens) : 0,
        steps,
        commit: (firstByteAt) => {
          sweep(startedAt)
          if (mode === 'implicit' && usable(prompt.tokens) > 0)
            for (const name of steps) keep(kept, name, startedAt, firstByteAt, query.lifetimeMs)
          for (const mark of written)
            keep(
              kept,
              markName(query, steps, mark),
              startedAt,
              firstByteAt,
              mark.lifetimeMs ?? query.lifetimeMs,
            )
        },
      }
    },
  }
}

function keep(
  kept: Map<string, Kept>,
  name: string,
  startedAt: number,
  firstByteAt: number,
  lifetimeMs: number,
): void {
  const before = kept.get(name)
  const isLive = before !== undefined && before.expiresAt > startedAt
  kept.set(name, {
    lifetimeMs,
    visibleAt: isLive ? Math.min(before.visibleAt, firstByteAt) : firstByteAt,
    expiresAt: Math.max(isLive ? before.expiresAt : 0, startedAt + lifetimeMs),
  })
}

function tokensOf(mark: PromptMark): number {
  return Math.ceil(mark.end / BYTES_PER_TOKEN)
}

/** One name for each whole step, of everything up to its end. */
function stepNames({ prompt, model, scope }: PrefixQuery): readonly string[] {
  const size = model.cache.step * BYTES_PER_TOKEN
  const names: string[] = []
  let name = hash(ALGORITHM, `${model.id}|${scope}`)
  for (let at = 0; at + size <= prompt.bytes.length; at += size) {
    name = hash(ALGORITHM, Buffer.concat([Buffer.from(name), prompt.bytes.subarray(at, at + size)]))
    names.push(name)
  }
  return names
}

function markName(query: PrefixQuery, steps: readonly string[], { end }: PromptMark): string {
  const { prompt, model, scope } = query
  const size = model.cache.step * BYTES_PER_TOKEN
  const whole = Math.floor(end / size)
  const before = steps[whole - 1] ?? hash(ALGORITHM, `${model.id}|${scope}`)
  return hash(ALGORITHM, Buffer.concat([Buffer.from(`${before}|`), prompt.bytes.subarray(whole * size, end)]))
}

const BYTES_PER_TOKEN = 4

interface PromptMark {
  /** Bytes up to and including what carries the mark. */
  readonly end: number
  readonly lifetimeMs: number | null
}

export interface RenderedPrompt {
  readonly bytes: Buffer
  readonly tokens: number
  readonly marks: readonly PromptMark[]
}

export interface PromptText {
  add(text: string): void
  /** Something that is not text and weighs so many tokens. */
  weigh(content: string, tokens: number): void
  mark(lifetimeMs: number | null): void
  done(): RenderedPrompt
}

export function createPromptText(): PromptText {
  const parts: Buffer[] = []
  const marks: PromptMark[] = []
  let length = 0
  const push = (part: Buffer): void => {
    parts.push(part)
    length += part.length
  }
  return {
    add: (text) => push(Buffer.from(`${text}\n`)),
    weigh: (content, tokens) => {
      const room = Math.max(1, tokens) * BYTES_PER_TOKEN
      const name = hash('sha1', content)
      push(Buffer.from(name.repeat(Math.ceil(room / name.length)).slice(0, room)))
    },
    mark: (lifetimeMs) => {
      marks.push({ end: length, lifetimeMs })
    },
    done: () => {
      const bytes = Buffer.concat(parts)
      return { bytes, tokens: Math.ceil(bytes.length / BYTES_PER_TOKEN), marks }
    },
  }
}
