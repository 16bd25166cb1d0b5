// A session as jobs beside the talk see it.
import type { Aside } from './aside.ts'
import type { Core } from '../core.ts'
import { fork } from '../fork.ts'

export function asideOf(core: Core): Aside {
  const { options, session, fold, transcript, ending } = core
  const { thinking } = options
  return {
    session,
    fold,
    models: options.models,
    hasModel: options.model !== undefined,
    modelId: () => core.modelId,
    latest: () => core.latest,
    tail: () => transcript.tail,
    room: () => core.room(),
    maxOutput: () => core.maxOutput(),
    thinkingTokens: thinking?.type === 'enabled' ? thinking.budget_tokens : 0,
    now: () => options.clock.now(),
    fork: (spec, signal) => fork(core, spec, signal),
    append: (facts) => core.append(facts),
    keep: (name, text) => options.store.putBlob(transcript.lease, name, new TextEncoder().encode(text)),
    ending: ending.signal,
    tell: (event) => {
      if (options.listen === undefined) core.unheard.push(event)
      else options.listen(event)
    },
  }
}
