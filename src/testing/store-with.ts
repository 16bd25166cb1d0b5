// A store with some of its methods replaced, so that a test can let one of them fail, wait or count.
import type { Store } from '../transcript/store.ts'

export const storeWith = (inner: Store, changed: Partial<Store>): Store => ({
  list: () => inner.list(),
  lease: (session) => inner.lease(session),
  release: (lease) => inner.release(lease),
  append: (...facts) => inner.append(...facts),
  sync: (lease) => inner.sync(lease),
  read: (...place) => inner.read(...place),
  readBack: (...place) => inner.readBack(...place),
  putBlob: (...blob) => inner.putBlob(...blob),
  getBlob: (...blob) => inner.getBlob(...blob),
  putCheckpoint: (...checkpoint) => inner.putCheckpoint(...checkpoint),
  getCheckpoint: (session) => inner.getCheckpoint(session),
  remove: (session) => inner.remove(session),
  ...changed,
})
