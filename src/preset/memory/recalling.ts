// Recall and search for one engine: over the same stores that are kept, read once for both. Their tables of words are
// large, so they are loaded where there is a memory, before the first message waits for them, or when a search is made.
import { pause } from '../../forks/waiting.ts'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import type { Recall } from '../../engine/ports.ts'
import { cheapestModel } from '../../forks/agents/index.ts'
import { recallBy } from '../../forks/select-memory.ts'
import type { MemorySearch } from '../../memory/recall/search.ts'
import type { MemoryIndex } from '../../memory/recall/memory-index.ts'
import type { Embedder } from '../../memory/recall/vectors.ts'
import { folderSource, storeSource, type MemorySource } from '../../memory/recall/memory-source.ts'
import type { ModelTable } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Settings } from '../../settings/schema.ts'
import { searchMemoryTool } from '../../tools/search-memory.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Clock } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import type { MemoryWiring } from './wiring.ts'

export interface RecallingOptions {
  readonly memory: MemoryWiring
  readonly store: Store
  readonly settings: Settings
  readonly models: ModelTable
  readonly modelId: string
  readonly fs: FileSystem
  readonly clock: Clock
  readonly environment: Readonly<Record<string, string | undefined>>
  /** A person sits before it, and says more. */
  readonly interactive?: boolean | undefined
}

export interface RecallWiring {
  readonly recall: Recall | undefined
  readonly tools: readonly Tool[]
  /** Waits for what is still kept of the index; the end of the sessions has ended its reading. */
  close(): Promise<void>
}

export function recallWiring(options: RecallingOptions): RecallWiring {
  const { memory, settings, fs } = options
  const { stores } = memory
  if (stores.length === 0) return { recall: undefined, tools: [], close: () => Promise.resolve() }
  let opened: Promise<Opened> | null = null
  const open = (): Promise<Opened> => (opened ??= openRecall(options))
  let searching: Promise<MemorySearch> | null = null
  const search = searchMemoryTool(() => (searching ??= openSearch(open(), options.store)))
  const close = async (): Promise<void> => {
    if (opened !== null) await (await opened).settled()
  }
  if (settings.recall === false) return { recall: undefined, tools: [search], close }
  const wanted = async (): Promise<Recall> =>
    opened !== null || (await holdsAny(fs, memory)) ? (await open()).recall : noRecall
  void wanted()
  return {
    recall: {
      choosesDuringTools: options.interactive !== true,
      patienceMs: options.interactive === true ? undefined : defaults.recall.patientMs,
      quick: async (ask, signal) => (await wanted()).quick(ask, signal),
      choose: async (ask, signal) => (await wanted()).choose(ask, signal),
    },
    tools: [search],
    close,
  }
}

interface Opened {
  settled(): Promise<void>
  readonly recall: Recall
  readonly index: MemoryIndex
}

async function openRecall(options: RecallingOptions): Promise<Opened> {
  const { clock } = options
  const { MemoryRecall } = await import('../../memory/recall/recall.ts')
  const embedder = await encoderOf(options)
  const memories = new MemoryRecall({ sources: sourcesOf(options), now: () => clock.now(), pause, embedder })
  const isPatient = options.interactive !== true
  return {
    recall: recallBy(memories, { modelId: selectorOf(options), isPatient }),
    index: memories.index,
    settled: () => memories.settled(),
  }
}

const encoderKeyVariable = 'PALIMPSEST_RECALL_ENCODER_KEY'

/** Where the user's settings name one; memories go nowhere else. */
async function encoderOf({ settings, environment }: RecallingOptions): Promise<Embedder | undefined> {
  const { recallEncoder: url, recallEncoderModel: model } = settings
  if (url === undefined) return undefined
  if (url === 'packaged') {
    const { packagedEncoder } = await import('../../memory/recall/encoders.ts')
    return packagedEncoder((name) => import(name))
  }
  const { httpEncoder } = await import('../../memory/recall/encoders.ts')
  return httpEncoder({
    url,
    model: model ?? defaults.encoder.model,
    key: environment[encoderKeyVariable],
    fetch: globalThis.fetch,
  })
}

async function openSearch(opened: Promise<Opened>, store: Store): Promise<MemorySearch> {
  const [{ index }, search] = await Promise.all([opened, import('../../memory/recall/search.ts')])
  return new search.MemorySearch(index, store)
}

/** Of a folder only what has changed is read; any other store is asked. */
const sourcesOf = ({ fs, memory }: RecallingOptions): readonly MemorySource[] =>
  memory.keepers.length > 0
    ? memory.keepers.map(({ place, unique }) => folderSource(fs, place, unique))
    : memory.stores.map(storeSource)

/** A folder of memories is made with the first of them. One that cannot be looked at counts: recall itself says why. */
async function holdsAny(fs: FileSystem, { keepers }: MemoryWiring): Promise<boolean> {
  const found = await Promise.all(keepers.map(({ root }) => attempt('looking', () => fs.stat(root))))
  return keepers.length === 0 || found.some((one) => one.ok || one.failure.code !== 'not-found')
}

const noRecall: Recall = {
  quick: () => Promise.resolve({ recalled: null, problem: null }),
  choose: () => Promise.resolve({ recalled: null, problem: null }),
}

function selectorOf({ settings, models, modelId }: RecallingOptions): string | undefined {
  if (settings.recallModel === 'off') return undefined
  return settings.recallModel ?? cheapestModel(models, modelId) ?? undefined
}
