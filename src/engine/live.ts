// Live events: what passes by while a turn runs, for screens and logs. Never kept; the facts are.
import type { FileChange } from '../tools/files/file-change.ts'
import type { ModelFailure } from '../model/model.ts'
import type { Entry, FactOf, Outcome, Usage } from '../transcript/fact.ts'
import type { Seq } from '../transcript/ids.ts'
import type { StopKind } from '../transcript/stop.ts'
import type { Failure } from '../transcript/store.ts'
import { textIn } from '../transcript/content.ts'

/** Why a turn ended before it was done. */
export type TurnFailure = Failure

export type LiveEvent =
  | {
      readonly type: 'request-start'
      readonly source: string
      readonly model: string
      readonly tokens: number
    }
  | { readonly type: 'text-delta'; readonly text: string }
  | { readonly type: 'thinking-delta'; readonly text: string }
  | {
      readonly type: 'retry-wait'
      readonly attempt: number
      readonly waitMs: number
      readonly failure: ModelFailure
    }
  | {
      readonly type: 'answer-end'
      /** The word of the wire for why it ended, and what it means. */
      readonly stop: string | null
      readonly ended: StopKind
      readonly usage: Usage
      readonly dollars: number | null
    }
  | { readonly type: 'tool-start'; readonly id: string; readonly name: string; readonly input: unknown }
  | { readonly type: 'tool-progress'; readonly id: string; readonly text: string }
  | {
      readonly type: 'tool-end'
      readonly id: string
      readonly name: string
      readonly isError: boolean
      readonly text: string
      /** What a call of Edit or Write changed in its file. */
      readonly change?: FileChange | undefined
    }
  /** A layer changed the view, or wanted to and was refused. */
  | {
      readonly type: 'view-edit'
      readonly layer: string
      readonly why: string
      readonly tokensFreed: number
      readonly seq: Seq
    }
  /** The older part of the session was put away; the entry at `seq` can be undone. */
  | {
      readonly type: 'compaction'
      readonly trigger: 'auto' | 'manual' | 'reactive'
      readonly source: FactOf<'boundary'>['source'] | null
      readonly tokensBefore: number
      readonly tokensAfter: number
      /** Share of what the audit looked for that is still in sight. */
      readonly retention: number | null
      readonly seq: Seq
    }
  /** Memories, by name, that were put before the model or kept for later sessions; `held` ones wait for the user. */
  | {
      readonly type: 'memory'
      readonly did: 'recalled' | 'saved' | 'held'
      readonly files: readonly string[]
    }
  /** Something that takes long is still under way: a sign of life, and what it is. */
  | { readonly type: 'working'; readonly source: string; readonly forMs: number }
  | { readonly type: 'notice'; readonly code: string; readonly message: string }
  | { readonly type: 'turn-end'; readonly outcome: Outcome; readonly failure: TurnFailure | null }

export type Emit = (event: LiveEvent) => void

/** Events that are pushed from several places, read in order by one reader. */
export class Channel implements AsyncIterable<LiveEvent> {
  readonly #waiting: LiveEvent[] = []
  #wake: (() => void) | null = null
  #done = false

  readonly push: Emit = (event) => {
    this.#waiting.push(event)
    this.#wake?.()
  }

  end(): void {
    this.#done = true
    this.#wake?.()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<LiveEvent> {
    for (;;) {
      while (this.#waiting.length > 0) yield this.#waiting.shift()!
      if (this.#done) return
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#wake = null
    }
  }
}

/** The text of an answer's blocks, for those who only want that. */
export function textOf(entry: Entry): string {
  if (entry.fact.type !== 'assistant-message') return ''
  return textIn(entry.fact.content, '')
}
