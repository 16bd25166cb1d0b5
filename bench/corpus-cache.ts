// Does what we believe of the prompt cache agree with what was recorded?
// `node scripts/run-ts.mjs bench/corpus-cache.ts [CORPUS] [--json]`
//
// For each two neighbouring requests of the recorded Claude Code sessions, a loss is foreseen when more time passed
// between them than the lifetime lasts: that of the last write (an hour or five minutes, as its usage says; five
// minutes where it does not), counted from when a request was sent. The recorded fact: the second read less than 98 %
// of what the first had read and written. Pairs with a compaction between them have another prompt and are set apart.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { importFile } from '../src/lab/importers/import-file.ts'
import type { Recording } from '../src/lab/recording.ts'
import { defaults } from '../src/settings/defaults.ts'
import type { Usage } from '../src/transcript/fact.ts'
import { corpusOr } from '../test/shared-data.ts'

interface Pair {
  readonly session: string
  readonly gapMs: number
  readonly lifetime: '5m' | '1h'
  readonly expected: number
  readonly read: number
  readonly isCompacted: boolean
  /** The model changed between the two. */
  readonly isOther: boolean
}

const KEPT_SHARE = 0.98
const { cacheLifetimeMs, breakShare, breakTokens } = defaults.request

function pairsOf(recording: Recording): readonly Pair[] {
  const pairs: Pair[] = []
  let last: { readonly usage: Usage; readonly sentAt: number; readonly model: string } | null = null
  let lifetime: Pair['lifetime'] = '5m'
  let askedAt: number | null = null
  let isCompacted = false
  for (const turn of recording.turns) {
    if (turn.role === 'user') {
      askedAt = turn.at
      isCompacted ||= turn.content.some(({ kind }) => kind === 'compact_summary')
    }
    if (turn.role !== 'assistant' || turn.usage === undefined) continue
    // What was asked last is when the request was sent; the response carries the time at which it had begun.
    const sentAt = askedAt ?? turn.at ?? 0
    const model = turn.model ?? recording.model
    if (last !== null) {
      pairs.push({
        session: recording.name,
        gapMs: sentAt - last.sentAt,
        lifetime,
        expected: last.usage.cacheRead + last.usage.cacheWrite,
        read: turn.usage.cacheRead,
        isCompacted,
        isOther: model !== last.model,
      })
    }
    if (turn.usage.cacheWrite > 0) lifetime = (turn.usage.cacheWrite1h ?? 0) > 0 ? '1h' : '5m'
    last = { usage: turn.usage, sentAt, model }
    isCompacted = false
  }
  return pairs
}

const isLost = ({ read, expected, isCompacted }: Pair): boolean =>
  !isCompacted && read < KEPT_SHARE * expected
const isForeseen = ({ gapMs, lifetime }: Pair): boolean => gapMs >= cacheLifetimeMs[lifetime]
const pauseOf = ({ gapMs }: Pair): string =>
  gapMs > cacheLifetimeMs['1h'] ? 'over 1 h' : gapMs > cacheLifetimeMs['5m'] ? '5 min to 1 h' : 'none'

async function recordings(folder: string): Promise<readonly Recording[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl.gz')).sort()
  const found: Recording[] = []
  for (const name of names) {
    const imported = await importFile(join(folder, name))
    if (!imported.ok) throw new Error(imported.failure.message)
    const { recording } = imported
    if (recording.usageKind === 'anthropic' && recording.client.startsWith('claude-code'))
      found.push(recording)
  }
  return found
}

function countBy<T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1
  return counts
}

const words = process.argv.slice(2)
const folder = words.find((word) => !word.startsWith('--'))
const sessions = await recordings(corpusOr(folder))
const all = sessions.flatMap(pairsOf)
const judged = all.filter((pair) => !pair.isCompacted)
const lost = judged.filter(isLost)
const missed = lost.filter((pair) => !isForeseen(pair))
const result = {
  sessions: sessions.length,
  pairs: all.length,
  exact: all.filter((pair) => pair.read === pair.expected).length,
  compacted: all.length - judged.length,
  losses: lost.length,
  lossesByPause: countBy(lost, pauseOf),
  lossesAboveOurLimits: lost.filter(({ expected, read }) => {
    const tokens = expected - read
    return tokens > breakTokens && tokens > breakShare * expected
  }).length,
  matrix: {
    lostAndForeseen: lost.length - missed.length,
    lostNotForeseen: missed.length,
    keptThoughForeseenLost: judged.filter((pair) => !isLost(pair) && isForeseen(pair)).length,
    keptAsForeseen: judged.filter((pair) => !isLost(pair) && !isForeseen(pair)).length,
  },
  notForeseen: countBy(
    missed,
    (pair) => `${pair.isOther ? 'model changed' : 'same model'}, pause ${pauseOf(pair)}`,
  ),
}

if (words.includes('--json')) {
  console.log(JSON.stringify(result, null, 2))
} else {
  const { matrix } = result
  const cell = (count: number): string => String(count).padStart(14)
  console.log(
    `${result.pairs} pairs of requests in ${result.sessions} Claude Code sessions: ${result.exact} read exactly what ` +
      `was cached, ${result.compacted} have a compaction between them, ${result.losses} lost the prefix.`,
  )
  console.log(`losses by pause: ${JSON.stringify(result.lossesByPause)}`)
  console.log(`losses that our break detection would report: ${result.lossesAboveOurLimits}\n`)
  console.log(`${''.padEnd(18)}${'foreseen lost'.padStart(14)}${'foreseen kept'.padStart(14)}`)
  console.log(`${'recorded lost'.padEnd(18)}${cell(matrix.lostAndForeseen)}${cell(matrix.lostNotForeseen)}`)
  console.log(
    `${'recorded kept'.padEnd(18)}${cell(matrix.keptThoughForeseenLost)}${cell(matrix.keptAsForeseen)}`,
  )
  console.log(`\nnot foreseen: ${JSON.stringify(result.notForeseen)}`)
}
