// What holds a name that must not be made while a command runs. A mount needs something to stand on, so for a name that
// is missing an empty folder, or a file that says nothing new, is put there first and taken away when the last command
// that needs it has ended. What stands there is written down before, so that after a crash the next start takes it away.
import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Placeholder {
  readonly path: string
  /** Its content; null for a folder. */
  readonly text: string | null
}

export interface Placeholders {
  /** Makes those whose names are free, and holds them and those that others hold. */
  hold(wanted: readonly Placeholder[]): Promise<Held>
  /** Takes away what processes that are gone have left. */
  sweep(): Promise<void>
}

export interface Held {
  readonly paths: readonly string[]
  release(): Promise<void>
}

interface Note {
  readonly pid: number
  readonly held: readonly Placeholder[]
}

/** `folder`: where it is written down; all processes of a user share it. */
export function createPlaceholders(folder: string): Placeholders {
  const notes = async (): Promise<readonly { file: string; note: Note }[]> => {
    const names = await readdir(folder).catch(() => [])
    const read = names.map(async (name) => {
      const file = join(folder, name)
      try {
        return [{ file, note: JSON.parse(await readFile(file, 'utf8')) as Note }]
      } catch {
        return []
      }
    })
    return (await Promise.all(read)).flat()
  }
  const heldByOthers = async (): Promise<ReadonlySet<string>> =>
    new Set(
      (await notes())
        .filter(({ note }) => lives(note.pid))
        .flatMap(({ note }) => note.held.map(({ path }) => path)),
    )
  return {
    async hold(wanted) {
      const others = await heldByOthers()
      const held: Placeholder[] = []
      for (const one of wanted) if (others.has(one.path) || !(await isThere(one.path))) held.push(one)
      const file = join(folder, `${randomUUID()}.json`)
      if (held.length > 0) {
        await mkdir(folder, { recursive: true, mode: 0o700 })
        await writeFile(file, JSON.stringify({ pid: process.pid, held } satisfies Note), { mode: 0o600 })
      }
      for (const one of held) await make(one)
      return {
        paths: held.map(({ path }) => path),
        async release() {
          if (held.length === 0) return
          await rm(file, { force: true })
          const still = await heldByOthers()
          for (const one of held.toReversed()) if (!still.has(one.path)) await remove(one)
        },
      }
    },
    async sweep() {
      const all = await notes()
      const live = new Set(
        all.filter(({ note }) => lives(note.pid)).flatMap(({ note }) => note.held.map(({ path }) => path)),
      )
      for (const { file, note } of all) {
        if (lives(note.pid)) continue
        for (const one of note.held.toReversed()) if (!live.has(one.path)) await remove(one)
        await rm(file, { force: true })
      }
    },
  }
}

const isThere = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

async function make({ path, text }: Placeholder): Promise<void> {
  const made = text === null ? mkdir(path) : writeFile(path, text, { flag: 'wx' })
  // Somebody else was faster: what stands there is covered as it is.
  await made.catch(() => {})
}

/** Only as it was made: what holds anything else is not ours. */
async function remove({ path, text }: Placeholder): Promise<void> {
  if (text === null) await rmdir(path).catch(() => {})
  else if ((await readFile(path, 'utf8').catch(() => null)) === text) await rm(path, { force: true })
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
