// The door of agents: the office, its tools, and an engine whose sessions can use both.
import type { Engine } from '../../engine/engine.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Office } from './office.ts'
import { agentTool } from './tools/agent-tool.ts'
import { agentsTool } from './tools/agents-tool.ts'
import { sendMessageTool } from './tools/send-message.ts'

export { Office, type OfficeOptions } from './office.ts'
export type { AgentAsk } from './ask.ts'
export type { Look, Worker } from './worker.ts'
export { builtInTypes, type AgentType } from './types.ts'
export { cheapestModel } from './progress.ts'
export { gitIn, type Git } from './worktrees/git.ts'
export { mergeBranch } from './worktrees/worktree.ts'

export const agentTools = (office: Office): readonly Tool[] => [
  agentTool(office),
  agentsTool(office),
  sendMessageTool(office),
]

/** The same engine; what it opens can start agents and be written to. */
export function attending(engine: Engine, office: Office): Engine {
  return {
    ...engine,
    open: async (id) => office.attend(await engine.open(id)),
    openWith: async (id, how) => {
      const opened = await engine.openWith(id, how)
      office.attend(opened.session)
      return opened
    },
    branch: async (id) => office.attend(await engine.branch(id)),
    remove: async (id, how) => {
      const removed = await engine.remove(id, how)
      // Teammates have boxes too.
      for (const session of removed.ok ? removed.sessions : []) {
        const gone = await office.options.directory?.remove(session)
        if (gone?.ok === false) return gone
      }
      return removed
    },
  }
}
