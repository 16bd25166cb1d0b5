// Agents: the model's hand on the agents it has started.
import type { AgentRow } from '../../../engine/background/agent-rows.ts'
import { defaults } from '../../../settings/defaults.ts'
import { choice, inputShape, optional, text, whole, type InputOf } from '../../../tools/input.ts'
import { failed, succeeded } from '../../../tools/outcome.ts'
import type { Tool } from '../../../tools/tool.ts'
import type { AgentRegistry } from '../registry.ts'
import type { Look } from '../worker.ts'

const fields = {
  action: choice('', ['list', 'stop', 'wait']),
  agent: optional(text('Its id, name or label', defaults.agents.labelChars)),
  seconds: optional(whole('For wait: how long at most', 1, 600)),
}
const shape = inputShape(fields)
const usualSeconds = 60

export function agentsTool(registry: AgentRegistry): Tool<InputOf<typeof fields>> {
  return {
    spec: {
      name: 'Agents',
      description: 'Agents you started: list them, stop one, or wait until one has ended.',
      input_schema: shape.schema,
    },
    policy: { readOnly: true, results: 'clear', maxResultChars: defaults.tools.maxResultChars },
    parse: (input) => shape.parse(input),
    async run({ action, agent = '', seconds = usualSeconds }, env, signal) {
      const parent = env.session === undefined ? null : registry.attended(env.session)
      if (parent === null) return failed('Only the session that talks with the user has agents.')
      if (action === 'list') return succeeded(listText(parent.agents(), registry.looks(parent.id)))
      const worker = registry.find(parent.id, agent)
      if (worker === null)
        return failed(
          `No agent ${JSON.stringify(agent)} is running.\n${listText(parent.agents(), registry.looks(parent.id))}`,
        )
      if (action === 'stop') {
        await registry.stop(worker, 'it was stopped by the one who started it')
        return succeeded(`${worker.child} is stopped. What it had comes to you as its report.`)
      }
      const isOver = await endedWithin(worker.done, seconds, signal)
      return succeeded(
        isOver ? `${worker.child} has ended; its report follows.` : `${worker.child} is still running.`,
      )
    },
  }
}

async function endedWithin(done: Promise<unknown>, seconds: number, signal: AbortSignal): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  let onAbort = (): void => {}
  const late = new Promise<false>((resolve) => {
    onAbort = () => resolve(false)
    timer = setTimeout(onAbort, seconds * 1000)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  const isOver = await Promise.race([done.then(() => true), late])
  clearTimeout(timer)
  signal.removeEventListener('abort', onAbort)
  return isOver
}

function listText(rows: readonly AgentRow[], looks: readonly Look[]): string {
  if (rows.length === 0) return 'You have started no agents.'
  const live = new Map(looks.map((look) => [look.child, look]))
  return rows
    .map((row) => {
      const look = live.get(row.child)
      const name = row.name === undefined ? '' : ` named ${row.name}`
      const at =
        look === undefined
          ? ''
          : `, ${look.rounds} requests${look.awaitsPlan ? ', its plan is not approved' : ''}${look.isIdle ? ', waiting for messages' : ''}${look.phrase === null ? '' : `, ${look.phrase}`}`
      const end = row.end === null ? '' : `; Expand {"ref": "${row.end}"} shows its result`
      return `${row.child} "${row.label}" (${row.agent}, ${row.mode})${name}: ${row.state}${at}${end}`
    })
    .join('\n')
}
