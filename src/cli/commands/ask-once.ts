// One tiny request to a model, to see whether it answers: for `pal doctor --ask`.
import type { Model } from '../../model/model.ts'
import { promptTokens } from '../../model/usage.ts'
import { Fold } from '../../projection/fold.ts'
import { defaults } from '../../settings/defaults.ts'
import { seq, uuid } from '../../transcript/ids.ts'
import type { Spoken } from '../../wires/wire.ts'

export type AskedOnce =
  | { readonly ok: true; readonly ms: number; readonly tokens: number }
  | { readonly ok: false; readonly why: string }

export async function askOnce(
  model: Model,
  { wire, model: name, provider, quirks }: Spoken,
): Promise<AskedOnce> {
  const fold = new Fold()
  fold.push({
    v: 1,
    seq: seq(0),
    uuid: uuid('probe'),
    parent: null,
    at: 0,
    fact: { type: 'user-message', content: [{ type: 'text', text: 'Answer: ok' }], origin: 'program' },
  })
  const outcome = wire.createComposer({ quirks }).compose(fold.view(), {
    model: name,
    maxTokens: defaults.cli.probeTokens,
    bindsPrefix: false,
    lifetime: null,
  })
  if (!outcome.ok) return { ok: false, why: outcome.why }
  const { body, betas } = outcome.composed
  const request = { wire: wire.name, provider, model: name, body, betas, source: 'doctor' }
  const began = Date.now()
  for await (const event of model.stream(request, AbortSignal.timeout(defaults.cli.probeAnswerMs))) {
    if (event.type === 'failed') return { ok: false, why: event.failure.message }
    if (event.type === 'end') {
      const { usage } = event.message
      return { ok: true, ms: Date.now() - began, tokens: promptTokens(usage) + usage.output }
    }
  }
  return { ok: false, why: 'the stream ended without an answer' }
}
