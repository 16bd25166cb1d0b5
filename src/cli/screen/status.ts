// The line under the editor: the model, how full the window is, how much came from the cache, what it cost. Pure: a record
// that events change, and a function that writes it in the room there is. The line of what runs, above the editor. And the
// price of coming back, said before it is paid.
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import { tokenRates } from '../../engine/limits/spend.ts'
import type { LiveEvent } from '../../engine/live.ts'
import type { Session } from '../../engine/session.ts'
import { windowOf } from '../../model/models.ts'
import type { Preset } from '../../preset.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Usage } from '../../transcript/fact.ts'
import { shortPath, dollars, short, whole, duration } from '../terminal/tables.ts'
import type { Workplace } from '../workplace/workplace.ts'
import type { Theme } from './theme.ts'

export interface Status {
  readonly model: string
  readonly mode: string
  /** Tokens in the window now, and where reductions begin. */
  readonly tokens: number
  readonly window: number
  /** Of this session: the shares of what was sent. */
  readonly sent: number
  readonly read: number
  /** Null when the price of the model is not known. */
  readonly dollars: number | null
  readonly scripted: boolean
  readonly queued: number
  readonly background: number
}

/** The first line of the screen. */
export const startLine = ({ project, io }: Workplace): string =>
  `${shortPath(project.cwd, io.userHome)} · /help for commands · ctrl+d to exit`

/** Before anything was sent. */
export function firstStatus(place: Workplace, preset: Preset): Status {
  return {
    model: preset.modelId,
    mode: preset.permission.mode(),
    tokens: 0,
    window: windowIn(place, preset, preset.modelId),
    sent: 0,
    read: 0,
    dollars: 0,
    scripted: place.access === null,
    queued: 0,
    background: 0,
  }
}

const windowIn = ({ settings }: Workplace, { models }: Preset, model: string): number =>
  windowOf({ model, table: models, override: settings.window }).tokens

const promptOf = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite

/** What an event says about the window and the bill. */
export function afterEvent(status: Status, event: LiveEvent): Status {
  if (event.type === 'request-start') return { ...status, tokens: event.tokens, queued: 0 }
  if (event.type === 'compaction') return { ...status, tokens: event.tokensAfter }
  if (event.type !== 'answer-end') return status
  const { usage, dollars } = event
  return {
    ...status,
    tokens: promptOf(usage) + usage.output,
    sent: status.sent + promptOf(usage),
    read: status.read + usage.cacheRead,
    dollars: status.dollars === null || dollars === null ? null : status.dollars + dollars,
  }
}

export function statusLine(status: Status, theme: Theme, width: number): string {
  const { model, mode, tokens, window, sent, read, dollars, scripted, queued, background } = status
  const share = window === 0 ? 0 : tokens / window
  const full = `${short(tokens)} of ${short(window)} (${Math.round(share * 100)}%)`
  const paint = share >= defaults.screen.fullShare ? theme.warn : (text: string) => text
  const price = dollars === null ? 'price unknown' : `$${dollars.toFixed(dollars < 1 ? 3 : 2)}`
  const parts = {
    model: scripted ? theme.warn('scripted') : model,
    full: paint(full),
    cache: sent === 0 ? '' : `cache ${Math.round((read / sent) * 100)}%`,
    price: scripted ? '' : price,
    mode: mode === 'default' ? '' : theme.accent(mode),
    queued: queued === 0 ? '' : `${queued} queued`,
    background: background === 0 ? '' : `${background} in the background`,
  }
  const line = (): string =>
    Object.values(parts)
      .filter((part) => part !== '')
      .join(' · ')
  // Where the room is small, what says least about now goes first.
  for (const part of ['cache', 'price', 'background', 'queued', 'mode'] as const)
    if (visibleWidth(line()) > width) parts[part] = ''
  return truncateToWidth(theme.faint(line()), width, '…')
}

/** Fill and bill of a session as it is now. */
export function spentStatus(session: Session, place: Workplace, preset: Preset): Partial<Status> {
  const { input, cacheRead, cacheWrite, dollars, forkDollars, unpriced } = session.spent()
  return {
    model: session.modelId,
    window: windowIn(place, preset, session.modelId),
    tokens: session.view().tokens,
    sent: input + cacheRead + cacheWrite,
    read: cacheRead,
    dollars: unpriced > 0 ? null : dollars + forkDollars,
    queued: 0,
  }
}

/** When the cache has expired since the last answer, the next request writes the whole context again. */
export function coldReturn(session: Session, preset: Pick<Preset, 'models' | 'modelId'>): string | null {
  const { warmUntil, lifetime, promised } = session.cacheState()
  // Another model than the one that answered has nothing of it anyway, and its price is said on its own.
  if (warmUntil === null || Date.now() <= warmUntil || session.switchPrice().tokens > 0) return null
  const { tokens } = session.view()
  const rates = tokenRates(preset.models, session.modelId, lifetime, tokens)
  const gone = promised
    ? 'the prompt cache has expired'
    : `the prompt cache may be gone (${session.modelId} promises none)`
  if (rates === null) return `${gone}: the next request sends ${whole(tokens)} tokens again`
  return (
    `${gone}: the next request writes ${whole(tokens)} tokens again, about ${dollars(tokens * rates.write)} ` +
    `instead of ${dollars(tokens * rates.read)}; /compact first makes it smaller`
  )
}

// ---- what runs, for how long, and how to end it: one line that moves ----

/** How often the time in it moves. */
export const busyMs = 1000
/** The spinner with its blanks, and one to spare. */
const spinnerColumns = 4

/** On one line: a longer one would make everything below jump as the time grows. */
export function busyLine(message: string, since: number | null, columns: number): string {
  const now = performance.now()
  const hint = ` (${duration(now - (since ?? now))} · esc to interrupt)`
  return `${truncateToWidth(message, Math.max(1, columns - hint.length - spinnerColumns), '…')}${hint}`
}
