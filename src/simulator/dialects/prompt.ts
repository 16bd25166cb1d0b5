// A request of another vendor as its cache sees it: one text whose every fourth byte is a token, so that positions, steps and
// counts agree by construction. What is not text (pictures, sealed reasoning) stands there by its digest, padded to its weight.
import { hash } from 'node:crypto'

export const BYTES_PER_TOKEN = 4

export interface PromptMark {
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
