// What is wrong with the rules and hooks of the settings, one sentence each: one that names no tool holds nothing back, and
// whoever wrote it believes that it does.
import type { GivenRule, RuleSource } from '../../settings/rule-list.ts'
import type { HookSettings } from '../../settings/schema.ts'
import { safeTools } from '../../tools/permission/judge.ts'
import { readRules } from '../../tools/permission/permission.ts'
import { parseRule } from '../../tools/permission/rule.ts'
import { nearest } from '../terminal/suggest.ts'

/** Every tool of ours, also those that settings turn off: a rule about one of them is no mistake. */
export const toolNames: readonly string[] = [...safeTools, 'Write', 'Edit', 'Bash', 'WebFetch', 'McpCall']

export const ruleSources: Readonly<Record<RuleSource, string>> = {
  managed: 'machine settings',
  user: 'your settings',
  project: 'project settings',
  local: 'local project settings',
  environment: 'a variable',
  flag: 'the command line',
  session: 'an answer in this session',
}

/** Tools of servers are known only when their server answers. */
function namesNoTool(rule: GivenRule): boolean {
  const name = /^[A-Za-z][\w.-]*/.exec(rule.text.trim())?.[0]
  if (name === undefined || name.startsWith('mcp__')) return false
  const parsed = parseRule({ ...rule, text: name })
  return parsed.ok && !toolNames.includes(parsed.rule.tool)
}

/** Of an argument or a variable it ends the call; of a file it is said. */
export const unknownToolsIn = (rules: readonly GivenRule[]): readonly GivenRule[] =>
  rules.filter(({ source }) => source === 'flag' || source === 'environment').filter(namesNoTool)

const voids = { allow: 'allows', ask: 'asks about', deny: 'denies' } as const

function meantBy(name: string): string {
  const near = nearest(name, toolNames)
  return near === null
    ? `The tools are: ${toolNames.join(', ')}, and mcp__SERVER__TOOL`
    : `Did you mean ${near}?`
}

export function unknownTool({ list, text, source }: GivenRule): string {
  const name = text.trim().replace(/\([\s\S]*$/, '')
  const help = meantBy(name)
  return `the rule ${JSON.stringify(text)} (${list}, from ${ruleSources[source]}) names no tool and ${voids[list]} nothing. ${help}`
}

export const ruleProblems = (rules: readonly GivenRule[], home: string | undefined): readonly string[] =>
  rules.flatMap((rule) => (namesNoTool(rule) ? [unknownTool(rule)] : readRules([rule], home).problems))

/** Hooks name tools exactly, also those of servers: one by one. */
const isTool = (name: string): boolean => toolNames.includes(name) || /^mcp__.+?__./.test(name)

/** Hooks that wait for what never comes. */
export const hookProblems = (hooks: HookSettings = {}): readonly string[] =>
  Object.entries(hooks).flatMap(([moment, list]) =>
    list.flatMap(({ command, tools = [] }) => {
      const which = `the hook ${moment} (${command})`
      if (tools.length > 0 && !moment.endsWith('ToolUse'))
        return [`${which} names tools, and ${moment} is not about one: it is never run. Leave out its tools`]
      return tools
        .filter((name) => !isTool(name))
        .map(
          (name) =>
            `${which} names ${JSON.stringify(name)}, which is no tool, and is not run for it; without tools a hook is run for all. ${meantBy(name)}`,
        )
    }),
  )
