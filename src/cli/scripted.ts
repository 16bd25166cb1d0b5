// The embedded default: where there is neither a key nor an address, the simulator answers over HTTP on this machine with
// its rule-based model. It follows scripts and understands nothing, and that is said wherever it answers.
import type { Access } from '../preset.ts'

export interface Embedded {
  readonly access: Access
  close(): Promise<void>
}

export async function startEmbedded(): Promise<Embedded> {
  const { createSimulator, ruleModel } = await import('../simulator/index.ts')
  const simulator = createSimulator({ answerer: ruleModel() })
  const { url } = await simulator.start()
  return { access: { baseUrl: url, apiKey: 'scripted' }, close: () => simulator.stop() }
}

export const scriptedNotice =
  'no key and no base URL: a scripted model answers, offline. It follows task scripts and understands nothing. ' +
  'For a real model set ANTHROPIC_API_KEY or run pal login; pal demo shows a whole task'
