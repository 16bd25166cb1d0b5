// The door `palimpsest/lab`.
export { toEntries, type Entries, type EntryOptions } from './entries.ts'
export { importBytes, importFile, type ReadBytes } from './importers/import-file.ts'
export {
  contextOf,
  type ImportReport,
  type Imported,
  type RecordedBlock,
  type RecordedTurn,
  type Recording,
  type Skipped,
} from './recording.ts'
