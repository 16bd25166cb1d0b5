// What a job on memories may call: look anywhere the user's rules let it, run commands that only look, and
// write in the folders of memories. Everything else is refused when it is called; the list of tools stays as it is.
import { analyse } from '../../tools/permission/shell/analyse.ts'
import { looksOnly } from '../../tools/permission/shell/looking.ts'
import { failed } from '../../tools/outcome.ts'
import type { Permit } from '../../tools/run.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'

export type MayRun = (call: ToolUseBlock, tool: Tool, signal: AbortSignal) => Promise<Permit>

const lookers: ReadonlySet<string> = new Set(['Read', 'Grep', 'Glob'])
const writers: ReadonlySet<string> = new Set(['Write', 'Edit'])
const commands: ReadonlySet<string> = new Set(['ls', 'find', 'grep', 'cat', 'stat', 'wc', 'head', 'tail'])

/** Why a call may not run, or null. `isOurs`: whether a path lies in a folder of memories. */
export function limitRefusal(
  { name, input }: Pick<ToolUseBlock, 'name' | 'input'>,
  isOurs: (input: Readonly<Record<string, unknown>>) => boolean,
): string | null {
  if (lookers.has(name)) return null
  if (writers.has(name))
    return isOurs(input) ? null : `${name} may be used in the folders of memories only; nothing was written`
  if (name === 'Bash') return commandRefusal(input)
  return `${name} may not be used here; use Read, Grep, Glob, and Write or Edit in the folders of memories`
}

function commandRefusal(input: Readonly<Record<string, unknown>>): string | null {
  const { command } = input
  if (typeof command !== 'string' || input['background'] === true) return 'only plain commands run here'
  const { steps, doubts, isBlind, isTooMuch } = analyse(command)
  const isPlain = !isBlind && !isTooMuch && doubts.length === 0 && steps.length > 0
  const areKnown = steps.every(({ words, doubt }) => {
    const known = words.filter((word) => word !== null)
    return doubt === null && commands.has(known[0]?.value ?? '') && looksOnly(known).ok
  })
  return isPlain && areKnown
    ? null
    : `only ${[...commands].join(', ')} may be run here, plainly, without redirections, substitutions or options that act`
}

/** The tools that look, each asking for leave where nobody can be asked: what is not allowed already is refused. */
export function lookingTools(tools: readonly Tool[], mayRun: MayRun): readonly Tool[] {
  return tools
    .filter(({ spec }) => lookers.has(spec.name) || spec.name === 'Bash')
    .map((tool) => ({
      ...tool,
      parse: (input) => tool.parse(input),
      async run(input, env, signal) {
        const call: ToolUseBlock = { type: 'tool_use', id: env.callId, name: tool.spec.name, input }
        const permit = await mayRun(call, tool, signal)
        return permit.ok ? tool.run(input, env, signal) : failed(permit.why)
      },
    }))
}
