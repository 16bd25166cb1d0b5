// The texts of staged spans, written by a model beside the talk where there is one. Each text that holds becomes part of
// the next snapshot; one that fails leaves its span to the extracted text, and is said.
import { isShort, partsIn } from '../../compaction/collapsing/span-text.ts'
import { accountOf } from '../../compaction/summary.ts'
import { defaults } from '../../settings/defaults.ts'
import type { FactOf } from '../../transcript/fact.ts'
import type { Core } from '../core.ts'
import type { Emit } from '../live.ts'

type Staged = FactOf<'collapse-stage'>['spans'][number]

const job = 'collapse'

/** Begins it; one at a time. Never throws, and nobody waits for it but the end of the session. */
export function writeTexts(core: Core, emit: Emit): void {
  if (core.options.summariser === undefined || core.jobs.has(job)) return
  core.jobs.set(
    job,
    written(core, emit).finally(() => core.jobs.delete(job)),
  )
}

async function written(core: Core, emit: Emit): Promise<void> {
  let failures = 0
  for (;;) {
    const next = (core.latest.collapse?.spans ?? []).find(
      (span) => span.text === undefined && partsIn(core.fold, span).length > 0,
    )
    if (next === undefined || core.ending.signal.aborted || failures >= defaults.collapse.failures) return
    const text = await textFor(core, next, emit)
    if (text === null) failures++
    else failures = 0
    // An empty text says: asked for in vain, and extracted when it is committed.
    const noted = await note(core, next, text ?? '')
    if (!noted) return
  }
}

async function textFor(core: Core, span: Staged, emit: Emit): Promise<string | null> {
  // The turn it began in may be over.
  const tell = core.aside?.tell ?? emit
  const answer = await core.options.summariser!.summarise(
    {
      session: core.session,
      span,
      parts: partsIn(core.fold, span),
      variant: 'up-to',
      instructions: null,
      hookInstructions: null,
      maxTokens: defaults.collapse.textTokens,
      aside: core.aside,
      emit: tell,
    },
    core.ending.signal,
  )
  const account = answer.ok ? accountOf(answer) : answer
  if (account.ok && isShort(account.account, core.view().factor)) return account.account
  if (answer.ok || !answer.isAborted) {
    const why = account.ok ? 'it is too long' : account.why
    tell({
      type: 'notice',
      code: 'summary-failed',
      message: `the text of an archived span was not used: ${why}`,
    })
  }
  return null
}

/** False when nothing more can be written. */
async function note(core: Core, { from, to }: Staged, text: string): Promise<boolean> {
  const now = core.latest.collapse
  if (now === undefined || core.ending.signal.aborted) return false
  const spans = now.spans.map((span) => (span.from === from && span.to === to ? { ...span, text } : span))
  return (await core.append([{ ...now, spans }])).ok
}
