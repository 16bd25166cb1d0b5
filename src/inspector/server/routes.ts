// Which answer a path has, as a value: the server sends it, an export keeps it. Every number from outside is held to its range
// before anything is looked at.
import type { ServerResponse } from 'node:http'
import { kindOf, policies } from '../../lab/policies/list.ts'
import { defaults } from '../../settings/defaults.ts'
import { sessionId } from '../../transcript/ids.ts'
import type { Failure, Result } from '../../transcript/store.ts'
import { blockDetail } from '../answers/block.ts'
import { carriedBy, indexChunk, requestChunk } from '../answers/chunks.ts'
import { editDetail, editsOf } from '../answers/edits.ts'
import { findText, linesBetween } from '../answers/lines.ts'
import { agentTree, breaksOf } from '../answers/sessions.ts'
import { encodeChunk, missingKind } from '../columns.ts'
import type { SessionIndex } from '../indexing/index-builder.ts'
import { previousRequest } from '../indexing/index-rows.ts'
import type { OpenedIndex } from '../indexing/open-index.ts'
import type { EffectKind, Inspection } from '../inspection.ts'
import type { About, EffectWish, PolicyList } from '../protocol.ts'
import type { Replays } from '../replays.ts'
import { detailOf } from '../requests/request-detail.ts'
import { isKind } from '../wishes.ts'
import { send, sendJson, sendProblem } from './http.ts'

export interface RouteContext {
  readonly inspection: Inspection
  readonly about: About
}

/** What a path is answered with. */
export type RouteAnswer =
  | { readonly kind: 'value'; readonly value: unknown }
  | {
      readonly kind: 'bytes'
      readonly type: string
      readonly bytes: string | Uint8Array
      /** Of the whole, where this is a piece of it. */
      readonly total?: number | undefined
    }
  | { readonly kind: 'problem'; readonly status: number; readonly problem: string }

const value = (answer: unknown): RouteAnswer => ({ kind: 'value', value: answer })
const problem = (status: number, words: string): RouteAnswer => ({ kind: 'problem', status, problem: words })
const failed = ({ code, message }: Failure): RouteAnswer =>
  problem(code === 'not-found' || code === 'no-such-session' ? 404 : 500, message)

/** One segment of a path, decoded; null where it cannot be. */
export function segmentsOf(pathname: string): readonly string[] | null {
  try {
    return pathname.split('/').slice(2).map(decodeURIComponent)
  } catch {
    return null
  }
}

/** A whole number that is no less than 0; null where it is none. */
function wholeIn(text: string | null | undefined): number | null {
  return text !== null && text !== undefined && /^\d{1,15}$/u.test(text) ? Number(text) : null
}

export async function answerGet(shown: RouteContext, url: URL, response: ServerResponse): Promise<void> {
  const answer = await answerTo(shown, url)
  if (answer.kind === 'value') sendJson(response, answer.value)
  else if (answer.kind === 'problem') sendProblem(response, answer.status, answer.problem)
  else
    send(
      response,
      200,
      answer.type,
      answer.bytes,
      answer.total === undefined ? {} : { 'x-total-bytes': String(answer.total) },
    )
}

/** The answer of a path below /api. */
export async function answerTo(shown: RouteContext, url: URL): Promise<RouteAnswer> {
  const path = segmentsOf(url.pathname)
  if (path === null) return problem(400, 'this path cannot be read')
  const [first, second] = path
  if (path.length === 1 && first === 'about') return value(shown.about)
  if (path.length === 1 && first === 'sessions') return value(await shown.inspection.sessions())
  if (path.length === 1 && first === 'policies') return value({ policies: policyNotes })
  if (first === 'memory') return answerMemory(shown, path)
  if (first === 's' && second !== undefined) return answerSession(shown, second, path.slice(2), url)
  return problem(404, 'there is nothing here')
}

/** The policies a session can be replayed under. */
const policyNotes: PolicyList['policies'] = policies.map((policy) => ({
  name: policy.name,
  kind: kindOf(policy),
  about: policy.about,
}))

async function answerMemory({ inspection }: RouteContext, path: readonly string[]): Promise<RouteAnswer> {
  const { memories } = inspection.options
  if (memories === undefined) return value({ stores: [] })
  if (path.length === 1) return value(await memories.list())
  const [, store = '', file = ''] = path
  const detail = path.length === 3 ? await memories.detail(store, file) : null
  return detail === null ? problem(404, 'there is no such memory') : value(detail)
}

async function answerSession(
  { inspection }: RouteContext,
  session: string,
  path: readonly string[],
  url: URL,
): Promise<RouteAnswer> {
  // Only what is listed is opened: an id from outside never becomes a path.
  if (!(await inspection.has(session))) return problem(404, 'there is no such session')
  if (path.length === 0) {
    const head = await inspection.head(session)
    return head.ok ? value(head.head) : failed(head.failure)
  }
  const opened = await inspection.opened(session)
  if (!opened.ok) return failed(opened.failure)
  // A name that every object has is no route.
  const answer = Object.hasOwn(routes, path[0]!) ? routes[path[0]!] : undefined
  if (answer === undefined) return problem(404, 'there is nothing here')
  return answer({ inspection, opened, path: path.slice(1), query: url.searchParams })
}

interface Asked {
  readonly inspection: Inspection
  readonly opened: OpenedIndex
  readonly path: readonly string[]
  readonly query: URLSearchParams
}
type Route = (asked: Asked) => Promise<RouteAnswer> | RouteAnswer

/** How many are asked for at once, held to the most. */
const countIn = (query: URLSearchParams, most: number): number =>
  Math.max(1, Math.min(wholeIn(query.get('count')) ?? most, most))

const routes: Readonly<Record<string, Route>> = {
  index: ({ opened, query }) => {
    const count = countIn(query, defaults.inspector.chunkEntries)
    const chunk = indexChunk(opened.index, wholeIn(query.get('before')), count)
    return { kind: 'bytes', type: 'application/octet-stream', bytes: encodeChunk(chunk) }
  },
  requests: ({ opened, query }) => {
    const count = countIn(query, defaults.inspector.chunkRequests)
    return value(requestChunk(opened.index, wholeIn(query.get('before')), count))
  },
  carried: ({ opened, query }) => {
    const range = rangeIn(query)
    if (range === null) return problem(400, 'from and to must be places')
    return value(carriedBy(opened.index, range.from, range.to))
  },
  lines: async ({ inspection, opened, query }) => {
    const range = rangeIn(query)
    if (range === null) return problem(400, 'from and to must be places')
    return resultOf(
      await linesBetween(inspection.options.store, opened.links, range.from, range.to),
      ({ answer }) => answer,
    )
  },
  find: async ({ inspection, opened, query }) => {
    const text = query.get('text') ?? ''
    if (text === '' || text.length > longestSearch) return problem(400, 'text must have 1 to 200 characters')
    const before = wholeIn(query.get('before')) ?? (opened.index.lists.head ?? 0) + 1
    return resultOf(
      await findText(inspection.options.store, opened.links, text, before),
      ({ answer }) => answer,
    )
  },
  request: answerRequest,
  block: async ({ inspection, opened, path }) => {
    const [place = null, block = null] = path.map(wholeIn)
    if (path.length !== 2 || place === null || block === null) return problem(404, 'there is no such block')
    const { store } = inspection.options
    const memories = await inspection.memoriesFrom(opened, place)
    return resultOf(await blockDetail({ store, ...opened }, place, block), ({ detail }) => ({
      ...detail,
      memories,
    }))
  },
  edits: ({ opened }) => value({ edits: editsOf(opened.index) }),
  edit: async ({ inspection, opened, path }) => {
    const place = wholeIn(path[0])
    if (path.length !== 1 || place === null) return problem(404, 'there is no such edit')
    const found = await editDetail(inspection.options.store, opened.links, opened.index, place)
    return resultOf(found, ({ detail }) => detail)
  },
  breaks: ({ opened }) => value({ breaks: breaksOf(opened.index) }),
  agents: async ({ inspection, opened }) => {
    const root = await agentTree(opened.index, async (session) => {
      const own = (await inspection.has(session)) ? await inspection.opened(session) : null
      return own?.ok === true ? own.index : null
    })
    return value({ root })
  },
  blob: async ({ inspection, opened, path, query }) => {
    const offset = wholeIn(query.get('offset')) ?? 0
    const length = Math.min(
      wholeIn(query.get('length')) ?? defaults.inspector.blobBytes,
      defaults.inspector.blobBytes,
    )
    const session = sessionId(opened.index.lists.session)
    const found = await inspection.options.store.getBlob(session, path[0] ?? '', { offset, length })
    if (!found.ok || path.length !== 1) return problem(404, 'there is no such result')
    return { kind: 'bytes', type: 'application/octet-stream', bytes: found.bytes, total: found.total }
  },
}

const longestSearch = 200

async function answerRequest({ inspection, opened, path, query }: Asked): Promise<RouteAnswer> {
  const place = wholeIn(path[0])
  if (place === null || path.length > 2 || (path.length === 2 && path[1] !== 'body'))
    return problem(404, 'there is no such request')
  const request = await inspection.request(opened, place)
  if (!request.ok) return failed(request.failure)
  if (path[1] === 'body')
    return { kind: 'bytes', type: 'application/json; charset=utf-8', bytes: request.composed.body }
  const { requests } = opened.index
  const row = requests.firstFrom('seq', place)
  const other = wholeIn(query.get('against')) ?? previousRequest(requests, row)
  const against = other === null || other === place ? null : await inspection.request(opened, other)
  if (against !== null && !against.ok) return failed(against.failure)
  return value(detailOf(opened.index, request, against))
}

function rangeIn(query: URLSearchParams): { readonly from: number; readonly to: number } | null {
  const [from, to] = [wholeIn(query.get('from')), wholeIn(query.get('to'))]
  return from === null || to === null || to < from ? null : { from, to }
}

const resultOf = <T extends object>(result: Result<T>, of: (found: T) => unknown): RouteAnswer =>
  result.ok ? value(of(result)) : failed(result.failure)

// What a POST may ask for: to take an edit back, to release or to pin, and a replay. The page says which head it has seen; where
// the session has moved on, nothing is written and the page is told what came.
const shownNewest = 20

export async function answerPost(
  { inspection, replays }: { readonly inspection: Inspection; readonly replays: Replays | null },
  path: readonly string[],
  body: Readonly<Record<string, unknown>>,
  response: ServerResponse,
): Promise<void> {
  const [first, session = '', verb = ''] = path
  if (first !== 's' || path.length !== 3) return sendProblem(response, 404, 'there is nothing here')
  if (!(await inspection.has(session))) return sendProblem(response, 404, 'there is no such session')
  if (verb === 'replay') {
    const { policy } = body
    if (typeof policy !== 'string') return sendProblem(response, 400, 'policy must be a name')
    if (replays === null) return sendProblem(response, 501, 'sessions cannot be replayed here')
    const answer = await replays.ask(session, policy)
    return answer === null
      ? sendProblem(response, 404, `there is no policy ${policy}`)
      : sendJson(response, answer)
  }
  if (verb === 'recorded') {
    const { at } = body
    if (!isPlace(at)) return sendProblem(response, 400, 'at must be a place')
    if (replays === null) return sendProblem(response, 501, 'sessions cannot be replayed here')
    return sendJson(response, await replays.recorded(session, at))
  }
  if (!isKind(verb)) return sendProblem(response, 404, 'there is nothing here')
  const wish = wishIn(body)
  if (wish === null) return sendProblem(response, 400, 'target and head must be places')
  return change(inspection, session, verb, wish, response)
}

async function change(
  inspection: Inspection,
  session: string,
  kind: EffectKind,
  wish: EffectWish,
  response: ServerResponse,
): Promise<void> {
  const { changes } = inspection.options
  if (changes === null || changes === undefined)
    return sendProblem(response, 403, 'sessions cannot be changed from here: it was opened to read')
  const opened = await inspection.opened(session)
  if (!opened.ok) return sendProblem(response, 500, opened.failure.message)
  const head = opened.index.lists.head ?? -1
  if (head !== wish.head)
    return sendJson(
      response,
      {
        problem: `the session has moved on since you looked: it stands at ${head} now. Nothing was changed`,
        head,
        came: cameSince(opened.index, wish.head),
      },
      409,
    )
  const effect = await changes.change(session, kind, wish)
  if (!effect.ok) return sendProblem(response, effect.why === 'refused' ? 422 : 503, effect.message)
  await inspection.grow(session)
  sendJson(response, { seq: effect.seq, head: opened.index.lists.head ?? head })
}

function cameSince({ lists, entries }: SessionIndex, seen: number): readonly { seq: number; kind: string }[] {
  const first = lists.first ?? 0
  const head = lists.head ?? -1
  const came: { seq: number; kind: string }[] = []
  for (let place = Math.max(first, seen + 1, head - shownNewest + 1); place <= head; place++) {
    const kind = entries.get(place - first, 'kind')
    if (kind !== missingKind) came.push({ seq: place, kind: lists.kinds[kind] ?? 'unknown' })
  }
  return came
}

function wishIn({ target, block, head }: Readonly<Record<string, unknown>>): EffectWish | null {
  if (!isPlace(target) || !isPlace(head) || (block !== undefined && !isPlace(block))) return null
  return { target, head, ...(block === undefined ? {} : { block }) }
}
const isPlace = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
