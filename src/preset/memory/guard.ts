// The guard of the memory folders: what the model writes there with the ordinary tools is judged, given its origin,
// kept as a version and put into the index.
import { folderGuard } from '../../forks/memory/folder-guard.ts'
import type { FileGuard } from '../../tools/files/guard.ts'
import type { GuardOptions } from './guarded-write.ts'

export const memoryGuard = (options: GuardOptions): FileGuard =>
  folderGuard(options.stores, async (target, change, env, signal) => {
    // What judges a memory is large, and most sessions write none.
    const { guardedWrite } = await import('./guarded-write.ts')
    return guardedWrite(options, target, change, env, signal)
  })
