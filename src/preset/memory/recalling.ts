// Recall and search for one engine: over the same folders that are kept, read once for both.
import type { FileSystem } from '../../disk/fs.ts'
import type { Recall } from '../../engine/recalling/recall-port.ts'
import { cheapestModel } from '../../forks/agents/index.ts'
import { recallBy } from '../../forks/select-memory.ts'
import { MemoryRecall } from '../../memory/recall/recall.ts'
import { MemorySearch } from '../../memory/recall/search.ts'
import type { ModelTable } from '../../model/models.ts'
import type { Settings } from '../../settings/schema.ts'
import { searchMemoryTool } from '../../tools/search-memory.ts'
import type { Tool } from '../../tools/tool.ts'
import type { Clock } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import type { MemoryDesk } from './desk.ts'

export interface RecallingOptions {
  readonly desk: MemoryDesk
  readonly store: Store
  readonly settings: Settings
  readonly models: ModelTable
  readonly modelId: string
  readonly fs: FileSystem
  readonly clock: Clock
}

export interface RecallingDesk {
  readonly recall: Recall | undefined
  readonly tools: readonly Tool[]
}

export function recallingDesk(options: RecallingOptions): RecallingDesk {
  const { desk, store, settings, fs, clock } = options
  const places = desk.keepers.map(({ place }) => place)
  if (places.length === 0) return { recall: undefined, tools: [] }
  const memories = new MemoryRecall({ fs, places, now: () => clock.now(), pause })
  return {
    recall: settings.recall === false ? undefined : recallBy(memories, { modelId: selectorOf(options) }),
    tools: [searchMemoryTool(new MemorySearch(memories.shelf, store))],
  }
}

function selectorOf({ settings, models, modelId }: RecallingOptions): string | undefined {
  if (settings.recallModel === 'off') return undefined
  return settings.recallModel ?? cheapestModel(models, modelId) ?? undefined
}

const pause = (ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(done, ms)
    signal.addEventListener('abort', done, { once: true })
    function done(): void {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
  })
