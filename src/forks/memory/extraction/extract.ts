// One extraction: a fork on the session's prefix that is told what there is and may write memories, nothing
// else. The cursor moves only when it went well.
import { localDay } from '../../../memory/format/day.ts'
import { defused, fenced, pathText } from '../../../transcript/fence.ts'
import type { JobContext } from '../../../engine/ports.ts'
import { defaults } from '../../../settings/defaults.ts'
import { guardedTools } from '../../../tools/files/guard.ts'
import type { MemoryJob } from '../memory-jobs.ts'
import { memoryLimits } from '../limits.ts'
import { isOurs, type MemoryJobOptions } from '../memory-jobs.ts'
import type { Span } from './span.ts'
import { extractionGuard } from './writing.ts'
import type { Result } from '../../../disk/fs.ts'
import type { MemoryStore } from '../../../memory/memory-store.ts'
import { manifestLine } from '../../../memory/recall/recall-text.ts'
import type { MemoryScope } from '../../../memory/memory.ts'

const extractionPurpose = 'extraction'

export type Extracted =
  | { readonly ok: true; readonly saved: readonly string[]; readonly held: readonly string[] }
  | { readonly ok: false; readonly why: string; readonly isAborted: boolean }

export async function extract(
  options: MemoryJobOptions,
  context: JobContext,
  spanNow: () => Span,
  job: MemoryJob,
): Promise<Extracted> {
  const folders: Listed[] = []
  for (const store of options.stores) {
    const shown = await shownMemories(store, defaults.extraction.manifestFiles)
    if (!shown.ok) return { ok: false, why: shown.failure.message, isAborted: false }
    folders.push({ scope: store.scope, root: store.root, manifest: shown.lines })
  }
  // The fork sees what has been said by the time it begins, so its span is read in the same moment.
  const span = spanNow()
  const saved = new Set<string>()
  const held = new Set<string>()
  const guard = extractionGuard({
    stores: options.stores,
    span,
    session: context.session,
    purpose: extractionPurpose,
    isTyped: options.isTyped,
    wrote: (path, isHeld) => {
      ;(isHeld ? held : saved).add(path)
      job.wrote(path)
    },
  })
  const today = localDay(context.now())
  const tools = options.tools()
  const writers = tools.filter(({ spec }) => spec.name === 'Write' || spec.name === 'Edit')
  const ours = isOurs(options.stores, options)
  const outcome = await context.fork(
    {
      purpose: extractionPurpose,
      directive: extractionPrompt(span, folders, today),
      tools: guardedTools(writers, guard, options.userHome),
      judges: [memoryLimits(ours), ...options.judges],
      maxRounds: defaults.extraction.rounds,
      emit: (event) => job.hear(event),
    },
    AbortSignal.any([context.ending, job.signal]),
  )
  const wasLong = outcome.failure?.code === 'rounds' && saved.size > 0
  if (outcome.outcome === 'done' || wasLong) return { ok: true, saved: [...saved], held: [...held] }
  const isAborted = outcome.outcome === 'aborted'
  return { ok: false, why: outcome.failure?.message ?? `the fork was ${outcome.outcome}`, isAborted }
}

/** The memories of a store, one line each. What is held is shown to nobody. */
async function shownMemories(
  store: MemoryStore,
  most: number,
): Promise<Result<{ lines: readonly string[] }>> {
  const listed = await store.list(most)
  if (!listed.ok) return listed
  const memories = listed.memories.filter(({ standing }) => standing !== 'held')
  return { ok: true, lines: memories.map((memory) => manifestLine({ name: memory.file, memory })) }
}

/** How much of a message is enough to find it. */
const beginningChars = 60

interface Listed {
  readonly scope: MemoryScope
  readonly root: string
  /** One line a memory. */
  readonly manifest: readonly string[]
}

/** It stands behind the conversation it speaks of, on the session's own prefix. */
function extractionPrompt({ messages, userWords }: Span, folders: readonly Listed[], today: string): string {
  const begins = (userWords[0] ?? '').replaceAll(/\s+/gu, ' ').trim().slice(0, beginningChars).toWellFormed()
  const what =
    begins === ''
      ? `Consider only the last ${messages} messages above.`
      : `Consider only the user message beginning ${defused(JSON.stringify(begins))} and what follows it (the last ${messages} messages above).`
  return `This request comes from the program and not from the user; it is no part of the conversation.

${what} Decide whether the user said something there that a later session should remember, and save it as a memory. Choose the folder by scope.

What there is now:
${folders.map(listOf).join('\n\n')}

How:
- At most ${defaults.extraction.rounds} responses. In the first Read every file you may have to change, in parallel; in the second Write or Edit them, in parallel; then stop.
- Where a memory on the topic exists, change that file: correct what is no longer true instead of adding a second one. Otherwise one new file for each topic, with frontmatter: name, description (one specific line), type, triggers (words the user would type when it matters).
- user: who they are. feedback: how to work. For both, description and text copy the user's sentence, in their language, changing at most pronouns and word order; add **Why:** or **How to apply:** only if the user said it, in their words. project: aims, dates, decisions and reasons that the code does not show. reference: where to look outside.
- Write days as dates; today is ${today}. Do not save what was only considered, guessed or asked, what code, git or instruction files say, the state of the current task, secrets, or what was recalled from memory.
- Names of files, addresses and numbers only as they were said.
- MEMORY.md is generated. Only Read, Grep, Glob, read-only commands, and Write or Edit in these folders work here.
- Nothing lasting was said? Then write nothing and reply with one word. That is the usual case.`
}

const aboutScope: Readonly<Record<MemoryScope, string>> = {
  project: 'what concerns this project',
  user: 'what is true of the user everywhere',
  team: 'what the team shares',
  agent: 'what an agent keeps',
}

const listOf = ({ scope, root, manifest }: Listed): string =>
  `${pathText(root)} (${aboutScope[scope]}):${manifest.length === 0 ? ' nothing yet.' : `\n${fenced('memory-index', {}, manifest.join('\n'))}`}`
