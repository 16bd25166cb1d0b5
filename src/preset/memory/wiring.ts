// Memory for one engine: the places, who keeps them, the guard of the tools, the reminder, the words of the prompt, and
// the instructions of folders that work comes to. Off where a setting says so; then nothing of it is read or written.
import { dirname, join } from 'node:path'
import type { FileSystem } from '../../disk/fs.ts'
import { machineProcesses } from '../../disk/processes.ts'
import { isInside } from '../../disk/under-root.ts'
import type { FolderInstructions, ReminderSource } from '../../engine/ports.ts'
import type { ContentRefusal } from '../../memory/instructions/read.ts'
import { NestedInstructions } from '../../memory/instructions/reminder.ts'
import { appendDiary } from '../../memory/keeping/diary.ts'
import { openFolderStore, type FolderStore } from '../../memory/keeping/folder-store.ts'
import type { MemoryStore } from '../../memory/memory-store.ts'
import { memoryPlaces, type MemoryPlaces } from '../../memory/place.ts'
import type { Settings } from '../../settings/schema.ts'
import { guardedTools, pathIn, readThrough, type FileGuard } from '../../tools/files/guard.ts'
import { isSecretPath } from '../../tools/files/protected-names.ts'
import type { AskUser } from '../../tools/permission/question.ts'
import type { Tool } from '../../tools/tool.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'
import type { Clock } from '../../transcript/ids.ts'
import { homeOf } from '../permission.ts'
import type { Project } from '../project.ts'
import { memoryGuard } from './guard.ts'
import { memoryGuidance } from './guidance.ts'
import { withheldIn } from './withheld.ts'
import { readPins, reminderSource, sourcesOf, type ReminderOptions } from './reminder.ts'

export interface MemoryWiringOptions {
  readonly fs: FileSystem
  readonly home: string
  readonly project: Project
  /** Whether the user trusts the folder: then its instruction files and the team's memories count. */
  readonly trusted?: boolean | undefined
  /** Why the content of an instruction file of the project may not be followed; left out, trust is for the folder. */
  readonly instructionRefusal?: ContentRefusal | undefined
  readonly settings: Settings
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly userHome?: string | undefined
  readonly clock: Clock
  readonly unique: () => string
  readonly askUser?: AskUser | undefined
  /** Stores of the caller's own, in place of the folders. */
  readonly memoryStores?: readonly MemoryStore[] | undefined
  /** A person sits before it. */
  readonly interactive?: boolean | undefined
}

export interface MemoryWiring {
  /** Null where memory is off; `why` says why it is off although it was wanted. */
  readonly places: MemoryPlaces | null
  readonly why: string | null
  /** Who keeps memories: the folders, or what the caller gave in their place. */
  readonly stores: readonly MemoryStore[]
  /** The user's, the project's and, in a trusted folder, the team's. None where the caller gave stores of its own. */
  readonly keepers: readonly FolderStore[]
  readonly guidance: string | null
  /** False where headless runs feed memory: what they are called with is nobody's typed words. */
  readonly isTyped: boolean
  readonly reminder: ReminderSource
  readonly reminderOptions: ReminderOptions
  readonly readRoots: readonly string[]
  /** Memories that wait for the user, at or below a real path. */
  readonly withheld: (real: string) => Promise<ReadonlySet<string>>
  tools(tools: readonly Tool[]): readonly Tool[]
  /** Why a call on memories needs nobody's leave; null for every other call. */
  readonly open: (call: Pick<ToolUseBlock, 'name' | 'input'>) => string | null
  /** What folders say when work comes to them, for one session. */
  readonly folderInstructions: () => FolderInstructions
}

const managedInstructions = '/etc/palimpsest/AGENTS.md'

export function memoryWiring(options: MemoryWiringOptions): MemoryWiring {
  const { fs, settings, project, clock, unique } = options
  const trusted = options.trusted === true
  // Our own folder cannot stand for the user's: memories lie in it, and the user's home itself may hold none.
  const userHome = homeOf(options) ?? dirname(options.home)
  const placed = placesFor(options, userHome)
  const places = placed.places
  const keepers =
    places === null
      ? []
      : [places.user, places.project, ...(trusted ? [places.team] : [])].map((place) =>
          openFolderStore(place, {
            fs,
            clock,
            unique,
            processes: machineProcesses,
            review: settings.memoryReview,
          }),
        )
  const begunMs = clock.now()
  const own = settings.memory === false ? undefined : options.memoryStores
  const stores = own ?? keepers
  const isTyped = options.interactive === true || settings.memoryHeadless !== true
  const guard = memoryGuard({
    stores,
    isTyped,
    askUser: options.askUser,
    diary:
      settings.diary === true && own === undefined
        ? (store, ...page) => appendDiary(keeperAt(keepers, store), ...page)
        : null,
  })
  const reminderOptions: ReminderOptions = {
    fs,
    unique,
    now: () => clock.now(),
    sources: {
      managed: managedInstructions,
      home: options.home,
      userHome,
      root: project.root,
      cwd: project.cwd,
      // Whoever judges contents has the last word on each file.
      trusted: trusted || options.instructionRefusal !== undefined,
      refusal: options.instructionRefusal,
      isSecret: isSecretPath,
    },
    pinsFile: join(options.home, 'projects', project.slug, 'instructions.json'),
    keepers: settings.memoryIndex === false ? [] : keepers,
    stores: settings.memoryIndex === false ? [] : (own ?? []),
  }
  return {
    places,
    why: placed.why,
    stores,
    keepers,
    isTyped,
    guidance:
      stores.length === 0
        ? null
        : memoryGuidance({
            stores,
            areFolders: own === undefined,
            diary: settings.diary === true,
            review: settings.memoryReview === true,
          }),
    reminder: reminderSource(reminderOptions),
    reminderOptions,
    readRoots: keepers.map(({ place }) => place.root),
    withheld: withheldIn(fs, keepers),
    tools: (tools) => {
      if (stores.length === 0) return tools
      const guarded = guardedTools(tools, guard, userHome)
      return own === undefined ? guarded : readThrough(guarded, guard, userHome)
    },
    open: (call) => openTo(call, guard, stores, pathIn(call.input, project.cwd, userHome)),
    folderInstructions: () => folderInstructions(reminderOptions, begunMs),
  }
}

/** A diary is a thing of folders: whoever writes a page has come to it by one of these. */
const keeperAt = (keepers: readonly FolderStore[], { root }: MemoryStore): FolderStore =>
  keepers.find((keeper) => keeper.root === root)!

function placesFor(
  options: MemoryWiringOptions,
  userHome: string,
): {
  readonly places: MemoryPlaces | null
  readonly why: string | null
} {
  if (options.settings.memory === false || options.memoryStores !== undefined)
    return { places: null, why: null }
  const { shared, slug, root } = options.project
  const placed = memoryPlaces({
    home: options.home,
    userHome,
    slug: shared?.slug ?? slug,
    projectRoot: root,
    environment: options.environment,
    directory: options.settings.memoryDirectory,
  })
  return placed.ok ? { places: placed.places, why: null } : { places: null, why: placed.why }
}

/** Reading memories needs nobody's leave, and writing them is the guard's to decide. */
function openTo(
  { name }: Pick<ToolUseBlock, 'name'>,
  guard: FileGuard,
  stores: readonly MemoryStore[],
  path: string | null,
): string | null {
  if (path === null) return null
  if (['Write', 'Edit'].includes(name) && guard.covers(path))
    return 'it writes a memory, which the guard of memories judges'
  const reads = ['Read', 'Grep', 'Glob'].includes(name)
  return reads && stores.some(({ root }) => isInside(root, path)) ? 'it reads memories' : null
}

const touching = new Set(['Read', 'Edit', 'Write'])

/** Of one session: the instructions of folders in which a call touches a file. */
function folderInstructions(options: ReminderOptions, begunMs: number): FolderInstructions {
  const { sources } = options
  const nested = new NestedInstructions(sources, async () =>
    sourcesOf(options, await readPins(options), begunMs),
  )
  return {
    async touched({ name, input }) {
      const path = touching.has(name) ? pathIn(input, sources.cwd, sources.userHome) : null
      return path === null ? { text: null, problems: [] } : await nested.touched(path)
    },
    renew: () => nested.renew(),
  }
}
