// When a fact must be safe on the disk. `now`: somebody acts on it at once, so losing it would make what
// was done unexplained. `soon`: losing the last moments of it is survivable and said. `none`: it can be made again.
import type { Fact } from './fact.ts'
import type { Durability } from './store.ts'

export function durabilityOf(fact: Fact): Durability {
  switch (fact.type) {
    case 'session-start':
    case 'user-message':
    case 'input-queued':
    case 'permission':
    case 'boundary':
    case 'agent-start':
      return 'now'
    case 'assistant-message':
      // Any call may have an effect outside, so it must be known before it is run.
      return fact.content.some((block) => block.type === 'tool_use') ? 'now' : 'soon'
    case 'cache-break':
    case 'compaction-failed':
      return 'none'
    case 'instructions-set':
    case 'tool-result':
    case 'attachment':
    case 'memory-recall':
    case 'request-sent':
    case 'reasoning-refused':
    case 'window-learned':
    case 'view-edit':
    case 'notes-update':
    case 'memories-extracted':
    case 'collapse-stage':
    case 'pin':
    case 'undo':
    case 'release':
    case 'rewind':
    case 'model-set':
    case 'fork-end':
    case 'turn-end':
    case 'damage-found':
      return 'soon'
  }
}

/** Of facts written together: the most careful of them decides. */
export function strictest(durabilities: Iterable<Durability>): Durability {
  let strictest: Durability = 'none'
  for (const each of durabilities) {
    if (each === 'now') return 'now'
    if (each === 'soon') strictest = 'soon'
  }
  return strictest
}
