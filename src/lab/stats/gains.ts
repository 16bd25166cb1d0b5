// What each layer earned and cost in one session, in dollars: a reduction saves what it took out at every later request,
// up to the next boundary, and costs what a warm cache had to be told again because of it.
import { lookUp, type ModelTable } from '../../model/models.ts'
import { tokenRates } from '../../engine/limits/spend.ts'
import type { Usage } from '../../transcript/fact.ts'
import { lifetimeMs } from '../../transcript/lifetime.ts'
import { recordedLifetime } from '../../wires/maker-rules.ts'

export interface LayerGain {
  readonly edits: number
  readonly tokensFreed: number
  readonly saved: number
  readonly rewritten: number
}

export const noGain: LayerGain = { edits: 0, tokensFreed: 0, saved: 0, rewritten: 0 }

interface Reduction {
  readonly layer: string
  readonly freed: number
  isOver: boolean
}

export class Gains {
  readonly #models: ModelTable
  readonly #reductions: Reduction[] = []
  readonly #layers = new Map<string, LayerGain>()
  #pending: Reduction[] = []
  #cached = 0
  #lastAt: number | null = null

  constructor(models: ModelTable) {
    this.#models = models
  }

  edit(layer: string, freed: number, isBoundary: boolean): void {
    if (isBoundary) for (const reduction of this.#reductions) reduction.isOver = true
    const reduction = { layer, freed: Math.max(0, freed), isOver: false }
    this.#reductions.push(reduction)
    this.#pending.push(reduction)
    this.#add(layer, { ...noGain, edits: 1, tokensFreed: reduction.freed })
  }

  answer(at: number, model: string, usage: Usage): void {
    const lifetime = recordedLifetime(lookUp(this.#models, model), usage)
    const prompt = usage.input + usage.cacheRead + usage.cacheWrite
    const rates = tokenRates(this.#models, model, lifetime, prompt)
    const isWarm = this.#lastAt !== null && at - this.#lastAt < lifetimeMs(lifetime)
    if (rates !== null) {
      const freed = this.#pending.reduce((sum, reduction) => sum + reduction.freed, 0)
      const again = isWarm ? Math.max(0, this.#cached - usage.cacheRead - freed) : 0
      for (const { layer, freed: own } of this.#pending)
        this.#add(layer, {
          ...noGain,
          rewritten: freed === 0 ? 0 : (own / freed) * again * (rates.write - rates.read),
        })
      for (const { layer, freed: own, isOver } of this.#reductions)
        if (!isOver) this.#add(layer, { ...noGain, saved: own * (isWarm ? rates.read : rates.write) })
    }
    this.#pending = []
    this.#cached = usage.cacheRead + usage.cacheWrite
    this.#lastAt = at
  }

  layers(): ReadonlyMap<string, LayerGain> {
    return this.#layers
  }

  #add(layer: string, gain: LayerGain): void {
    this.#layers.set(layer, added(this.#layers.get(layer) ?? noGain, gain))
  }
}

/** Field by field. */
export const added = <T extends Readonly<Record<keyof T, number>>>(left: T, right: T): T =>
  Object.fromEntries((Object.keys(left) as (keyof T)[]).map((key) => [key, left[key] + right[key]])) as T
