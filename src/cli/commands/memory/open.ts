// What the memory commands have in common: the memories of this workplace, and finding a memory by its name in the scopes.
import { join } from 'node:path'
import { attempt, machineFileSystem } from '../../../disk/fs.ts'
import { machineProcesses } from '../../../disk/processes.ts'
import { openFolderStore, type FolderStore } from '../../../memory/keeping/folder-store.ts'
import { agentPlaceAt } from '../../../memory/place.ts'
import { finishSet } from '../../../memory/keeping/change-sets.ts'
import { projectStore } from '../../../preset.ts'
import { memoryWiring, type MemoryWiring } from '../../../preset/memory/wiring.ts'
import { systemClock } from '../../../transcript/ids.ts'
import type { Store } from '../../../transcript/store.ts'
import { print, complain, exits, fail, refuse, type Exit, type Refusal } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { safeLine } from '../../terminal/safe-text.ts'
import { prose } from '../../terminal/tables.ts'
import {
  instructionRefusal,
  openWorkplace,
  uniqueText,
  type ProjectFlags,
  type Workplace,
} from '../../workplace/workplace.ts'

export interface MemoryFlags extends ProjectFlags {
  readonly trust?: boolean | undefined
  readonly scope?: string | undefined
}

export interface MemoryRoom {
  readonly io: Io
  readonly json: boolean
  readonly wiring: MemoryWiring
  /** Those of the scope asked for, the project's first. */
  readonly keepers: readonly FolderStore[]
  /** The sessions of this project. */
  readonly store: Store
}

/** The memories of a place. */
export const wiringAt = (place: Workplace): MemoryWiring =>
  memoryWiring({
    ...place,
    instructionRefusal: instructionRefusal(place),
    environment: { HOME: place.io.userHome, ...place.io.environment },
    fs: machineFileSystem,
    clock: systemClock,
    unique: uniqueText,
  })

/** Opens the memories of this place and does something with them. */
export async function withMemories(
  io: Io,
  flags: MemoryFlags,
  work: (room: MemoryRoom) => Promise<Exit | Refusal>,
): Promise<Exit> {
  const place = await openWorkplace(io, flags)
  if (!place.ok) return complain(io, place)
  const wiring = wiringAt(place)
  for (const problem of place.problems.filter((one) => one.startsWith('memory is off')))
    io.err(`pal: ${safeLine(problem)}\n`)
  if (wiring.why !== null) return fail(io, exits.failed, wiring.why)
  const order = ['project', 'user', 'team', 'agent']
  const agents = flags.scope === 'agent' ? await agentKeepers(place) : []
  const all = [...wiring.keepers, ...agents].sort(
    (a, b) => order.indexOf(a.place.scope) - order.indexOf(b.place.scope),
  )
  const keepers =
    flags.scope === undefined ? all : all.filter(({ place: { scope } }) => scope === flags.scope)
  if (keepers.length === 0) {
    const scopes = all.map(({ place: { scope } }) => scope).join(', ')
    const why =
      all.length === 0 ? 'memory is off here (setting memory)' : `unknown scope; available: ${scopes}`
    return fail(io, exits.usage, why)
  }
  for (const keeper of keepers) {
    const read = await finishSet(keeper).then((whole) => (whole.ok ? keeper.ledger.refresh() : whole))
    if (!read.ok) return fail(io, exits.failed, read.failure.message)
    if (keeper.ledger.damaged > 0)
      io.err(
        `pal: ${keeper.ledger.damaged} lines of the ledger in ${keeper.place.state} cannot be read; the memories they describe are held for review\n`,
      )
  }
  const outcome = await work({ io, json: flags.json ?? false, wiring, keepers, store: projectStore(place) })
  return typeof outcome === 'number' ? outcome : complain(io, outcome)
}

/** The folders of all agent types that have one. */
async function agentKeepers({ home, project }: Workplace): Promise<readonly FolderStore[]> {
  const root = join((project.shared ?? project).root, '.palimpsest')
  const above = [join(home, 'agent-memory'), join(root, 'agent-memory'), join(root, 'agent-memory-local')]
  const found = await Promise.all(
    above.map(async (folder) => {
      const names = await attempt('listing', async () => ({ names: await machineFileSystem.names(folder) }))
      return names.ok ? names.names.map((name) => join(folder, name)) : []
    }),
  )
  return found.flat().map((folder) =>
    openFolderStore(agentPlaceAt(home, folder), {
      fs: machineFileSystem,
      clock: systemClock,
      unique: uniqueText,
      processes: machineProcesses,
    }),
  )
}

export interface FoundMemory {
  readonly keeper: FolderStore
  readonly file: string
}

/** The memory of this name, with or without `.md`. */
export async function findMemory({ keepers }: MemoryRoom, name: string): Promise<FoundMemory | Refusal> {
  const found: FoundMemory[] = []
  for (const keeper of keepers) {
    for (const file of name.endsWith('.md') ? [name] : [`${name}.md`, name]) {
      const onDisk = await attempt('looking', () => keeper.fs.stat(`${keeper.place.root}/${file}`))
      const waits = keeper.ledger.held().some((held) => held.file === file)
      if (onDisk.ok || waits || keeper.ledger.versionsOf(file).length > 0) {
        found.push({ keeper, file })
        break
      }
    }
  }
  if (found.length === 0) return refuse(exits.usage, `there is no memory ${name}; pal memory lists them`)
  if (found.length === 1) return found[0]!
  const scopes = found.map(({ keeper }) => keeper.place.scope).join(' and ')
  return refuse(exits.usage, `${name} is in ${scopes}; choose one with --scope`)
}

/** The same for one of them, by its name. */
export const withMemory = (
  io: Io,
  name: string,
  flags: MemoryFlags,
  work: (room: MemoryRoom, found: FoundMemory) => Promise<Exit | Refusal>,
): Promise<Exit> =>
  withMemories(io, flags, async (room) => {
    const found = await findMemory(room, name)
    return isRefusal(found) ? found : work(room, found)
  })

export const isRefusal = (value: object): value is Refusal => 'exit' in value

/** As JSON, or as text. */
export function show({ io, json }: MemoryRoom, value: object, text: () => string): Exit {
  return print(io, json, value, () => prose(text(), io.columns))
}
