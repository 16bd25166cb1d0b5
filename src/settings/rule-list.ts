// Rules of permission as the settings hold them: three lists, gathered from every scope and never replaced by a later
// one, so that no file can take back what another denies. What a rule means is known in tools/permission.

export type RuleList = 'allow' | 'ask' | 'deny'
export const ruleLists: readonly RuleList[] = ['allow', 'ask', 'deny']
export type RuleSource = 'managed' | 'user' | 'project' | 'local' | 'environment' | 'flag' | 'session'

export interface GivenRule {
  readonly list: RuleList
  readonly text: string
  readonly source: RuleSource
}

/** A list as it stands in a variable or behind a flag: commas part the rules, but not inside brackets. */
export function splitRules(text: string): readonly string[] {
  const rules: string[] = []
  let depth = 0
  let current = ''
  for (const char of text) {
    if (char === '(') depth++
    if (char === ')') depth = Math.max(0, depth - 1)
    if (char === ',' && depth === 0) {
      rules.push(current)
      current = ''
    } else current += char
  }
  return [...rules, current].map((rule) => rule.trim()).filter((rule) => rule !== '')
}
