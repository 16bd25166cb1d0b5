// The line under the editor: who answers, how full the window is, how much came from the cache, what it cost. Pure: a
// record that events change, and a function that writes it in the room there is.
import { truncateToWidth, visibleWidth } from '@earendil-works/pi-tui'
import type { LiveEvent } from '../../engine/live.ts'
import type { Usage } from '../../transcript/fact.ts'
import { defaults } from '../../settings/defaults.ts'
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

export const promptOf = ({ input, cacheRead, cacheWrite }: Usage): number => input + cacheRead + cacheWrite

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
  const parts = [
    scripted ? theme.warn('scripted') : model,
    paint(full),
    ...(sent === 0 ? [] : [`cache ${Math.round((read / sent) * 100)}%`]),
    scripted ? '' : dollars === null ? 'price unknown' : `$${dollars.toFixed(dollars < 1 ? 3 : 2)}`,
    ...(mode === 'default' ? [] : [theme.accent(mode)]),
    ...(queued === 0 ? [] : [`${queued} waiting`]),
    ...(background === 0 ? [] : [`${background} in the background`]),
  ].filter((part) => part !== '')
  // The least telling parts go first where the room is small.
  while (parts.length > 2 && visibleWidth(parts.join(' · ')) > width) parts.pop()
  return truncateToWidth(theme.faint(parts.join(' · ')), width, '…')
}

export function short(tokens: number): string {
  if (tokens < 1000) return String(tokens)
  return tokens < 1_000_000
    ? `${(tokens / 1000).toFixed(tokens < 10_000 ? 1 : 0)}K`
    : `${(tokens / 1_000_000).toFixed(2)}M`
}
