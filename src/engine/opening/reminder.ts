// The reminder before the first user message (SPEC 10.1): a text, or somebody who knows it. It is asked for when a
// session begins and again after each compaction, where the prefix is rewritten anyway; between the two it stays as it
// was sent, whatever happens on disk. Sections and tools stay what they were.
import type { Core, Slice } from '../core.ts'
import type { Emit } from '../live.ts'
import { instructionsOf, type Ready } from '../options.ts'
import { fireInstructions } from './start-hooks.ts'

export async function reminderAt(
  options: Ready,
  moment: 'start' | 'compact',
  emit: Emit,
): Promise<string | undefined> {
  const { reminder } = options
  if (reminder === undefined || typeof reminder === 'string') return reminder
  const { text, notices } = await reminder.load(moment)
  for (const message of notices) emit({ type: 'notice', code: 'instructions', message })
  return text ?? undefined
}

/** Reads it again behind a boundary and writes it down where it changed. In a fork it is part of the shared prefix. */
export async function renewReminder(core: Core, emit: Emit): Promise<void> {
  if (
    !core.role.renewsReminder ||
    core.options.reminder === undefined ||
    typeof core.options.reminder === 'string'
  )
    return
  const reminder = await reminderAt(core.options, 'compact', emit)
  const { sections, tools, reminder: before } = core.view()
  if ((reminder ?? null) === before) return
  const written = await core.append([
    { type: 'instructions-set', sections, tools, ...(reminder === undefined ? {} : { reminder }) },
  ])
  if (!written.ok) emit({ type: 'notice', code: written.failure.code, message: written.failure.message })
  else await fireInstructions(core, emit)
}

/** Prompt, tools and reminder as they are now, for a session that began with others. The cache is written anew. */
export async function renewInstructions(
  core: Slice<'append' | 'background' | 'options' | 'session' | 'view'>,
  emit: Emit,
): Promise<void> {
  const reminder = await reminderAt(core.options, 'start', emit)
  const written = await core.append([instructionsOf(core.options, reminder)])
  if (!written.ok) emit({ type: 'notice', code: written.failure.code, message: written.failure.message })
  else await fireInstructions(core, emit)
}
