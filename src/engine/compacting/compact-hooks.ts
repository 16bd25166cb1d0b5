// The hooks around a compaction.
import type { Result } from '../../transcript/store.ts'
import type { Slice } from '../core.ts'
import { noHooks } from '../hooks.ts'
import type { Emit } from '../live.ts'
import type { Choosing } from './account.ts'
import type { CompactAsk, Compacted } from './ask.ts'
import { figures } from './boundary.ts'

/** A hook may forbid it, as long as the session can go on without. */
export async function askHooks({
  core,
  ask,
  extracted,
  room,
  emit,
  signal,
}: Choosing): Promise<Result<{ /** For whoever writes the text. */ readonly context: string | null }>> {
  const { tokensBefore, tokensAfter, partsGone } = extracted
  const ids = partsGone.map((part) => part.uuid)
  const payload = { session: core.session, trigger: ask.trigger, tokensBefore, tokensAfter, ids }
  const answer = await (core.options.hooks ?? noHooks).fire('PreCompact', payload, signal)
  for (const message of answer.failures) emit({ type: 'notice', code: 'hook-failed', message })
  if (answer.block === null) return { ok: true, context: answer.context }
  if (ask.trigger !== 'reactive' && core.view().tokens <= room.effective)
    return { ok: false, failure: { code: 'blocked', message: answer.block } }
  emit({
    type: 'notice',
    code: 'veto-ignored',
    message: `a hook forbade it, but nothing else fits: ${answer.block}`,
  })
  return { ok: true, context: answer.context }
}

export async function tellHooks(
  core: Slice<'options' | 'session'>,
  ask: CompactAsk,
  done: Compacted,
  emit: Emit,
  signal: AbortSignal,
): Promise<void> {
  const payload = { session: core.session, trigger: ask.trigger, ...figures(done), seq: done.seq }
  const answer = await (core.options.hooks ?? noHooks).fire('PostCompact', payload, signal)
  for (const message of answer.failures) emit({ type: 'notice', code: 'hook-failed', message })
  if (answer.context !== null) emit({ type: 'notice', code: 'hook', message: answer.context })
}
