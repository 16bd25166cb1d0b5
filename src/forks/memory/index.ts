// The door of jobs on memories.
export { JobBoard, type JobLook } from './board.ts'
export { dream, type Dreamt } from './dream/dream.ts'
export { memoryWatcher, type WatcherOptions } from './watcher.ts'
export type { MemoryJobOptions } from './options.ts'
