// The stores by name.
export { fileStore, type FileStoreOptions } from './files/file-store.ts'
export { thisMachine, type Machine, type SyncPolicy } from './files/machine.ts'
export { inMemoryStore, type InMemoryOptions } from './in-memory.ts'
