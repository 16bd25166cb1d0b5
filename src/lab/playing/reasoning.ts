// Reasoning whose text was not recorded is weighed by the length of its signature.
import { defaults } from '../../settings/defaults.ts'
import type { Counter } from '../../simulator/index.ts'

export function withReasoning(counter: Counter): Counter {
  return {
    ...counter,
    block: (block, model) => {
      const plain = counter.block(block, model)
      if (block.type !== 'thinking' || typeof block['signature'] !== 'string') return plain
      return Math.max(plain, Math.round(block['signature'].length * defaults.lab.tokensPerSignatureChar))
    },
  }
}
