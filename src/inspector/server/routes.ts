// Which answer a path has. Every number from outside is held to its range before anything is looked at.
import type { ServerResponse } from 'node:http'
import { policyNotes } from '../answers/policies.ts'
import { blockDetail } from '../answers/block.ts'
import { carriedBy, indexChunk, requestChunk } from '../answers/chunks.ts'
import { editDetail, editsOf } from '../answers/edits.ts'
import { findText, linesBetween } from '../answers/lines.ts'
import { agentTree, breaksOf } from '../answers/sessions.ts'
import { encodeChunk } from '../columns.ts'
import type { OpenedIndex } from '../indexing/open-index.ts'
import type { Inspection } from '../inspection.ts'
import type { About } from '../protocol.ts'
import { detailOf } from '../requests/request-detail.ts'
import { defaults } from '../../settings/defaults.ts'
import { sessionId } from '../../transcript/ids.ts'
import type { Failure, Result } from '../../transcript/store.ts'
import { send, sendJson, sendProblem } from './http.ts'

export interface RouteContext {
  readonly inspection: Inspection
  readonly about: About
}

/** One segment of a path, decoded; null where it cannot be. */
export function segmentsOf(pathname: string): readonly string[] | null {
  try {
    return pathname.split('/').slice(2).map(decodeURIComponent)
  } catch {
    return null
  }
}

/** A whole number that is no less than 0; null where it is none. */
export function wholeIn(text: string | null | undefined): number | null {
  return text !== null && text !== undefined && /^\d{1,15}$/u.test(text) ? Number(text) : null
}

export async function answerGet(shown: RouteContext, url: URL, response: ServerResponse): Promise<void> {
  const path = segmentsOf(url.pathname)
  if (path === null) return sendProblem(response, 400, 'this path cannot be read')
  const [first, second] = path
  if (path.length === 1 && first === 'about') return sendJson(response, shown.about)
  if (path.length === 1 && first === 'sessions') return sendJson(response, await shown.inspection.sessions())
  if (path.length === 1 && first === 'policies') return sendJson(response, { policies: policyNotes() })
  if (first === 'memory') return answerMemory(shown, path, response)
  if (first === 's' && second !== undefined) return answerSession(shown, second, path.slice(2), url, response)
  return sendProblem(response, 404, 'there is nothing here')
}

async function answerMemory(
  { inspection }: RouteContext,
  path: readonly string[],
  response: ServerResponse,
): Promise<void> {
  const { memories } = inspection.options
  if (memories === undefined) return sendJson(response, { stores: [] })
  if (path.length === 1) return sendJson(response, await memories.list())
  const [, store = '', file = ''] = path
  const detail = path.length === 3 ? await memories.detail(store, file) : null
  return detail === null ? sendProblem(response, 404, 'there is no such memory') : sendJson(response, detail)
}

async function answerSession(
  { inspection }: RouteContext,
  session: string,
  path: readonly string[],
  url: URL,
  response: ServerResponse,
): Promise<void> {
  // Only what is listed is opened: an id from outside never becomes a path.
  if (!(await inspection.has(session))) return sendProblem(response, 404, 'there is no such session')
  if (path.length === 0) {
    const head = await inspection.head(session)
    return head.ok ? sendJson(response, head.head) : sendFailure(response, head.failure)
  }
  const opened = await inspection.opened(session)
  if (!opened.ok) return sendFailure(response, opened.failure)
  const answer = routes[path[0]!]
  if (answer === undefined) return sendProblem(response, 404, 'there is nothing here')
  return answer({ inspection, opened, path: path.slice(1), query: url.searchParams, response })
}

interface Asked {
  readonly inspection: Inspection
  readonly opened: OpenedIndex
  readonly path: readonly string[]
  readonly query: URLSearchParams
  readonly response: ServerResponse
}
type Route = (asked: Asked) => Promise<void> | void

const routes: Readonly<Record<string, Route>> = {
  index: ({ opened, query, response }) => {
    const count = Math.min(
      wholeIn(query.get('count')) ?? defaults.inspector.chunkEntries,
      defaults.inspector.chunkEntries,
    )
    const chunk = indexChunk(opened.index, wholeIn(query.get('before')), Math.max(1, count))
    send(response, 200, 'application/octet-stream', encodeChunk(chunk))
  },
  requests: ({ opened, query, response }) => {
    const count = Math.min(
      wholeIn(query.get('count')) ?? defaults.inspector.chunkRequests,
      defaults.inspector.chunkRequests,
    )
    sendJson(response, requestChunk(opened.index, wholeIn(query.get('before')), Math.max(1, count)))
  },
  carried: ({ opened, query, response }) => {
    const range = rangeIn(query)
    if (range === null) return sendProblem(response, 400, 'from and to must be places')
    sendJson(response, carriedBy(opened.index, range.from, range.to))
  },
  lines: async ({ inspection, opened, query, response }) => {
    const range = rangeIn(query)
    if (range === null) return sendProblem(response, 400, 'from and to must be places')
    sendResult(
      response,
      await linesBetween(inspection.options.store, opened.links, range.from, range.to),
      ({ answer }) => answer,
    )
  },
  find: async ({ inspection, opened, query, response }) => {
    const text = query.get('text') ?? ''
    if (text === '' || text.length > longestSearch)
      return sendProblem(response, 400, 'text must have 1 to 200 characters')
    const before = wholeIn(query.get('before')) ?? (opened.index.lists.head ?? 0) + 1
    sendResult(
      response,
      await findText(inspection.options.store, opened.links, text, before),
      ({ answer }) => answer,
    )
  },
  request: answerRequest,
  block: async ({ inspection, opened, path, response }) => {
    const [place = null, block = null] = path.map(wholeIn)
    if (path.length !== 2 || place === null || block === null)
      return sendProblem(response, 404, 'there is no such block')
    const { store } = inspection.options
    sendResult(response, await blockDetail({ store, ...opened }, place, block), ({ detail }) => detail)
  },
  edits: ({ opened, response }) => sendJson(response, { edits: editsOf(opened.index) }),
  edit: async ({ inspection, opened, path, response }) => {
    const place = wholeIn(path[0])
    if (path.length !== 1 || place === null) return sendProblem(response, 404, 'there is no such edit')
    const found = await editDetail(inspection.options.store, opened.links, opened.index, place)
    sendResult(response, found, ({ detail }) => detail)
  },
  breaks: ({ opened, response }) => sendJson(response, { breaks: breaksOf(opened.index) }),
  agents: async ({ inspection, opened, response }) => {
    const root = await agentTree(opened.index, async (session) => {
      const own = (await inspection.has(session)) ? await inspection.opened(session) : null
      return own?.ok === true ? own.index : null
    })
    sendJson(response, { root })
  },
  blob: async ({ inspection, opened, path, query, response }) => {
    const offset = wholeIn(query.get('offset')) ?? 0
    const length = Math.min(
      wholeIn(query.get('length')) ?? defaults.inspector.blobBytes,
      defaults.inspector.blobBytes,
    )
    const session = sessionId(opened.index.lists.session)
    const found = await inspection.options.store.getBlob(session, path[0] ?? '', { offset, length })
    if (!found.ok || path.length !== 1) return sendProblem(response, 404, 'there is no such result')
    send(response, 200, 'application/octet-stream', found.bytes, { 'x-total-bytes': String(found.total) })
  },
}

const longestSearch = 200

async function answerRequest({ inspection, opened, path, query, response }: Asked): Promise<void> {
  const place = wholeIn(path[0])
  if (place === null || path.length > 2 || (path.length === 2 && path[1] !== 'body'))
    return sendProblem(response, 404, 'there is no such request')
  const request = await inspection.request(opened, place)
  if (!request.ok) return sendFailure(response, request.failure)
  if (path[1] === 'body') return send(response, 200, 'application/json; charset=utf-8', request.composed.body)
  const { requests } = opened.index
  const row = requests.firstFrom('seq', place)
  const other = wholeIn(query.get('against')) ?? (row > 0 ? requests.get(row - 1, 'seq') : null)
  const against = other === null || other === place ? null : await inspection.request(opened, other)
  if (against !== null && !against.ok) return sendFailure(response, against.failure)
  return sendJson(response, detailOf(opened.index, request, against))
}

function rangeIn(query: URLSearchParams): { readonly from: number; readonly to: number } | null {
  const [from, to] = [wholeIn(query.get('from')), wholeIn(query.get('to'))]
  return from === null || to === null || to < from ? null : { from, to }
}

function sendResult<T extends object>(
  response: ServerResponse,
  result: Result<T>,
  of: (value: T) => unknown,
): void {
  if (result.ok) sendJson(response, of(result))
  else sendFailure(response, result.failure)
}

export const sendFailure = (response: ServerResponse, { code, message }: Failure): void =>
  sendProblem(response, code === 'not-found' || code === 'no-such-session' ? 404 : 500, message)
