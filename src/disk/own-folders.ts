// Temporary folders that name their owner, so that those of a process that was killed can be removed and those of a
// living one, here or in another container that shares the temporary folder, are left alone.
import { createHash } from 'node:crypto'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isOver, machineProcesses } from './processes.ts'

/** `kind`: what it is for, in small letters. */
export async function makeOwnFolder(kind: string): Promise<string> {
  const { host, boot, pid, start } = await machineProcesses.self()
  return mkdtemp(join(tmpdir(), `${kind}-${pid}-${start ?? 0}-${short(host)}-${short(boot ?? '')}-`))
}

/** Removes those whose owner is certainly over. */
export async function sweepOwnFolders(kind: string): Promise<void> {
  const self = await machineProcesses.self()
  const pattern = new RegExp(`^${kind}-(\\d+)-(\\d+)-([0-9a-f]{8})-([0-9a-f]{8})-[^-]+$`)
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const [, pid, start, host, boot] = pattern.exec(name) ?? []
    if (pid === undefined || host !== short(self.host)) continue
    const owner = {
      host: self.host,
      pid: Number(pid),
      start: start === '0' ? null : start!,
      boot: boot === short(self.boot ?? '') ? self.boot : boot!,
    }
    const path = join(tmpdir(), name)
    const stat = await lstat(path).catch(() => null)
    const isOurs = stat?.isDirectory() === true && stat.uid === (process.getuid?.() ?? stat.uid)
    if (isOurs && (await isOver(owner))) await rm(path, { recursive: true, force: true }).catch(() => {})
  }
}

const short = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8)
