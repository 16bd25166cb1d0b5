// Holds what the provider read from its cache against what it should have read. A fall that nobody
// announced is written down with its causes, and said. Watching never ends a turn: what goes wrong with it is a notice.
import type { ModelMessage } from '../../model/model.ts'
import { describeCause } from '../../request/break-report.ts'
import type { CacheBreak } from '../../request/break-detector.ts'
import type { Core, Slice } from '../core.ts'
import type { Emit } from '../live.ts'
import { serverReportOf } from './server-edits.ts'
import { tokenRates } from '../limits/spend.ts'

/** Called once for each answer, with what it says about its own request. */
export async function readCache(core: Core, message: ModelMessage, emit: Emit): Promise<void> {
  const { options } = core
  const { detector } = core.requests
  const pending = core.requests.takePending()
  if (pending === null || core.lifetime === null) return
  const { usage } = message
  const prompt = usage.input + usage.cacheRead + usage.cacheWrite
  const found = detector.after(pending, {
    usage,
    deletedTokens: message.cacheDeletedTokens,
    clearedTokens: serverReportOf(message).tokens,
    rates: tokenRates(options.models, core.modelId, core.lifetime, prompt),
  })
  if (found === null) return
  const diff = await kept(core, found, message.messageId, emit)
  const { causes, tokens, cost } = found
  const written = await core.append([
    { type: 'cache-break', source: core.source, causes, tokens, cost: cost ?? 0, ...diff },
  ])
  if (!written.ok) emit({ type: 'notice', ...written.failure })
  emit({ type: 'notice', code: 'cache-break', message: sentence(found) })
}

async function kept(
  core: Slice<'options' | 'transcript'>,
  { diff }: CacheBreak,
  name: string,
  emit: Emit,
): Promise<{ readonly diff?: string }> {
  const { store } = core.options
  const put = await store.putBlob(
    core.transcript.lease,
    `cache-break-${name}`,
    new TextEncoder().encode(diff),
  )
  if (put.ok) return { diff: put.blob }
  emit({
    type: 'notice',
    code: put.failure.code,
    message: `what broke the cache could not be kept: ${put.failure.message}`,
  })
  return {}
}

function sentence({ tokens, causes, cost }: CacheBreak): string {
  const paid = cost === null ? '' : `, at a cost of $${cost.toFixed(4)}`
  return `${tokens} cached tokens were sent again${paid}: ${causes.map(describeCause).join('; ')}`
}
