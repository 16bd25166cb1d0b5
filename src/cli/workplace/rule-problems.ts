// What is wrong with the rules of the settings, one sentence each: a rule that names no tool holds nothing back, and whoever
// wrote it believes that it does.
import type { GivenRule, RuleSource } from '../../settings/rule-list.ts'
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

export function unknownTool({ list, text, source }: GivenRule): string {
  const name = text.trim().replace(/\([\s\S]*$/, '')
  const near = nearest(name, toolNames)
  const help =
    near === null ? `The tools are: ${toolNames.join(', ')}, and mcp__SERVER__TOOL` : `Did you mean ${near}?`
  return `the rule ${JSON.stringify(text)} (${list}, from ${ruleSources[source]}) names no tool and ${voids[list]} nothing. ${help}`
}

export const ruleProblems = (rules: readonly GivenRule[], home: string | undefined): readonly string[] =>
  rules.flatMap((rule) => (namesNoTool(rule) ? [unknownTool(rule)] : readRules([rule], home).problems))
