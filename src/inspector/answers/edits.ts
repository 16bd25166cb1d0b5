// Removals: what each did, what it was expected to save and has saved, and what stands where its span was.
import type { Audit } from '../../compaction/audit.ts'
import { partOf } from '../../projection/folding/part.ts'
import { estimateBlocks, estimateText } from '../../projection/tokens.ts'
import type { EditRow } from '../../projection/edit-list.ts'
import { refused } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'
import { textIn } from '../../transcript/content.ts'
import { isEditing, isKnown, type Entry, type FactOf } from '../../transcript/fact.ts'
import { seq } from '../../transcript/ids.ts'
import { readLine, type Link } from '../../transcript/lineage.ts'
import type { Result, Store } from '../../transcript/store.ts'
import { wholeTokens, type EditLife } from '../indexing/edit-lives.ts'
import type { SessionIndex } from '../indexing/index-builder.ts'
import type {
  AuditDetail,
  EditDetail,
  EditSummary,
  EditedEntry,
  EditedText,
  RecordedHead,
} from '../protocol.ts'
import { blocksOf, labelOf } from './lines.ts'

export const editsOf = (index: SessionIndex): readonly EditSummary[] =>
  index.editList.rows().map((row) => summaryOf(index, row))

function summaryOf(index: SessionIndex, row: EditRow): EditSummary {
  const life = index.lives.edits.find(({ seq: place }) => place === row.seq)
  return {
    seq: row.seq,
    at: row.at,
    kind: life === undefined ? 'spill' : life.isBoundary ? 'compaction' : 'edit',
    layer: row.layer,
    asked: row.asked,
    why: row.why,
    does: row.does,
    from: row.range?.from ?? null,
    to: row.range?.to ?? null,
    freed: row.tokensFreed,
    foreseen: row.saved,
    realised: life === undefined ? null : realisedBy(index, life, row.tokensFreed),
    state: row.state,
    undoneBy: life?.undo ?? null,
  }
}

/** What it took out is saved at every later request, up to the next compaction; what a warm cache was sent again is not. */
function realisedBy({ requests, lists, lives }: SessionIndex, life: EditLife, freed: number): number {
  const next = lives.edits.find((other) => other.isBoundary && other.seq > life.seq)?.seq ?? null
  let saved = 0
  for (const { since, until } of life.lives) {
    const end = Math.min(until ?? Infinity, next ?? Infinity)
    const last = end === Infinity ? requests.length : requests.firstFrom('seq', end)
    for (let row = requests.firstFrom('seq', since); row < last; row++)
      saved += Math.max(0, freed) * requests.get(row, 'saving')
  }
  const again = lists.rewritten.reduce(
    (sum, [place, dollars]) => (place === life.seq ? sum + dollars : sum),
    0,
  )
  return saved - again
}

export async function editDetail(
  store: Store,
  links: readonly Link[],
  index: SessionIndex,
  place: number,
): Promise<Result<{ readonly detail: EditDetail | RecordedHead }>> {
  const row = index.editList.rows().find((one) => one.seq === place)
  const entry = await entryAt(store, links, place)
  if (entry?.fact.type === 'compaction-recorded')
    return { ok: true, detail: { kind: 'recorded', seq: place, at: entry.at, client: entry.fact.client } }
  if (row === undefined) return refused('not-found', `entry ${place} is no edit of this session`)
  const summary = summaryOf(index, row)
  if (entry === null) return refused('not-found', `entry ${place} cannot be read`)
  const { fact } = entry
  const life = index.lives.edits.find((one) => one.seq === place)
  const before = await editedEntries(store, links, life, entry)
  const boundary = fact.type === 'boundary' ? fact : null
  const priced = row.price?.kind === undefined ? null : row.price
  return {
    ok: true,
    detail: {
      ...summary,
      price:
        priced === null
          ? null
          : {
              kind: priced.kind,
              isWarm: priced.isWarm,
              tailTokens: priced.tailTokens,
              expectedRequests: priced.expectedRequests,
              saves: priced.saves,
              costs: priced.costs,
            },
      tokensBefore: boundary?.tokensBefore ?? before.reduce((sum, { tokens }) => sum + tokens, 0),
      tokensAfter:
        boundary?.tokensAfter ??
        Math.max(0, before.reduce((sum, { tokens }) => sum + tokens, 0) - row.tokensFreed),
      before,
      after: await textsAfter(store, links, entry),
      compaction:
        boundary === null
          ? null
          : {
              trigger: boundary.trigger,
              source: boundary.source,
              instructions: boundary.instructions ?? null,
              audit: auditOf(boundary.audit),
            },
    },
  }
}

export async function entryAt(store: Store, links: readonly Link[], place: number): Promise<Entry | null> {
  for await (const item of readLine(store, links, { from: seq(place), to: seq(place) }))
    if (item.kind === 'entry' && isKnown(item.entry)) return item.entry
  return null
}

async function editedEntries(
  store: Store,
  links: readonly Link[],
  life: EditLife | undefined,
  entry: Entry,
): Promise<readonly EditedEntry[]> {
  const parts = life?.parts ?? [{ kind: 'stub' as const, from: entry.seq, to: entry.seq, blocks: [] }]
  const rows: EditedEntry[] = []
  for (const part of parts) {
    if (rows.length >= mostRows) break
    for await (const item of readLine(store, links, { from: seq(part.from), to: seq(part.to) })) {
      if (item.kind !== 'entry' || !isKnown(item.entry) || rows.length >= mostRows) continue
      for (const [block, shown] of blocksOf(item.entry).entries()) {
        const touched = part.blocks.find((one) => one.seq === item.entry.seq && one.block === block)
        if ((part.kind === 'stub' || part.kind === 'remote') && touched === undefined && life !== undefined)
          continue
        rows.push({
          seq: item.entry.seq,
          block,
          kind: item.entry.fact.type,
          label: labelOf(item.entry, shown),
          tokens: estimateBlocks([shown]),
          became: becameOf(part.kind, touched?.tokens),
        })
      }
    }
  }
  return rows
}
/** A span of ten thousand entries is not looked at row by row. */
const mostRows = 5000

function becameOf(kind: string, tokens: number | undefined): EditedEntry['became'] {
  if (kind === 'stub') return 'stub'
  if (kind === 'remote') return 'cleared'
  if (kind === 'drop') return 'removed'
  if (tokens === undefined) return 'summarised'
  return tokens === wholeTokens ? 'verbatim' : 'excerpt'
}

async function textsAfter(
  store: Store,
  links: readonly Link[],
  { seq: place, fact }: Entry,
): Promise<readonly EditedText[]> {
  const texts: EditedText[] = []
  const add = (kind: EditedText['kind'], at: number | null, text: string): void => {
    if (texts.length < mostRows) texts.push({ kind, seq: at, tokens: estimateText(text), text })
  }
  if (fact.type === 'tool-result') add('stub', place, textIn(fact.content))
  if (!isEditing(fact)) return texts
  for (const edit of fact.edits) {
    if (edit.kind === 'stub') add('stub', edit.at.seq, edit.text)
    if (edit.kind !== 'summary') continue
    add('summary', null, edit.text)
    for (const { at, head = 0, tail = 0, lines } of edit.keep) {
      const kept = await entryAt(store, links, at.seq)
      const shown = kept === null ? '' : textIn(partOf(kept)?.blocks ?? [])
      const isWhole = head + tail === 0 && lines === undefined
      add(isWhole ? 'verbatim' : 'excerpt', at.seq, isWhole ? shown : shown.slice(0, head).toWellFormed())
    }
  }
  // What a compaction restored is written right behind it.
  if (fact.type === 'boundary')
    for await (const item of readLine(store, links, {
      from: seq(place + 1),
      to: seq(place + restoredWithin),
    })) {
      if (item.kind !== 'entry' || !isKnown(item.entry)) continue
      const restored = item.entry.fact
      if (restored.type !== 'attachment' || restored.restored !== true) break
      add('restored', item.entry.seq, textIn(restored.content).slice(0, defaults.inspector.excerptChars))
    }
  return texts
}
const restoredWithin = 64

/** Written by any version: what is not as expected is not shown. */
function auditOf(audit: FactOf<'boundary'>['audit']): AuditDetail | null {
  if (typeof audit !== 'object' || audit === null || !('kinds' in audit)) return null
  const { retention, userMessages, kinds, lost, lostAt } = audit as Partial<Audit>
  if (typeof retention !== 'number' || kinds === undefined) return null
  const { whole: kept = 0, shortened = 0, pointed = 0 } = userMessages ?? {}
  return {
    retention,
    userMessages: { found: kept + shortened + pointed, kept },
    kinds: Object.entries(kinds).map(([kind, tally]) => ({ kind, ...tally })),
    lost: (lost ?? []).map((text, at) => {
      const place = lostAt?.[at] ?? null
      return { text, at: place === null ? null : { seq: place.seq, block: place.block ?? null } }
    }),
  }
}
