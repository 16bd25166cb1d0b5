// What a block weighs in a replay: the simulator's counter, scaled to what the providers of the recorded sessions counted,
// family by family. Reasoning whose text was not recorded is weighed by the length of its signature.
import { defaults } from '../../settings/defaults.ts'
import { createCounter, type Counter } from '../../simulator/index.ts'

/** Models that count alike, and the factor between the simulator's counter and theirs. */
export function familyOf(model: string): { readonly name: string; readonly scale: number } {
  const small = model.toLowerCase()
  return defaults.lab.families.find(({ names }) => names.test(small))!
}

export function scaledCounter(model: string): Counter {
  const counter = createCounter()
  const { scale } = familyOf(model)
  return {
    overhead: (rules) => counter.overhead(rules),
    tool: (tool, rules) => Math.round(counter.tool(tool, rules) * scale),
    block: (block, rules) => {
      const plain = counter.block(block, rules)
      const isSealed = block.type === 'thinking' && typeof block['signature'] === 'string'
      const sealed = isSealed ? String(block['signature']).length * defaults.lab.tokensPerSignatureChar : 0
      return Math.round(Math.max(plain, sealed) * scale)
    },
  }
}
