// The door of jobs on memories.
export { MemoryJobList, type JobLook } from './memory-jobs.ts'
export { consolidate, type Consolidated } from './consolidation/consolidate.ts'
export { memoryWatcher, type WatcherOptions } from './watcher.ts'
export type { MemoryJobOptions } from './memory-jobs.ts'
