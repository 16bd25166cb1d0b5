// The door of agents: the registry, its tools, and an engine whose sessions can use both.
import type { Engine } from '../../engine/engine.ts'
import type { AgentRegistry } from './registry.ts'

export { AgentRegistry, type RegistryOptions } from './registry.ts'
export type { AgentAsk } from './types.ts'
export type { Look, Worker } from './worker.ts'
export { builtInTypes, type AgentType } from './types.ts'
export { agentTools } from './tools.ts'
export { cheapestModel } from './progress.ts'
export { gitIn, type Git } from './worktree.ts'
export { mergeBranch } from './worktree.ts'

/** The same engine; what it opens can start agents and be written to. */
export function attending(engine: Engine, registry: AgentRegistry): Engine {
  return {
    ...engine,
    open: async (id) => registry.attend(await engine.open(id)),
    openWith: async (id, how) => {
      const opened = await engine.openWith(id, how)
      registry.attend(opened.session)
      return opened
    },
    branch: async (id) => registry.attend(await engine.branch(id)),
    remove: async (id, how) => {
      const removed = await engine.remove(id, how)
      // Teammates have boxes too.
      for (const session of removed.ok ? removed.sessions : []) {
        const gone = await registry.options.directory?.remove(session)
        if (gone?.ok === false) return gone
      }
      return removed
    },
  }
}
