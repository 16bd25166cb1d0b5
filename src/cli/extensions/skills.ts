// Skills: folders with a SKILL.md that says how something is done, `~/.palimpsest/skills/NAME/` and, where its
// content is approved, `.palimpsest/skills/NAME/` of a project. The prompt lists names and
// descriptions only; the Skill tool shows the page when it is needed, and a compaction gives used ones back as they are
// now, newest first.
import { dirname } from 'node:path'
import type { Restorer } from '../../engine/restoring/restorer.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { inputShape, text } from '../../tools/input.ts'
import { failed, headOf, succeeded } from '../../tools/outcome.ts'
import type { Tool } from '../../tools/tool.ts'
import { aboutOf, type Page } from './pages.ts'

export const skillTool = 'Skill'
const shape = inputShape({ name: text('The name of the skill') })

/** What the prompt says of them; empty where there are none. */
export function skillList(skills: readonly Page[]): string {
  if (skills.length === 0) return ''
  const lines = skills.map((skill) => `- ${skill.name}: ${aboutOf(skill)}`)
  return `Skills, with when to use them. The Skill tool shows how one is done; read it before you begin such work.\n${lines.join('\n')}`
}

/** `load` reads the skill as it is now. */
export function toolForSkills(skills: readonly Page[], load: (skill: Page) => Promise<string | null>): Tool {
  return {
    spec: {
      name: skillTool,
      description: 'Shows a skill: how a kind of work is done here, and the files that belong to it.',
      input_schema: shape.schema,
    },
    policy: { readOnly: true, results: 'never-clear', maxResultChars: null },
    parse: (input) => shape.parse(input),
    run: async ({ name }) => {
      const skill = skills.find((one) => one.name === name)
      if (skill === undefined)
        return failed(
          `There is no skill ${String(name)}. There are: ${skills.map((one) => one.name).join(', ')}.`,
        )
      const page = await load(skill)
      return page === null
        ? failed(`${skill.path} cannot be read any more, or has changed since the user approved it.`)
        : succeeded(shown(skill, page, defaults.extensions.skillTokens))
    },
  }
}

function shown(skill: Page, page: string, tokens: number): string {
  const body = fitting(page, tokens)
  const cut = body.length < page.length ? `\n[the rest stands in ${skill.path}]` : ''
  return `<skill name=${JSON.stringify(skill.name)} folder=${JSON.stringify(dirname(skill.path))}>\n${body}${cut}\n</skill>`
}

/** As much of a text as so many tokens hold, by its own density. */
function fitting(page: string, tokens: number): string {
  const all = estimateText(page)
  return all <= tokens ? page : headOf(page, Math.floor((page.length * tokens) / all))
}

/** Used skills are said again after a compaction, as they are then. */
export function skillRestorer(
  skills: readonly Page[],
  load: (skill: Page) => Promise<string | null>,
): Restorer {
  return {
    name: 'skills',
    restore: async ({ gone, kept }) => {
      const seen = new Set(usedIn(kept))
      const { skillTokens, skillsTokens } = defaults.extensions
      let left = skillsTokens
      const pages: string[] = []
      for (const name of usedIn(gone).toReversed()) {
        const skill = skills.find((one) => one.name === name)
        if (skill === undefined || seen.has(name) || left <= 0) continue
        seen.add(name)
        const page = await load(skill)
        if (page === null) continue
        pages.push(shown(skill, page, Math.min(skillTokens, left)))
        left -= estimateText(pages.at(-1)!)
      }
      return pages.length === 0 ? null : `Skills used in this session:\n${pages.join('\n')}`
    },
  }
}

/** Names in the order of their use: calls, and what an earlier compaction gave back. */
function usedIn(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) =>
    part.blocks.flatMap((block) => {
      if (block.type === 'tool_use' && 'input' in block && block.name === skillTool)
        return [String(block.input['name'])]
      if (part.attachment?.kind !== 'skills' || block.type !== 'text' || !('text' in block)) return []
      // Given back newest first, so read from the end.
      return [...block.text.matchAll(/<skill name="([^"]+)"/g)].map((found) => found[1]!).toReversed()
    }),
  )
}
