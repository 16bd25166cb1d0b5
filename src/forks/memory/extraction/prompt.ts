// What an extraction is told. It stands behind the conversation it speaks of, on the session's own prefix.
import type { MemoryScope } from '../../../memory/memory.ts'

export interface Listed {
  readonly scope: MemoryScope
  readonly root: string
  /** One line a memory. */
  readonly manifest: readonly string[]
}

export function extractionPrompt(messages: number, folders: readonly Listed[], today: string): string {
  const [first] = folders
  return `This request comes from the program and not from the user; it is no part of the conversation.

Look at the last ${messages} messages above, and at nothing before them. Decide whether the user told us something in them that a later session should remember, and save it as a memory in ${first?.root ?? ''}.

What there is now:
${folders.map(listOf).join('\n\n')}

How:
- At most five turns. In the first Read every file you may have to change, side by side; in the second Write or Edit them, side by side; then stop.
- Where a memory on the matter exists, change that file: correct what is no longer so instead of adding a second one. Else one new file for each thing, with frontmatter: name, description (one specific line), type, triggers (words the user would type when it matters).
- user: who they are. feedback: how to work; the rule, **Why:**, **How to apply:**. Both only from the user's own words, in their words. project: aims, dates, decisions and reasons that the code does not show. reference: where to look outside.
- Write days as dates; today is ${today}. Do not write down what was only considered, guessed or asked, nor what the code, git or instruction files say, nor the state of this moment, nor secrets, nor what was recalled from memory.
- Names of files, addresses and numbers only as they were said.
- MEMORY.md follows by itself. Only Read, Grep, Glob, plain looking commands, and Write or Edit in these folders work here.
- Nothing lasting was said? Then write nothing and answer with one word. That is the usual case.`
}

const aboutScope: Readonly<Record<MemoryScope, string>> = {
  project: 'what concerns this project',
  user: 'what is true of the user everywhere',
  team: 'what the team shares',
  agent: 'what an agent keeps',
}

const listOf = ({ scope, root, manifest }: Listed): string =>
  `${root} (${aboutScope[scope]}):\n${manifest.length === 0 ? '(nothing yet)' : manifest.join('\n')}`
