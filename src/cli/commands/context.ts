// `pal context`: what a session's context holds, from the last request really sent.
import { tableOf } from '../../preset.ts'
import { thinkingOf } from '../../preset/choices.ts'
import { modelOf } from '../../preset.ts'
import { exits, refuse, type Exit } from '../exit-codes.ts'
import { complain } from '../headless.ts'
import type { Io } from '../terminal/io.ts'
import { lookAt, type LookFlags } from '../look-at.ts'
import { lastRequest, type SentRequest } from './sent-request.ts'
import { breakdown, type Row } from './breakdown.ts'
import { safeJson } from '../terminal/safe-text.ts'
import { bar, percent, table, whole } from '../terminal/tables.ts'
import type { Workplace } from '../workplace/workplace.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'

const barWidth = 24

export const context = (io: Io, id: string | undefined, flags: LookFlags): Promise<Exit> =>
  lookAt(io, id, flags, showContext)

export async function showContext(
  { io, settings }: Workplace,
  store: Store,
  session: SessionId,
  json: boolean,
): Promise<Exit> {
  const request = await lastRequest(store, session, {
    models: tableOf(settings),
    model: modelOf(settings),
    window: settings.window,
    thinking: thinkingOf(settings),
    effort: settings.effort,
  })
  if (!request.ok) return complain(io, refuse(exits.failed, request.why))
  const rows = breakdown(request.body, request.view, request.tokens)
  const { body: _body, view: _view, ok: _ok, ...about } = request
  io.out(json ? `${safeJson({ session, ...about, sources: rows }, 2)}\n` : asPicture(session, request, rows))
  return exits.done
}

function asPicture(session: string, request: SentRequest, rows: readonly Row[]): string {
  const { tokens, window, counted, isExact, model } = request
  const most = Math.max(1, ...rows.map((row) => row.tokens))
  const list = table(
    [
      { title: 'source' },
      { title: 'blocks', right: true },
      { title: 'tokens', right: true },
      { title: 'share', right: true },
      { title: '' },
    ],
    [
      ...rows.map((row) => [
        row.source,
        String(row.blocks),
        whole(row.tokens),
        percent(tokens === 0 ? 0 : row.tokens / tokens),
        bar(row.tokens / most, barWidth),
      ]),
      ['all', '', whole(tokens), '', ''],
    ],
  )
  const filled = Math.min(1, tokens / window)
  const blocks = Math.round(filled * windowBlocks)
  const picture = '█'.repeat(blocks) + '░'.repeat(windowBlocks - blocks)
  return `session ${session}, ${model}
${picture} ${whole(tokens)} of ${whole(window)} tokens (${percent(filled)})

${list}
${counted === 'provider' ? "The sum is the provider's count of the last request; the parts are our estimate of it, scaled to that sum." : 'No answer has told a count yet: all figures are our estimate.'}
${isExact ? 'Composed again from the transcript, the request has the same hash as the one sent.' : 'Composed again from the transcript, the request differs from the one sent (other settings or tags); sizes are close.'}
`
}
const windowBlocks = 60
