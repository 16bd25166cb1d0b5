// SessionStart (SPEC 14.3, 8.6): fired when a session is opened and after each compaction, never for a request. What the
// hooks say waits until there is something to send, so that a session that is only looked at is not written to; then it
// becomes an attachment, within the limits of a tool result. The moment cannot be stopped.
import type { Core, Slice } from '../core.ts'
import { noHooks } from '../hooks.ts'
import type { Emit, TurnFailure } from '../live.ts'
import { gatedText } from '../keeping/results.ts'

export type StartSource = 'startup' | 'resume' | 'fork' | 'compact'

export async function fireStart(
  core: Slice<'background' | 'modelId' | 'options' | 'requests' | 'session'>,
  source: StartSource,
  emit: Emit,
  signal: AbortSignal = core.background.ending.signal,
): Promise<void> {
  const { hooks = noHooks, cwd } = core.options
  const payload = { session: core.session, source, model: core.modelId, cwd }
  const answer = await hooks.fire('SessionStart', payload, signal)
  for (const message of answer.failures) emit({ type: 'notice', code: 'hook-failed', message })
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
    session: core.session,
    sections: sections.map(({ name, text }) => ({ name, chars: text.length })),
    tools: tools.map((tool) => tool.name),
    reminderChars: reminder?.length ?? 0,
  }
  const answer = await (core.options.hooks ?? noHooks).fire(
    'InstructionsLoaded',
    payload,
    core.background.ending.signal,
  )
  for (const message of answer.failures) emit({ type: 'notice', code: 'hook-failed', message })
}

/** Writes down what the hooks said, once. */
export async function deliverStart(core: Core): Promise<TurnFailure | null> {
  const said = core.requests.startContext
  if (said === null || core.view().messages.length === 0) return null
  const text = await gatedText(core, `start-${core.state.tail.next}`, said)
  const written = await core.append([
    { type: 'attachment', kind: 'hook', content: [{ type: 'text', text }], source: 'SessionStart' },
  ])
  if (!written.ok) return written.failure
  core.requests.startContext = null
  return null
}
