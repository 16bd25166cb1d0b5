// What forgetting costs: what an answer needed and could not see is looked up in one round more. The context is read from
// the cache once more, the smallest source that holds each missing thing is written, and the call is put out; what was
// fetched is carried from then on, until the next reduction takes it away again.
import type { WireBlock } from '../../model/wire.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Needs } from './needs.ts'
import type { SeenSource } from './sources.ts'

export interface LookUp {
  /** Tokens of what was fetched for earlier answers and is still there. */
  readonly carried: number
  /** Tokens of what is fetched for this answer, its call included; 0 where no round is needed. */
  readonly fetched: number
}

export interface Missing {
  readonly atoms: readonly string[]
  readonly texts: readonly string[]
}

export class Recovery {
  readonly #needs: Needs
  readonly #weigh: (block: WireBlock) => number
  #kept = new Set<SeenSource>()
  #tokens = 0

  constructor(needs: Needs, weigh: (block: WireBlock) => number) {
    this.#needs = needs
    this.#weigh = weigh
  }

  /** The request of a step, with what it lacks; `isReduced` where something was removed before it. */
  request(step: number, { atoms, texts }: Missing, isReduced: boolean): LookUp {
    if (isReduced) {
      this.#kept = new Set()
      this.#tokens = 0
    }
    const carried = this.#tokens
    const fetched = new Set<SeenSource>()
    for (const atom of atoms) this.#fetch(this.#needs.sourcesOf(atom, step), fetched)
    for (const text of texts) this.#fetch(this.#needs.sourcesOfText(text, step), fetched)
    if (fetched.size === 0) return { carried, fetched: 0 }
    let tokens: number = defaults.lab.lookUpOutputTokens
    for (const source of fetched) {
      tokens += this.#weigh(source.block)
      this.#kept.add(source)
    }
    this.#tokens += tokens
    return { carried, fetched: tokens }
  }

  /** The smallest of the sources that can be looked up, or of all where none can. */
  #fetch(sources: readonly SeenSource[], fetched: Set<SeenSource>): void {
    if (sources.some((source) => this.#kept.has(source) || fetched.has(source))) return
    const lasting = sources.filter(({ isLasting }) => isLasting)
    let least: SeenSource | null = null
    for (const source of lasting.length > 0 ? lasting : sources)
      if (least === null || this.#weigh(source.block) < this.#weigh(least.block)) least = source
    if (least !== null) fetched.add(least)
  }
}
