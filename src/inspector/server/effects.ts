// What a POST may ask for: to take an edit back, to release or to pin, and a replay. The page says which head it has seen; where
// the session has moved on, nothing is written and the page is told what came.
import type { ServerResponse } from 'node:http'
import { missingKind } from '../columns.ts'
import type { SessionIndex } from '../indexing/index-builder.ts'
import type { EffectKind, Inspection } from '../inspection.ts'
import type { EffectWish } from '../protocol.ts'
import type { Replays } from '../replays.ts'
import { sendJson, sendProblem } from './http.ts'

const kinds: readonly string[] = ['undo', 'release', 'pin'] satisfies readonly EffectKind[]
const isKind = (text: string): text is EffectKind => kinds.includes(text)
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
