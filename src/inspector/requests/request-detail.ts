// The screen of one request: what it held from its beginning to its end, what of it came from the cache, and where it parts
// from the one before.
import { shared } from '../../lab/playing/timeline.ts'
import { dollarsOf } from '../../engine/limits/spend.ts'
import { estimateBlock, estimateText } from '../../projection/tokens.ts'
import type { ViewBlock } from '../../projection/view.ts'
import { describeDiagnosis } from '../../request/diagnosis.ts'
import type { SentBlock, SentMessage } from '../../request/segments.ts'
import type { SessionIndex } from '../indexing/index-builder.ts'
import type { RequestDetail, RequestDifference, RequestPart, RequestPiece } from '../protocol.ts'
import { breakdown } from './breakdown.ts'
import { causeText, differenceOf } from './difference.ts'
import type { RebuiltRequest } from './request-at.ts'

/** `against`: the request it is held against, and its place. */
export function detailOf(
  index: SessionIndex,
  request: RebuiltRequest,
  against: RebuiltRequest | null,
): RequestDetail {
  const { sent, composed, usage, answer, tokens } = request
  const fact = sent!.fact
  const { models } = index.options
  return {
    seq: sent!.seq,
    number: numberOf(index, sent!.seq),
    at: sent!.at,
    source: fact.source,
    model: fact.model,
    hash: fact.hash,
    composedHash: composed.hash,
    isExact: request.isExact,
    inexact: request.isExact ? null : inexactText(index),
    bytes: Buffer.byteLength(composed.body),
    tokens,
    counted: request.counted,
    limit: request.window,
    usage:
      usage === null
        ? null
        : {
            input: usage.input,
            read: usage.cacheRead,
            written: usage.cacheWrite,
            output: usage.output,
            dollars: dollarsOf(models, answer?.fact.model ?? fact.model, usage),
            isEstimated: usage.estimated === true,
          },
    timing: answer?.fact.timing ?? null,
    diagnosis: answer?.fact.diagnosis === undefined ? null : describeDiagnosis(answer.fact.diagnosis),
    lifetime: fact.lifetime ?? null,
    marks: fact.marks,
    pieces: piecesOf(request),
    sources: breakdown(request.plainBody, request.view, tokens),
    declined: (fact.declined ?? []).map(({ layer, why, tokens: freed, price }) => ({
      layer,
      why,
      tokens: freed,
      saves: price?.saves ?? null,
      costs: price?.costs ?? null,
    })),
    against: against === null ? null : differenceBetween(index, against, request),
  }
}

const numberOf = (index: SessionIndex, seq: number): number => index.requests.firstFrom('seq', seq) + 1

const inexactText = ({ lists }: SessionIndex): string =>
  lists.imported !== null
    ? 'another program made this request: it is shown as its conversation was recorded, not byte for byte'
    : 'composed again it has another hash: settings that are no facts (wire, tags, files sent along) have changed since, or an earlier version sent it'

function differenceBetween(
  index: SessionIndex,
  against: RebuiltRequest,
  request: RebuiltRequest,
): RequestDifference {
  const seq = against.sent!.seq
  const found = index.lists.breaks.find((one) => one.request === request.sent!.seq && one.previous === seq)
  return {
    seq,
    number: numberOf(index, seq),
    ...differenceOf(against.composed.segments, request.composed.segments),
    lost:
      found === undefined
        ? null
        : { tokens: found.tokens, dollars: found.cost, causes: found.causes.map(causeText) },
  }
}

interface Weighed {
  readonly piece: Omit<RequestPiece, 'tokens' | 'cache' | 'parts'>
  readonly parts: readonly { readonly part: Omit<RequestPart, 'tokens'>; readonly weight: number }[]
  readonly weight: number
}

function piecesOf({ composed, tokens, usage }: RebuiltRequest): readonly RequestPiece[] {
  const { segments } = composed
  const { breakpoints, breakpoint } = segments
  const weighed: Weighed[] = [
    ...segments.tools.map(({ name, json }, at) => ({
      piece: {
        kind: 'tool' as const,
        name,
        hasMark: breakpoints.includes('tools') && at === segments.tools.length - 1,
      },
      parts: [],
      weight: estimateText(json),
    })),
    ...segments.system.map(({ name, json }) => ({
      piece: { kind: 'system' as const, name, hasMark: breakpoints.includes(name) },
      parts: [],
      weight: estimateText(json),
    })),
    ...segments.messages.map((message, at) =>
      weighedMessage(message, breakpoints.includes('messages') && breakpoint?.message === at),
    ),
  ]
  const sizes = shared(
    weighed.map(({ weight }) => weight),
    tokens,
  )
  let begin = 0
  return weighed.map(({ piece, parts }, at) => {
    const size = sizes[at]!
    const cache: RequestPiece['cache'] =
      usage === null
        ? 'unknown'
        : begin < usage.cacheRead
          ? 'read'
          : begin < usage.cacheRead + usage.cacheWrite
            ? 'written'
            : 'input'
    begin += size
    const shares = shared(
      parts.map(({ weight }) => weight),
      size,
    )
    return {
      ...piece,
      tokens: size,
      cache,
      parts: parts.map(({ part }, index) => ({ ...part, tokens: shares[index]! })),
    }
  })
}

function weighedMessage(message: SentMessage, hasMark: boolean): Weighed {
  const groups: { part: Omit<RequestPart, 'tokens'>; blocks: number[]; weight: number }[] = []
  let ours = 0
  for (const block of message.blocks) {
    const weight = weightOf(block)
    const { part } = block
    if (part === null) {
      ours += weight
      continue
    }
    const known = groups.at(-1)
    const source = block.of === null ? -1 : (part.source[part.blocks.indexOf(block.of)] ?? -1)
    if (known !== undefined && known.part.from === part.from && known.part.to === part.to) {
      known.blocks.push(source)
      known.weight += weight
      continue
    }
    const blocks = [source]
    groups.push({
      part: {
        from: part.from,
        to: part.to,
        kind: part.kind,
        label: part.tool ?? part.attachment?.kind ?? null,
        edit: part.edit,
        layer: part.by,
        blocks,
      },
      blocks,
      weight,
    })
  }
  return {
    piece: { kind: 'message', name: message.role, hasMark },
    parts: groups.map(({ part, weight }) => ({ part, weight })),
    weight: ours + groups.reduce((sum, { weight }) => sum + weight, 0),
  }
}

const weightOf = ({ of, json }: SentBlock): number =>
  of === null ? estimateText(json) : estimateBlock(of as ViewBlock)
