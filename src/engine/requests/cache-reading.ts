// What an answer says of the cache: what was read is held against what should have been, and the provider is asked what
// differs. A fall that nobody announced is written down with its causes, and said; watching never ends a turn.
import type { ModelMessage } from '../../model/model.ts'
import type { CacheBreak } from '../../request/break-detector.ts'
import { describeCause } from '../../request/break-report.ts'
import type { ComposeParameters } from '../../request/compose.ts'
import { providersWord, diagnosisOf } from '../../request/diagnosis.ts'
import type { Diagnosis } from '../../transcript/fact.ts'
import type { Slice } from '../core.ts'
import type { Emit } from '../live.ts'
import { tokenRates } from '../limits/spend.ts'
import { isRefused } from '../state.ts'
import { serverReportOf } from './server-edits.ts'

type Asking = Slice<'background' | 'lifetime' | 'options' | 'spoken' | 'state'>

/**
 * Only the maker of a wire is asked, and only in a turn of our own, which sends the header along that it wants: whoever takes
 * a request to send it himself has the body alone. It is asked about an answer of
 * its own: the last one may be another server's, or of a session that was imported.
 */
function askingFor(core: Asking): ComposeParameters['diagnosis'] | null {
  const { background, options, spoken } = core
  const asks = options.cacheDiagnostics === true && background.turnSignal !== null && core.lifetime !== null
  if (!asks || spoken.provider !== undefined || isRefused(core, 'cache-diagnostics')) return null
  const { diagnosis } = spoken.wire.capabilities
  if (diagnosis === null) return null
  const { answer } = core.state.latest
  return { after: answer?.startsWith(diagnosis.answersBegin) === true ? answer : null, beta: diagnosis.beta }
}

/** How a request asks for it; nothing where it does not. */
export function diagnosisFor(core: Asking): Pick<ComposeParameters, 'diagnosis'> {
  const diagnosis = askingFor(core)
  return diagnosis === null ? {} : { diagnosis }
}

/** What an answer says of it; null where it was not asked. */
export const diagnosisIn = (core: Asking, { diagnostics }: ModelMessage): Diagnosis | null =>
  typeof askingFor(core)?.after === 'string' ? diagnosisOf(diagnostics) : null

/** Called once for each answer, with what it says about its own request. */
export async function readCache(
  core: Slice<
    | 'append'
    | 'lifetime'
    | 'modelId'
    | 'modelInfo'
    | 'options'
    | 'requests'
    | 'source'
    | 'spoken'
    | 'transcript'
  >,
  message: ModelMessage,
  diagnosis: Diagnosis | null,
  emit: Emit,
): Promise<void> {
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
    rules: core.spoken.wire.cacheRules(core.modelInfo()),
  })
  if (found === null) return
  const diff = await keptDiff(core, found, message.messageId, emit)
  const { causes, tokens, cost } = found
  const written = await core.append([
    {
      type: 'cache-break',
      source: core.source,
      causes,
      tokens,
      cost: cost ?? 0,
      ...diff,
      ...(diagnosis === null ? {} : { provider: diagnosis.reason }),
      ...(diagnosis?.tokens === undefined ? {} : { providerTokens: diagnosis.tokens }),
    },
  ])
  if (!written.ok) emit({ type: 'notice', ...written.failure })
  emit({ type: 'notice', code: 'cache-break', message: breakText(found, diagnosis) })
}

async function keptDiff(
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

function breakText({ tokens, causes, cost }: CacheBreak, diagnosis: Diagnosis | null): string {
  const paid = cost === null ? '' : `, at a cost of $${cost.toFixed(4)}`
  return `${tokens} cached tokens were sent again${paid}: ${causes.map(describeCause).join('; ')}${providersWord(causes, diagnosis?.reason, diagnosis?.tokens)}`
}
