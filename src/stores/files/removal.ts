// Removing a session leaves nothing. The lock is held while it goes, the transcript goes after what hangs
// on it, so that a removal that was cut short is still listed and can be finished. Links are removed as links.
import { dirname, join } from 'node:path'
import { attempt, syncFolder, systemCode, type FileSystem } from '../../disk/fs.ts'
import { endSigns, lockOwner, takeLock, type Lock } from '../../disk/lock.ts'
import type { Failure, Result } from '../../transcript/store.ts'
import { transcriptName, type Layout } from './layout.ts'
import { lockOptionsOf, ownerOf, type Machine } from './machine.ts'

export async function removeSession(
  machine: Machine,
  layout: Layout,
  ours: Lock | null,
  missing: Failure,
): Promise<Result<object>> {
  const { fs } = machine
  let lock = ours
  const there = await attempt(`removing ${layout.folder}`, () => fs.stat(layout.folder))
  if (!there.ok) return { ok: false, failure: there.failure.code === 'not-found' ? missing : there.failure }
  if (there.kind === 'folder' && ours === null) {
    const taken = await lockToRemove(machine, layout)
    if (!taken.ok) return taken
    lock = taken.lock
  }
  return await attempt(`removing ${layout.folder}`, async () => {
    if (lock !== null) await endSigns(lock)
    await removeTree(fs, layout.folder, [transcriptName, 'lock'])
    await syncFolder(fs, dirname(layout.folder))
  })
}

/** On a full disk there is no room for a lock, for nobody: then it is enough that nobody holds it. */
async function lockToRemove(
  machine: Machine,
  layout: Layout,
): Promise<Result<{ readonly lock: Lock | null }>> {
  const options = lockOptionsOf(machine)
  const taken = await takeLock(layout.lock, options)
  if (taken.ok) return { ok: true, lock: taken.lock }
  if (taken.why === 'failed' && taken.failure.code !== 'disk-full') return taken
  const found =
    taken.why === 'taken' ? { ok: true as const, owner: taken.owner } : await lockOwner(layout.lock, options)
  if (!found.ok) return found
  if (found.owner === null) return { ok: true, lock: null }
  const message = `${ownerOf(found.owner).who} is writing this session; end it first`
  return { ok: false, failure: { code: 'session-open', message } }
}

async function removeTree(fs: FileSystem, path: string, last: readonly string[]): Promise<void> {
  if ((await fs.stat(path)).kind !== 'folder') return await fs.unlink(path)
  const names = [...(await fs.names(path))]
  const rank = (name: string): number => last.indexOf(name)
  for (const name of names.sort((a, b) => rank(a) - rank(b))) {
    try {
      await removeTree(fs, join(path, name), [])
    } catch (error) {
      // Temporary names come and go.
      if (systemCode(error) !== 'ENOENT') throw error
    }
  }
  await fs.removeFolder(path)
}
