// The door `palimpsest/lab`.
export { toEntries, type Entries, type EntryOptions } from './entries.ts'
export { playAll, playOne, recordedModel, type BatchOptions, type Outcome } from './batch.ts'
export { importBytes, importFile, isLong } from './importers/import-file.ts'
export {
  contextOf,
  type ImportReport,
  type Imported,
  type RecordedBlock,
  type RecordedTurn,
  type Recording,
  type Skipped,
} from './recording.ts'
export { noFigures, sharesOf, sum, type Figures, type Shares } from './measures.ts'
export { policyFrom } from './policy.ts'
export type { Policy } from './policies/rules.ts'
export { dial, layers, policies, policyNamed, texts } from './policies/list.ts'
export { comparedText, comparedWith, type Compared } from './compared.ts'
export {
  prepareReplay,
  replay,
  type Lifetime,
  type Prepared,
  type Replayed,
  type ReplayOptions,
} from './replay.ts'
export { recordedMoments, simulatedMoments, type CompactionMoment } from './compactions/moments.ts'
export {
  clientOf,
  compactionCells,
  compactionColumns,
  compactionReport,
  shownCompaction,
  verdictsOf,
  type CompactionReport,
  type ShownCompaction,
  type Verdict,
} from './compactions/report.ts'
export { load, sampleSources, withoutCopies, type Source } from './source.ts'
export {
  reportOf,
  reportText,
  unpricedText,
  type Group,
  type Report,
  type Row,
  type SessionRow,
} from './report.ts'
export { pageOf, type PolicyNote } from './page/page.ts'
export { kindOf } from './policies/list.ts'
export { billOf, type OwnBill, type BillLine } from './own/bill.ts'
export { filesUnder } from './own/tree.ts'
export { findOwn, type Homes, type OwnSession, type OwnSessions } from './own/find.ts'
export { SessionTally, type SessionStats } from './stats/session-stats.ts'
export { statsOf, type ProjectSession, type Stats } from './stats/stats.ts'
export { opencodeDatabase, opencodeRequests, opencodeRows } from './usage/opencode.ts'
export { requestsIn, requestsInLong, type Billed, type BilledFork } from './usage/requests.ts'
export {
  spendingOf,
  usageReport,
  type BilledRequest,
  type CacheBreakPaid,
  type Grouping,
  type Spending,
  type UsageReport,
  type UsageRow,
  type UsageTotal,
} from './usage/totals.ts'
