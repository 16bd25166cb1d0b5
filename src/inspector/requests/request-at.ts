// Any request of a session, composed again from the transcript as it was when the request was sent. It must have the hash
// that was written down then; where something that is no fact has changed since (settings of the tool set, a file that was
// sent), it may not, and that is said.
import { jsonIn } from '../../transcript/json.ts'
import { loadMedia, type LoadedMedia } from '../../engine/media/keeping.ts'
import { stateAt, type Resumed } from '../../engine/opening/resume.ts'
import { deletionsIn } from '../../engine/requests/server-edits.ts'
import { refused } from '../../disk/failure.ts'
import { lookUp, windowOf, wireModelId, type ModelTable } from '../../model/models.ts'
import type { WireContextEdit, WireThinking } from '../../model/wire.ts'
import { taggingOf } from '../../projection/layers/snip.ts'
import type { View } from '../../projection/view.ts'
import type { Composed, ComposeParameters } from '../../request/compose.ts'
import { digest } from '../../request/segments.ts'
import { defaults } from '../../settings/defaults.ts'
import { isKnown, type CacheParameters, type Entry, type FactOf, type Usage } from '../../transcript/fact.ts'
import { seq, unbounded, type SessionId } from '../../transcript/ids.ts'
import { lineageOf, type Link } from '../../transcript/lineage.ts'
import type { Checkpoint, Result, Store } from '../../transcript/store.ts'
import { anthropicWire } from '../../wires/anthropic/wire.ts'
import type { Spoken, Wire, WireChooser } from '../../wires/wire.ts'

export interface RequestSettings {
  readonly models: ModelTable
  /** For a session that has sent nothing yet. */
  readonly model: string
  readonly window?: number | undefined
  /** For requests of versions that did not write theirs down. */
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
  /** How a model is spoken to; the Messages API where unset. */
  readonly speak?: WireChooser | undefined
}

export interface RebuiltRequest {
  readonly ok: true
  /** Null: nothing was sent yet, and this is what would be. */
  readonly sent: SentFact | null
  readonly answer: AnswerFact | null
  readonly composed: Composed
  /** The same in the words of the Messages API, by which sources are told apart. */
  readonly plainBody: string
  readonly spoken: Spoken
  readonly view: View
  readonly model: string
  readonly window: number
  /** Size of the prompt. */
  readonly tokens: number
  readonly counted: 'provider' | 'estimate'
  readonly isExact: boolean
  readonly usage: Usage | null
}
type SentFact = Entry & { readonly fact: FactOf<'request-sent'> }
type AnswerFact = Entry & { readonly fact: FactOf<'assistant-message'> }

/** The newest, or what would be sent where nothing was. */
export async function lastRequest(
  store: Store,
  session: SessionId,
  settings: RequestSettings,
): Promise<Result<RebuiltRequest>> {
  const line = await lineageOf(store, session)
  if (!line.ok) return line
  let answer: AnswerFact | null = null
  for await (const item of store.readBack(session)) {
    if (item.kind === 'failed') break
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    if (isAnswer(item.entry)) answer = item.entry
    if (isSent(item.entry)) return rebuilt({ store, links: line.links, settings }, item.entry, answer)
  }
  return rebuilt({ store, links: line.links, settings }, null, null)
}

interface Place {
  readonly store: Store
  readonly links: readonly Link[]
  readonly settings: RequestSettings
  /** At or before the request, to begin from. */
  readonly checkpoint?: Checkpoint | null | undefined
}

/** The request at a place. */
export async function requestAt(place: Place, at: number): Promise<Result<RebuiltRequest>> {
  const { store, links } = place
  const { session } = links.at(-1)!
  let sent: SentFact | null = null
  let answer: AnswerFact | null = null
  for await (const item of store.read(session, { from: seq(at) })) {
    if (item.kind === 'failed') return { ok: false, failure: item.failure }
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    if (sent === null) {
      if (item.entry.seq !== at || !isSent(item.entry)) break
      sent = item.entry
    } else if (isAnswer(item.entry)) {
      answer = item.entry
      break
    } else if (isSent(item.entry)) break
  }
  if (sent === null) return refused('not-found', `entry ${at} is no request of this session`)
  return rebuilt(place, sent, answer)
}

const isSent = (entry: Entry): entry is SentFact => entry.fact.type === 'request-sent'
const isAnswer = (entry: Entry): entry is AnswerFact => entry.fact.type === 'assistant-message'

async function rebuilt(
  { store, links, settings, checkpoint }: Place,
  sent: SentFact | null,
  answer: AnswerFact | null,
): Promise<Result<RebuiltRequest>> {
  const { models } = settings
  const state = await stateAt(store, links, models, sent?.fact.upTo ?? unbounded, checkpoint ?? null)
  if (!state.ok) return state
  if (state.readOnly !== null) return refused('read-only', state.readOnly)
  const view = state.fold.view()
  const spoken = spokenIn(settings, state, sent?.fact.model)
  const composed = await compose(store, state, spoken, sent?.fact ?? null, settings)
  if (!composed.ok) return composed
  const usage = answer?.fact.usage ?? null
  const { model } = spoken
  return {
    ok: true,
    sent,
    answer,
    composed: composed.composed,
    plainBody: composed.plainBody,
    spoken,
    view,
    model,
    window: windowOf({
      model: wireModelId(settings.model) === model ? settings.model : model,
      table: models,
      override: settings.window,
      learned: state.latest.learnedWindow,
    }).tokens,
    tokens: usage === null ? view.tokens : usage.input + usage.cacheRead + usage.cacheWrite,
    counted: usage === null ? 'estimate' : 'provider',
    isExact: composed.composed.hash === sent?.fact.hash,
    usage,
  }
}

/** Who was asked: the model in force, unless another one sent the request. */
function spokenIn({ speak, model }: RequestSettings, { latest }: Resumed, sent: string | undefined): Spoken {
  const inForce = latest.model ?? model
  if (speak === undefined) return { wire: anthropicWire as Wire, model: sent ?? wireModelId(inForce) }
  const chosen = speak(inForce)
  return sent === undefined || chosen.model === sent ? chosen : { ...speak(sent), model: sent }
}

async function compose(
  store: Store,
  { fold, latest, links }: Resumed,
  { wire, model, quirks }: Spoken,
  sent: FactOf<'request-sent'> | null,
  settings: RequestSettings,
): Promise<Result<{ readonly composed: Composed; readonly plainBody: string }>> {
  const view = fold.view()
  const media: LoadedMedia = new Map()
  await loadMedia(
    { options: { store }, links, payers: [], requests: { media }, role: { compacts: 'all' } },
    view,
  )
  const info = lookUp(settings.models, model)
  const takes = wire.capabilities.breakpoints ? info?.capabilities : undefined
  const lifetime = sent === null ? '5m' : (sent.lifetime ?? null)
  const hasReferences = lifetime !== null && takes?.cacheEdits === true
  const deletions = hasReferences ? deletionsIn(view) : []
  const options = {
    references: hasReferences,
    tag: taggingOf(view),
    media: (blob: string) => media.get(blob) ?? null,
  }
  const parameters: ComposeParameters = {
    model,
    maxTokens: Math.min(defaults.engine.maxOutputTokens, info?.maxOutput ?? defaults.engine.maxOutputTokens),
    bindsPrefix: takes?.bindsPrefix ?? false,
    reasoningFrom: latest.reasoningFrom,
    lifetime,
    breakpointAt: sent?.markedAt,
    cacheKey: digest(links[0]!.session),
    ...(deletions.length > 0 ? { cacheEdits: deletions } : {}),
    ...asked(sent?.parameters ?? latest.parameters, settings),
  }
  const outcome = wire.createComposer({ ...options, quirks }).compose(view, parameters)
  if (!outcome.ok) return refused('nothing-to-send', `the session has no request: ${outcome.why}`)
  const { composed } = outcome
  if (wire.name === 'anthropic') return { ok: true, composed, plainBody: composed.body }
  const plain = anthropicWire.createComposer(options).compose(view, { ...parameters, thinking: undefined })
  return { ok: true, composed, plainBody: plain.ok ? plain.composed.body : '{"messages":[]}' }
}

interface AskedParameters {
  readonly thinking?: WireThinking | undefined
  readonly effort?: string | undefined
  readonly betas?: readonly string[]
  readonly contextEdits?: readonly WireContextEdit[] | undefined
}

/** As the request said them; by the settings of now where it did not. */
function asked(said: CacheParameters | undefined, { thinking, effort }: RequestSettings): AskedParameters {
  if (said === undefined) return { thinking, effort }
  return {
    // A transcript may come from anywhere: what is no JSON was not said.
    thinking: jsonIn(said.thinking) as WireThinking | undefined,
    effort: said.effort === '' ? undefined : said.effort,
    ...(said.betas === '' ? {} : { betas: said.betas.split(',') }),
    contextEdits: jsonIn(said.extra) as readonly WireContextEdit[] | undefined,
  }
}
