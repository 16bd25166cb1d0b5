// Skills: folders with a SKILL.md that says how something is done. The prompt lists names and descriptions only; the Skill
// tool shows the page when it is needed, and a compaction restores used ones as they are now, newest first.
import { dirname, resolve } from 'node:path'
import { machineFileSystem, type FileSystem } from '../disk/fs.ts'
import type { Restorer } from '../engine/restoring/restorer.ts'
import { estimateText } from '../projection/tokens.ts'
import type { Part } from '../projection/view.ts'
import { defaults } from '../settings/defaults.ts'
import { fenced } from '../transcript/fence.ts'
import { text, toolWith } from '../tools/input.ts'
import { failed, headOf, succeeded } from '../tools/outcome.ts'
import type { Tool } from '../tools/tool.ts'
import type { Extensions } from './extensions.ts'
import { aboutOf, pagesIn, readPage, type Page, type PageFolder } from './pages.ts'

const skillTool = 'Skill'
const skillFile = 'SKILL.md'

export interface SkillOptions {
  /** Folders that hold skills, each a folder NAME with a SKILL.md; of two with one name that of the later folder counts. */
  readonly folders: readonly (string | PageFolder)[]
  readonly fs?: FileSystem | undefined
}

/** As `createPreset` takes it for `extensions`; for `createEngine` the same parts with the prompt as a text. */
export interface LoadedSkills extends Extensions {
  /** What the system prompt says of them; empty where there are none. */
  readonly prompt: string
  readonly skills: readonly Page[]
  /** What is wrong with a file; the others work. */
  readonly problems: readonly string[]
}

/** Reads folders of skills and gives what an engine needs to list, show and restore them. */
export async function loadSkills({ folders, fs = machineFileSystem }: SkillOptions): Promise<LoadedSkills> {
  const places = folders.map((folder): PageFolder =>
    typeof folder === 'string' ? { root: resolve(folder), below: '' } : folder,
  )
  const { pages: skills, problems } = await pagesIn(fs, places, skillFile)
  const prompt = skillList(skills)
  // Read again whenever one is shown: a page that was changed meanwhile counts as it is.
  const load = async ({ folder, name, path }: Page): Promise<string | null> => {
    const page = await readPage(fs, folder, name, path)
    return typeof page === 'string' || page === null ? null : page.body
  }
  const hasAny = skills.length > 0
  return {
    skills,
    problems,
    prompt,
    tools: hasAny ? [toolForSkills(skills, load)] : [],
    sections: [{ name: 'own:skills', side: 'dynamic', compute: () => prompt }],
    restorers: hasAny ? [skillRestorer(skills, load)] : [],
  }
}

const fields = { name: text('The name of the skill') }

/** What the prompt says of them; empty where there are none. */
function skillList(skills: readonly Page[]): string {
  if (skills.length === 0) return ''
  const lines = skills.map((skill) => `- ${skill.name}: ${aboutOf(skill)}`)
  return `Skills, with when to use them. Call Skill before you begin such work, and follow its page.\n${fenced('skill-list', {}, lines.join('\n'))}`
}

/** `load` reads the skill as it is now. */
function toolForSkills(skills: readonly Page[], load: (skill: Page) => Promise<string | null>): Tool {
  return toolWith(fields, {
    name: skillTool,
    description: 'Return the page of a skill: how a kind of work is done here, and its files. Follow it.',
    policy: { readOnly: true, results: 'never-clear', maxResultChars: null },
    run: async ({ name }) => {
      const skill = skills.find((one) => one.name === name)
      if (skill === undefined)
        return failed(`There is no skill ${name}. There are: ${skills.map((one) => one.name).join(', ')}.`)
      const page = await load(skill)
      return page === null
        ? failed(`${skill.path} cannot be read any more, or has changed since the user approved it.`)
        : succeeded(shown(skill, page, defaults.extensions.skillTokens))
    },
  }) as Tool
}

function shown(skill: Page, page: string, tokens: number): string {
  const body = fitting(page, tokens)
  const cut = body.length < page.length ? `\n[the rest stands in ${skill.path}]` : ''
  return fenced('skill', { name: skill.name, folder: dirname(skill.path) }, `${body}${cut}`)
}

/** As much of a text as so many tokens hold, by its own density. */
function fitting(page: string, tokens: number): string {
  const all = estimateText(page)
  return all <= tokens ? page : headOf(page, Math.floor((page.length * tokens) / all))
}

/** Used skills are said again after a compaction, as they are then: the newest whole, those that do not fit by name. */
export function skillRestorer(
  skills: readonly Page[],
  load: (skill: Page) => Promise<string | null>,
): Restorer {
  return {
    name: 'skills',
    tokens: defaults.extensions.skillsTokens,
    restore: async ({ gone, kept }, { tokens, cost }) => {
      const seen = new Set(usedIn(kept))
      const names = [...new Set(usedIn(gone).toReversed())].filter((name) => !seen.has(name))
      let left = tokens - cost(`${heading}\n${alsoUsed(names)}`)
      const pages: string[] = []
      const others: string[] = []
      for (const name of names) {
        const skill = skills.find((one) => one.name === name)
        const page = skill === undefined ? null : await load(skill)
        if (skill === undefined || page === null) continue
        const text = shown(skill, page, defaults.extensions.skillTokens)
        if (cost(text) > left) others.push(name)
        else {
          pages.push(text)
          left -= cost(`${text}\n`)
        }
      }
      if (pages.length + others.length === 0) return null
      return [heading, ...pages, ...(others.length === 0 ? [] : [alsoUsed(others)])].join('\n')
    },
  }
}

const heading = 'Skills used in this session:'
const alsoUsed = (names: readonly string[]): string =>
  `${fenced('skills-by-name', {}, JSON.stringify(names))}\nThese were used too; the Skill tool shows one when it is needed.`

/** Names in the order of their use: calls, and what an earlier compaction gave back. */
function usedIn(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) =>
    part.blocks.flatMap((block) => {
      if (block.type === 'tool_use' && 'input' in block && block.name === skillTool)
        return [String(block.input['name'])]
      if (part.attachment?.kind !== 'skills' || block.type !== 'text' || !('text' in block)) return []
      // Given back newest first, so read from the end.
      return namesIn(block.text).toReversed()
    }),
  )
}

function namesIn(text: string): readonly string[] {
  const whole = [...text.matchAll(/^<skill name=("(?:[^"\\]|\\.)*")/gmu)].map(([, name]) => name!)
  const [, others = '[]'] = /^<skills-by-name>\n?(\[.*\])\n?<\/skills-by-name>/mu.exec(text) ?? []
  try {
    return [
      ...whole.map((name) => String(JSON.parse(name))),
      ...(JSON.parse(others) as unknown[]).map(String),
    ]
  } catch {
    return []
  }
}
