// The parts of a request from its beginning to its end, and where each came from: the cache, or plain input.
import { useState } from 'preact/hooks'
import type { RequestDetail, RequestPart, RequestPiece } from '../../protocol.ts'
import { fragmentOf } from '../data/address.ts'
import type { OpenSession } from '../data/session.ts'
import { ContentOf } from '../parts/content.tsx'
import { Many } from '../parts/many.tsx'
import { counted, dollars, percent, short, whole } from '../text/format.ts'
import { marked, Name, NameFact } from '../text/shown-text.tsx'

export function RequestParts({
  detail,
  open,
}: {
  readonly detail: RequestDetail
  readonly open: OpenSession
}) {
  const groups = groupsOf(detail.pieces)
  const before = detail.pieces.filter(({ kind }) => kind !== 'message').length
  return (
    <>
      <PieceBar groups={groups} total={detail.tokens} />
      <Declined detail={detail} />
      <ol class="pieces">
        <Many of={detail.pieces} unit="piece">
          {(piece, at) => (
            <Piece
              key={at}
              piece={piece}
              number={at - before + 1}
              open={open}
              share={detail.tokens === 0 ? 0 : piece.tokens / detail.tokens}
            />
          )}
        </Many>
      </ol>
      {detail.sources.length > 0 && (
        <>
          <h3>By source</h3>
          <table>
            <thead>
              <tr>
                <th scope="col">source</th>
                <th scope="col" class="n">
                  blocks
                </th>
                <th scope="col" class="n">
                  tokens
                </th>
              </tr>
            </thead>
            <tbody>
              {detail.sources.map(({ source, blocks, tokens }) => (
                <tr key={source}>
                  <td>
                    <Name of={source} />
                  </td>
                  <td class="n">{whole(blocks)}</td>
                  <td class="n">{whole(tokens)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </>
  )
}

interface Group extends Pick<RequestPiece, 'kind' | 'cache'> {
  tokens: number
  hasMark: boolean
  count: number
}

/** Neighbours of one kind and one cache state, as the bar shows them. */
function groupsOf(pieces: readonly RequestPiece[]): readonly Group[] {
  const groups: Group[] = []
  for (const { kind, tokens, cache, hasMark } of pieces) {
    const last = groups.at(-1)
    if (last !== undefined && last.kind === kind && last.cache === cache && !last.hasMark) {
      last.tokens += tokens
      last.count++
      last.hasMark = hasMark
    } else groups.push({ kind, tokens, cache, hasMark, count: 1 })
  }
  return groups
}

const wordsOf = ({ kind, count, tokens, cache }: Group): string =>
  `${nameOf({ kind, count })}: ${whole(tokens)} tokens, ${cacheWords[cache]}`
const nameOf = ({ kind, count }: Pick<Group, 'kind' | 'count'>): string =>
  counted(count, kind === 'system' ? 'section' : kind)

function PieceBar({ groups, total }: { readonly groups: readonly Group[]; readonly total: number }) {
  return (
    <div class="piece-bar" role="img" aria-label={groups.map(wordsOf).join('; ')}>
      {groups.map((group, at) => (
        <span
          key={at}
          class={`piece b-${group.cache}${group.hasMark ? ' marked' : ''}`}
          style={{ flexGrow: Math.max(group.tokens / Math.max(1, total), 0.01) }}
          title={`${wordsOf(group)}${group.hasMark ? ', cache breakpoint at its end' : ''}`}
        >
          <span>
            {nameOf(group)} {short(group.tokens)}
          </span>
        </span>
      ))}
    </div>
  )
}

const cacheWords: Readonly<Record<RequestPiece['cache'], string>> = {
  read: 'read from the cache',
  written: 'written to the cache',
  input: 'plain input',
  unknown: 'cache state not known',
}

function Declined({ detail }: { readonly detail: RequestDetail }) {
  if (detail.declined.length === 0) return null
  return (
    <details class="declined">
      <summary>{counted(detail.declined.length, 'reduction')} weighed and left</summary>
      <ul>
        {detail.declined.map(({ layer, why, tokens, saves, costs }, at) => (
          <li key={at}>
            <Name of={layer} />: {whole(tokens)} tokens, {marked(why)}
            {saves !== null && costs !== null && ` · would save ${dollars(saves)} and cost ${dollars(costs)}`}
          </li>
        ))}
      </ul>
    </details>
  )
}

function Piece({
  piece,
  number,
  open,
  share,
}: {
  readonly piece: RequestPiece
  readonly number: number
  readonly open: OpenSession
  readonly share: number
}) {
  const [isOpen, setOpen] = useState(false)
  const title = piece.kind === 'message' ? `${number} ${piece.name}` : piece.name
  return (
    <li class={`piece-row b-${piece.cache}`}>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        disabled={piece.parts.length === 0}
      >
        <span class="dim">{piece.kind === 'message' ? 'message' : piece.kind}</span> <Name of={title} />
        <span class="preview">{marked(partWords(piece.parts))}</span>
        {piece.hasMark && <span class="tag">breakpoint</span>}
        <span class="cache-word">{piece.cache === 'unknown' ? '' : piece.cache}</span>
        <span class="n">{whole(piece.tokens)}</span>
        <span class="n dim">{percent(share)}</span>
      </button>
      {isOpen && piece.parts.map((part, at) => <PartText key={at} part={part} open={open} />)}
    </li>
  )
}

const partWords = (parts: readonly RequestPart[]): string =>
  parts
    .slice(0, 4)
    .map(({ from, to, kind, label }) => `${from === to ? from : `${from}–${to}`} ${label ?? kind}`)
    .join(', ') + (parts.length > 4 ? ` and ${parts.length - 4} more` : '')

function PartText({ part, open }: { readonly part: RequestPart; readonly open: OpenSession }) {
  const session = open.id
  return (
    <div class="part">
      <p class="facts">
        <a href={fragmentOf({ session, screen: 'block', seq: part.from, block: part.blocks[0] ?? 0 })}>
          entry {part.from === part.to ? part.from : `${part.from}–${part.to}`}
        </a>
        <span>{part.kind}</span>
        <NameFact of={part.label} />
        <span>{whole(part.tokens)} tokens</span>
        {part.edit !== null && (
          <a href={fragmentOf({ session, screen: 'edit', seq: part.edit })}>
            by edit {part.edit}
            {part.layer === null ? '' : ` (${part.layer})`}
          </a>
        )}
      </p>
      {part.edit === null && <ContentOf open={open} seq={part.from} blocks={part.blocks} />}
    </div>
  )
}
