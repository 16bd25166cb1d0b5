// What holds a name that must not be made while a command runs. A mount needs something to stand on, so for a name that
// is missing an empty folder, or a file that says nothing new, is put there first and taken away when the last command
// that needs it has ended. What stands there is written down before, so that after a crash the next start takes it away;
// so is what was there before the command, so that the next start can block what the command made (`watched`).
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { isOver, machineProcesses, type ProcessIdentity } from '../../disk/processes.ts'
import { isThere, type Watched } from './watched.ts'

export interface Placeholder {
  readonly path: string
  /** Its content; null for a folder. */
  readonly text: string | null
}

export interface Placeholders {
  /** Makes those whose names are free, and holds them and those that others hold. */
  hold(wanted: readonly Placeholder[], watched: Watched): Promise<Placed>
  /** Takes away what processes that are gone have left, and hands over what they watched. */
  sweep(decide: (watched: Watched) => Promise<void>): Promise<void>
}

export interface Placed {
  /** Stands in the words of the wall, so that a command that outlived its process can be found and ended. */
  readonly id: string
  readonly paths: readonly string[]
  release(): Promise<void>
}

interface Note {
  readonly by: ProcessIdentity
  readonly held: readonly Placeholder[]
  readonly watched: Watched
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
  const living = async (): Promise<ReadonlySet<string>> => {
    const paths = new Set<string>()
    for (const { note } of await notes())
      if (!(await isOver(note.by))) for (const { path } of note.held) paths.add(path)
    return paths
  }
  return {
    async hold(wanted, watched) {
      const others = await living()
      const ours: Placeholder[] = []
      for (const one of wanted) if (others.has(one.path) || !(await isThere(one.path))) ours.push(one)
      const id = randomUUID()
      const file = join(folder, `${id}.json`)
      const note: Note = { by: await machineProcesses.self(), held: ours, watched }
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await writeFile(file, JSON.stringify(note), { mode: 0o600 })
      for (const one of ours) await make(one)
      return {
        id,
        paths: ours.map(({ path }) => path),
        async release() {
          await rm(file, { force: true })
          const still = await living()
          for (const one of ours.toReversed()) if (!still.has(one.path)) await remove(one)
        },
      }
    },
    async sweep(decide) {
      const still = await living()
      for (const { file, note } of await notes()) {
        if (!(await isOver(note.by))) continue
        await endSurvivors(basename(file, '.json'))
        for (const one of note.held.toReversed()) if (!still.has(one.path)) await remove(one)
        await decide(note.watched)
        await rm(file, { force: true })
      }
    },
  }
}

/** The words of a wall that say whose it is; without effect otherwise. */
export const wordsNaming = (id: string): readonly string[] => ['--unsetenv', `PAL_WALL_${id}`]

/**
 * A command ends with the process that started it, unless that was killed in the moment in which the wall was being set
 * up. Removing what it stands on would open the wall, so it is ended first. Its processes are found by their words.
 */
async function endSurvivors(id: string): Promise<void> {
  const named = wordsNaming(id).join('\0')
  for (let round = 0; round < survivorRounds; round++) {
    const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
    const read = pids.map(async (pid) =>
      (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(named) ? [Number(pid)] : [],
    )
    const found = (await Promise.all(read)).flat()
    if (found.length === 0) return
    for (const pid of found) kill(pid)
    await new Promise((resolve) => setTimeout(resolve, survivorPauseMs))
  }
}
const survivorRounds = 100
const survivorPauseMs = 20

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended meanwhile.
  }
}

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
