// A recording made ready to be played under many policies.
import { createDigests, type Counter, type Digests } from '../../simulator/index.ts'
import { needsOf, type Needs } from '../measuring/needs.ts'
import type { Recording } from '../recording.ts'
import { scriptOf, type Script } from './script.ts'
import { scaledCounter } from './sizing.ts'
import { BlockStore } from './wire-blocks.ts'

/** A recording made ready: what does not depend on the policy is found, read, weighed and hashed once. */
export interface Prepared {
  readonly script: Script
  readonly needs: Needs
  readonly store: BlockStore
  readonly digests: Digests
  readonly counterOf: (model: string) => Counter
}

/** Makes a recording ready to be played. */
export const prepareReplay = (recording: Recording): Prepared => prepareScript(scriptOf(recording))

export function prepareScript(script: Script): Prepared {
  const counters = new Map<string, Counter>()
  const counterOf = (model: string): Counter => {
    const counter = counters.get(model) ?? scaledCounter(model)
    counters.set(model, counter)
    return counter
  }
  return { script, needs: needsOf(script), store: new BlockStore(), digests: createDigests(), counterOf }
}
