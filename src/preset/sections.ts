// The system prompt, short because every request pays for it. What is true of everybody is on the static side; what is
// true of this session from its beginning or its last compaction on the dynamic side; what may change travels in a <mode>
// block.
import { localDay } from '../memory/format/day.ts'
import { contextRules, safety, toolRules, trust, working } from '../forks/agents/texts.ts'
import type { SectionDefinition } from '../request/sections.ts'
import { fenced } from '../transcript/fence.ts'

export interface SectionFacts {
  readonly isGit: boolean
  /** System with its version, and the shell. */
  readonly system: string
  readonly shell: string | null
  /** Branch and changes; null where git says nothing. */
  readonly git: string | null
  /** In which to answer, where the user has set one. */
  readonly language?: string | undefined
  /** What one answer may take. */
  readonly maxOutputTokens: number
  /** Milliseconds since the epoch; only the day is told, and it stays as it was when the session began or was compacted. */
  readonly now: number
  /** How calls are permitted. */
  readonly guidance: string
  /** How to use memory; null where it is off. */
  readonly memory?: string | null | undefined
}

const staticTexts = {
  identity: "You are Palimpsest, a coding agent. You work in the user's project through tools.",
  'system-rules': trust,
  'doing-tasks': working,
  'risky-actions': safety,
  'tool-use': toolRules,
  tone: [
    '# Replies',
    "- Use the user's language. Be brief; no praise or filler. Cite code as path:line. Close a task with what changed, how it was checked, and what is open.",
  ].join('\n'),
} as const

export function sectionDefinitions(facts: SectionFacts): readonly SectionDefinition[] {
  const fixed = Object.entries(staticTexts).map(([name, text]): SectionDefinition => ({
    name: name as keyof typeof staticTexts,
    side: 'static',
    compute: () => text,
  }))
  return [
    ...fixed,
    { name: 'session-guidance', side: 'dynamic', compute: () => facts.guidance },
    { name: 'memory-guidance', side: 'dynamic', compute: () => facts.memory ?? null },
    { name: 'environment', side: 'dynamic', compute: () => environment(facts) },
    {
      name: 'language',
      side: 'dynamic',
      compute: () =>
        facts.language === undefined
          ? null
          : `Reply in ${facts.language}. Code, commands and names stay as they are.`,
    },
    {
      name: 'budgets',
      side: 'dynamic',
      compute: () =>
        `One response holds about ${facts.maxOutputTokens.toLocaleString('en-US')} tokens, reasoning and calls included. Write longer files in several calls.`,
    },
    { name: 'cleared-results', side: 'dynamic', compute: () => contextRules },
  ]
}

function environment({ isGit, system, shell, git, now }: SectionFacts): string {
  return [
    `Session began: ${localDay(now)}`,
    // Names of branches and files are whatever somebody called them.
    ...(git === null ? (isGit ? ['In a git repository'] : []) : [fenced('git-state', {}, git)]),
    `Platform: ${system}`,
    ...(shell === null ? [] : [`Shell: ${shell}`]),
  ].join('\n')
}
