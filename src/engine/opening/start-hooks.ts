// What a session is begun with beside its instructions: what SessionStart hooks say, and the reminder before the first user
// message. Hooks are fired when a session is opened and after each compaction; what they say waits until there is something
// to send and becomes an attachment, within the limits of a tool result. The reminder is asked for when a session begins and
// again after each compaction, where the prefix is rewritten anyway; between the two it stays as it was sent.
import type { Section } from '../../transcript/fact.ts'
import { hookAttachment } from '../api.ts'
import type { Core, Slice } from '../core.ts'
import { fireHooks, type StartSource } from '../hooks.ts'
import type { Emit, TurnFailure } from '../live.ts'
import { type Ready, instructionsOf } from '../options.ts'
import { gatedText } from '../results/results.ts'

export async function fireStart(
  core: Slice<'background' | 'folders' | 'modelId' | 'options' | 'requests' | 'session'>,
  source: StartSource,
  emit: Emit,
  signal: AbortSignal = core.background.ending.signal,
): Promise<void> {
  core.folders?.renew()
  const payload = { source, model: core.modelId, cwd: core.options.cwd }
  const answer = await fireHooks(core, 'SessionStart', payload, emit, signal)
  if (answer.block !== null) {
    const message = `a hook wanted to stop the session, which it cannot: ${answer.block}`
    emit({ type: 'notice', code: 'veto-ignored', message })
  }
  if (answer.context !== null) core.requests.startContext = answer.context
}

/** InstructionsLoaded: what the model is told from now on. Looking only: nothing can be stopped or added here. */
export async function fireInstructions(
  core: Slice<'background' | 'options' | 'session' | 'view'>,
  emit: Emit,
): Promise<void> {
  const { sections, tools, reminder } = core.view()
  const payload = {
    sections: sections.map(({ name, text }) => ({ name, chars: text.length })),
    tools: tools.map((tool) => tool.name),
    reminderChars: reminder?.length ?? 0,
  }
  await fireHooks(core, 'InstructionsLoaded', payload, emit, core.background.ending.signal)
}

/** Writes down what the hooks said, once. */
export async function deliverStart(core: Core): Promise<TurnFailure | null> {
  const said = core.requests.startContext
  if (said === null || core.view().messages.length === 0) return null
  const text = await gatedText(core, `start-${core.state.tail.next}`, said)
  const written = await core.append([hookAttachment('SessionStart', text)])
  if (!written.ok) return written.failure
  core.requests.startContext = null
  return null
}

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

/**
 * Reads reminder and sections again behind a boundary and writes them down where they changed. In a fork they are part of
 * the shared prefix; where messages before the boundary stay as they are, so do the sections, for what is cached follows them.
 */
export async function renewBehindBoundary(core: Core, keepsBeginning: boolean, emit: Emit): Promise<void> {
  if (!core.role.renewsReminder) return
  const { system, reminder: source } = core.options
  const before = core.view()
  const isRead = source !== undefined && typeof source !== 'string'
  const reminder = isRead ? await reminderAt(core.options, 'compact', emit) : (before.reminder ?? undefined)
  const isLoaded = typeof system === 'object' && 'load' in system && !keepsBeginning
  const sections = isLoaded ? await system.load() : before.sections
  if (!isRead && !isLoaded) return
  if ((reminder ?? null) !== before.reminder || !isSame(sections, before.sections)) {
    const { tools } = before
    const written = await core.append([
      { type: 'instructions-set', sections, tools, ...(reminder === undefined ? {} : { reminder }) },
    ])
    if (!written.ok) return emit({ type: 'notice', ...written.failure })
  }
  await fireInstructions(core, emit)
}

const isSame = (a: readonly Section[], b: readonly Section[]): boolean =>
  a.length === b.length && a.every(({ name, text }, at) => name === b[at]!.name && text === b[at]!.text)

/** Prompt, tools and reminder as they are now, for a session that began with others. The cache is written anew. */
export async function renewInstructions(
  core: Slice<'append' | 'background' | 'options' | 'session' | 'view'>,
  emit: Emit,
): Promise<void> {
  const reminder = await reminderAt(core.options, 'start', emit)
  const written = await core.append([await instructionsOf(core.options, reminder)])
  if (!written.ok) emit({ type: 'notice', code: written.failure.code, message: written.failure.message })
  else await fireInstructions(core, emit)
}
