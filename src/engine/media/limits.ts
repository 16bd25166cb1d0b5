// What a request may not carry is replaced in the view by what names it: before it is sent where the limits are known, and
// after a refusal where they are not. Each replacement is an edit like any other: listed, kept over a resume, and undone.
import type { ModelFailure, RefusedMedia } from '../../model/model.ts'
import { messagesMedia, type MediaLimits } from '../../model/models.ts'
import type { Room } from '../../projection/budget.ts'
import type { Fold } from '../../projection/fold.ts'
import { freedByStub, mediaIn, mediaStub, type ShownMedia } from '../../projection/media.ts'
import { estimateBlock } from '../../projection/tokens.ts'
import type { Composed } from '../../request/compose.ts'
import { overLimits, type OverLimit } from '../../request/media-limits.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Fact, LearnedMedia } from '../../transcript/fact.ts'
import { seq, uuid, type Seq } from '../../transcript/ids.ts'
import type { Slice } from '../core.ts'
import type { Emit, TurnFailure } from '../live.ts'

/** The layer under whose name media are replaced. */
const mediaLayer = 'media'

/** What the model's row says, and what refusals have said since. */
function mediaLimits(core: Slice<'modelInfo' | 'state'>): MediaLimits {
  const known = core.modelInfo()?.media ?? messagesMedia
  const { count, side, manySide, imageBytes, requestBytes } = core.state.latest.learnedMedia ?? {}
  return {
    count: count ?? known.count,
    side: side ?? known.side,
    manyImages: known.manyImages,
    manySide: manySide ?? known.manySide,
    imageBytes: imageBytes ?? known.imageBytes,
    requestBytes: requestBytes === undefined ? known.requestBytes : Math.floor(requestBytes * bytesShare),
  }
}
/** What of a request's bytes is laid to media and words: our count of words is an estimate. */
const bytesShare = 0.95

type Replacing = Slice<'append' | 'modelInfo' | 'state' | 'view'>
type MakingRoom = Replacing & Slice<'room'>

/** Words of the view in bytes, about. */
const bytesPerToken = 4
const wordBytes = (fold: Fold, all: readonly ShownMedia[]): number =>
  bytesPerToken * (fold.view().estimate - all.reduce((sum, { block }) => sum + estimateBlock(block), 0))

/** Before a request: what the limits of the model do not allow. */
export async function holdToLimits(core: Replacing, emit: Emit): Promise<TurnFailure | null> {
  const all = mediaIn(core.view())
  if (all.length === 0) return null
  const over = overLimits(all, mediaLimits(core), wordBytes(core.state.fold, all))
  return replace(core, over, 'a request may hold no more', emit)
}

/** Before anything is compacted: media that were answered make room first, where that is enough. */
export async function mediaFirst(
  core: MakingRoom & Slice<'options'>,
  emit: Emit,
): Promise<TurnFailure | null> {
  const view = core.view()
  const outcome = core.room()
  if (!outcome.ok || core.options.automaticRemoval === false) return null
  const { room } = outcome
  if (view.tokens <= room.threshold) return null
  const target = room.threshold - Math.ceil(defaults.compaction.gapShare * room.room)
  const over = oldestUntil(
    mediaIn(view).filter(({ isNew }) => !isNew),
    view.tokens - target,
    ({ block }) => view.factor * estimateBlock(block),
  )
  if (over === null) return null
  return replace(core, over.map(toMakeRoom), 'media are removed before text', emit)
}

/** Where nothing else is left to go: media that nobody has answered yet. */
export async function newMediaLast(core: MakingRoom, emit: Emit): Promise<boolean> {
  const view = core.view()
  const outcome = core.room()
  if (!outcome.ok) return false
  const { room } = outcome
  const tokens = ({ block }: ShownMedia): number => view.factor * estimateBlock(block)
  const largest = mediaIn(view).toSorted((a, b) => tokens(b) - tokens(a))
  const over = oldestUntil(largest, view.tokens - room.effective, tokens)
  if (over === null || over.length === 0) return false
  const why = (one: ShownMedia): string =>
    `not sent, it takes about ${Math.round(tokens(one))} tokens and ${room.effective} fit in all`
  const refused = await replace(
    core,
    over.map((media) => ({ media, why: why(media) })),
    'no room',
    emit,
  )
  return refused === null
}

const toMakeRoom = (media: ShownMedia): OverLimit => ({ media, why: 'removed from context to make room' })

/** The first of a list that together free so much; null where all of them do not. */
function oldestUntil(
  all: readonly ShownMedia[],
  needed: number,
  weigh: (one: ShownMedia) => number,
): readonly ShownMedia[] | null {
  const gone: ShownMedia[] = []
  let left = needed
  for (const one of all) {
    if (left <= 0) break
    if (one.at === null) continue
    left -= weigh(one)
    gone.push(one)
  }
  return left > 0 ? null : gone
}

// ---- after a refusal ----

/** The provider refused media: those it names are replaced. False where none can be. */
export async function dropRefused(
  core: Replacing,
  failure: Extract<ModelFailure, { code: 'media-refused' }>,
  composed: Composed,
  emit: Emit,
): Promise<boolean> {
  const all = mediaIn(core.view()).filter(({ at }) => at !== null)
  const isLearned = await learn(core, failure.media.limits)
  const beyond = isLearned ? overLimits(all, mediaLimits(core), wordBytes(core.state.fold, all)) : []
  const chosen =
    beyond.length > 0 ? namedBy(all, failure.media, composed) : refusedOf(all, failure.media, composed)
  const over = [
    ...beyond,
    ...chosen
      .filter((media) => beyond.every((one) => one.media !== media))
      .map((media) => ({ media, why: `not sent, the provider refused it (${brief(failure.message)})` })),
  ]
  return over.length > 0 && (await replace(core, over, 'the provider refused it', emit)) === null
}

/** Numbers that a refusal names hold from then on, where they are lower than what was known. */
async function learn(core: Replacing, named: LearnedMedia): Promise<boolean> {
  const known = mediaLimits(core)
  const lower = Object.entries(named).filter(([name, value]) => value < known[name as keyof LearnedMedia])
  if (lower.length === 0) return false
  const written = await core.append([{ type: 'media-learned', limits: Object.fromEntries(lower) }])
  return written.ok
}

const briefChars = 160
const brief = (message: string): string => message.replace(/^messages\.[\w.]+: /, '').slice(0, briefChars)

/** The block whose place in the request a refusal names. */
function namedBy(
  all: readonly ShownMedia[],
  { at }: RefusedMedia,
  { segments }: Composed,
): readonly ShownMedia[] {
  if (at === null) return []
  const sent = segments.messages[at.message]?.blocks[at.block]?.of ?? null
  const inner = sent?.type === 'tool_result' && 'content' in sent ? sent.content[at.inner ?? 0] : sent
  return all.filter(({ block }) => block === inner)
}

function refusedOf(
  all: readonly ShownMedia[],
  refused: RefusedMedia,
  composed: Composed,
): readonly ShownMedia[] {
  const { kind, limits } = refused
  const named = namedBy(all, refused, composed)
  if (named.length > 0) return named
  if (limits.count !== undefined) {
    const kept = Math.floor(limits.count * defaults.media.keptShare)
    return all.slice(0, Math.max(1, all.length - kept))
  }
  const fitting = all.filter(({ info }) => kind === null || info.kind === kind)
  const fresh = fitting.filter(({ isNew }) => isNew)
  return fresh.length > 0 ? fresh : fitting
}

/** The request was too large in bytes: the oldest media go until about half of it is gone. Says nothing of tokens. */
export async function dropForBytes(
  core: Replacing,
  bytes: number,
  mostBytes: number | undefined,
  emit: Emit,
): Promise<boolean> {
  if (mostBytes !== undefined && mostBytes < bytes) await learn(core, { requestBytes: mostBytes })
  const all = mediaIn(core.view()).filter(({ at }) => at !== null)
  const gone: ShownMedia[] = []
  let freed = 0
  for (const one of all) {
    if (freed >= bytes / 2) break
    freed += one.chars
    gone.push(one)
  }
  // A few small pictures are not what made it too large.
  if (freed < bytes * leastShare) return false
  const why = 'not sent, the request was refused for its bytes'
  return isReplaced(core, gone, why, emit)
}
const leastShare = 0.1

/**
 * The prompt was too long. What the provider counted beyond our words is laid to media, which nobody can estimate well:
 * the oldest go, then the largest of the new, until what is left should fit.
 */
export async function dropForTokens(
  core: Replacing,
  counted: number | null,
  room: Room,
  emit: Emit,
): Promise<boolean> {
  const view = core.view()
  const all = mediaIn(view).filter(({ at }) => at !== null)
  const estimated = all.reduce((sum, { block }) => sum + view.factor * estimateBlock(block), 0)
  if (estimated === 0) return false
  const words = Math.max(0, view.tokens - estimated)
  const whole = Math.max(counted ?? view.tokens, view.tokens)
  const scale = Math.max(1, (whole - words) / estimated)
  const tokens = ({ block }: ShownMedia): number => scale * view.factor * estimateBlock(block)
  const inOrder = [
    ...all.filter(({ isNew }) => !isNew),
    ...all.filter(({ isNew }) => isNew).toSorted((a, b) => tokens(b) - tokens(a)),
  ]
  const gone = oldestUntil(inOrder, whole - room.threshold, tokens) ?? inOrder
  const why = 'not sent, the prompt was too long with it'
  return gone.length > 0 && isReplaced(core, gone, why, emit)
}

// ---- writing it down ----

const isReplaced = async (
  core: Replacing,
  gone: readonly ShownMedia[],
  why: string,
  emit: Emit,
): Promise<boolean> =>
  (await replace(
    core,
    gone.map((media) => ({ media, why })),
    why,
    emit,
  )) === null

async function replace(
  core: Slice<'append' | 'state' | 'view'>,
  over: readonly OverLimit[],
  why: string,
  emit: Emit,
): Promise<TurnFailure | null> {
  const edits = over.flatMap(({ media, why: reason }) =>
    media.at === null ? [] : [{ edit: mediaStub(media.at, media.block, reason), block: media.block }],
  )
  if (edits.length === 0) return null
  const released = await releaseHolds(core, new Set(edits.map(({ edit }) => edit.at.seq)), emit)
  if (released !== null) return released
  const freed = edits.reduce((sum, { edit, block }) => sum + freedByStub(block, edit), 0)
  const reasons = [...new Set(over.map((one) => one.why))]
  const fact: Fact = {
    type: 'view-edit',
    layer: mediaLayer,
    asked: 'automatic',
    edits: edits.map(({ edit }) => edit),
    why: reasons.length === 1 ? reasons[0]! : why,
    tokensFreed: Math.round(core.view().factor * freed),
  }
  const written = await core.append([fact])
  if (!written.ok) return written.failure
  const { seq: place } = written.entries[0]!
  emit({ type: 'view-edit', layer: mediaLayer, why: fact.why, tokensFreed: fact.tokensFreed, seq: place })
  const names = edits.slice(0, shownNames).map(({ edit }) => edit.text)
  const rest = edits.length > shownNames ? ` and ${edits.length - shownNames} more` : ''
  emit({ type: 'notice', code: 'media-replaced', message: `${names.join(' ')}${rest}` })
  return null
}
const shownNames = 3

/** A pin, or what an undo gave back, cannot make a provider take what it refuses. */
async function releaseHolds(
  core: Slice<'append' | 'state'>,
  places: ReadonlySet<Seq>,
  emit: Emit,
): Promise<TurnFailure | null> {
  const { pins, holds } = core.state.fold.edits
  const inTheWay = [
    ...pins.filter((pin) => pin.released === null && places.has(pin.at)).map((pin) => pin.seq),
    ...holds
      .filter(({ range }) => [...places].some((place) => place >= range.from && place <= range.to))
      .map((hold) => hold.seq),
  ]
  if (inTheWay.length === 0) return null
  const released = await core.append(
    [...new Set(inTheWay)].map((target): Fact => ({ type: 'release', target })),
  )
  if (!released.ok) return released.failure
  emit({
    type: 'notice',
    code: 'hold-released',
    message: `media that were pinned or restored by an undo cannot be sent and are released (${inTheWay.join(', ')})`,
  })
  return null
}

/** Why taking an edit of media back would not be true on the wire, or null. */
export function mediaUndoRefusal(core: Slice<'modelInfo' | 'state'>, target: Seq): string | null {
  const { fold } = core.state
  const fact = fold.edits.editing(target)?.fact
  if (fact?.type !== 'view-edit' || fact.layer !== mediaLayer) return null
  const twin = fold.copy()
  const place = seq(fold.numbers.upTo + 1)
  twin.push({ v: 1, seq: place, uuid: uuid(''), parent: null, at: 0, fact: { type: 'undo', target } })
  const all = mediaIn(twin.view())
  const over = overLimits(all, mediaLimits(core), wordBytes(twin, all))
  return over.length === 0 ? null : `${over.length} of these media cannot be sent: ${over[0]!.why}`
}
