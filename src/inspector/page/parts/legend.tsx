// What the colours of the chart are, with the numbers of the request under the pointer, or of the last.
import { holderNames, type RequestRow } from '../data/requests.ts'
import { clock, dollars, percent, whole } from '../text/format.ts'
import { Name } from '../text/shown-text.tsx'
import { stackOrder } from './chart-data.ts'
import { Icon } from './icon.tsx'

/** The shapes of the marks. */
const markKinds = [
  ['view-edit', 'edit'],
  ['boundary', 'compaction'],
  ['cache-break', 'break'],
  ['agent-start', 'agent'],
  ['user-message', 'you'],
] as const

export function Legend({ row, isHovered }: { readonly row: RequestRow; readonly isHovered: boolean }) {
  const prompt = (row.input ?? 0) + (row.read ?? 0) + (row.written ?? 0)
  return (
    <div class="legend">
      <span class={isHovered ? 'which hovered' : 'which'}>
        #{row.number} <i>{clock(row.at)}</i>
      </span>
      {[...stackOrder].reverse().map((holder) => (
        <span key={holder}>
          <span class={`swatch h-${holder}`} aria-hidden="true" />
          {holder} <b>{whole(row.held[holderNames.indexOf(holder)] ?? 0)}</b>
        </span>
      ))}
      <span class="sum">
        = <b>{whole(row.tokens)}</b> of {whole(row.limit)}{' '}
        <i>{percent(row.limit === 0 ? 0 : row.tokens / row.limit)}</i>
      </span>
      {row.read !== null && (
        <span>
          <span class="swatch h-read" aria-hidden="true" />
          read <b>{prompt === 0 ? '–' : percent((row.read ?? 0) / prompt)}</b>
        </span>
      )}
      <span>
        <b>{dollars(row.dollars)}</b>
      </span>
      <span class="who">
        <Name of={row.source} /> · <Name of={row.model} />
      </span>
      <span class="mark-key">
        {markKinds.map(([kind, word]) => (
          <span key={kind}>
            <Icon kind={kind} />
            {word}
          </span>
        ))}
      </span>
    </div>
  )
}
