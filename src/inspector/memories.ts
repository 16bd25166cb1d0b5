// Memories as the page shows them: what stands, its versions with their texts and origins, and the sessions that recalled it.
// Looks only: nothing is finished, kept or written here.
import { join } from 'node:path'
import type { Keeper } from '../memory/keeping/keeper.ts'
import type { Removed, Written } from '../memory/keeping/records.ts'
import { textOf } from '../memory/keeping/revert.ts'
import type { Memories } from './inspection.ts'
import type { BlockDetail, MemoryDetail, MemoryList, MemoryOrigin, MemoryRow } from './protocol.ts'

type Recalled = MemoryRow['recalledBy'][number]

/** `recalls`: where each name was recalled, newest first. */
export function memoriesIn(
  keepers: readonly Keeper[],
  recalls: () => Promise<ReadonlyMap<string, readonly Recalled[]>>,
): Memories {
  return {
    list: async () => ({ stores: await storesIn(keepers, await recalls()) }),
    detail: async (store, file) => {
      const keeper = keepers.find((one, at) => nameOf(one, at) === store)
      if (keeper === undefined) return null
      const read = await keeper.ledger.refresh()
      const versions = read.ok ? keeper.ledger.versionsOf(file) : []
      return versions.length === 0 ? null : detailOf(keeper, versions, await recalls())
    },
    madeIn: async (session, files) => {
      const made: BlockDetail['memories'][number][] = []
      for (const [at, keeper] of keepers.entries()) {
        if (!(await keeper.ledger.refresh()).ok) continue
        for (const { file } of keeper.ledger.standing()) {
          if (!namesOf(keeper, file).some((name) => files.includes(name))) continue
          const version = keeper.ledger.versionsOf(file).findLast(({ by }) => by.session === session)
          if (version !== undefined) made.push({ store: nameOf(keeper, at), file, version: version.n })
        }
      }
      return made
    },
  }
}

const nameOf = ({ place }: Keeper, at: number): string => `${place.scope}-${at}`

/** How a fact may name a memory: by its path, by its place among the memories, or without its ending. */
const namesOf = ({ place }: Keeper, file: string): readonly string[] => [
  join(place.root, file),
  file,
  file.replace(/\.md$/u, ''),
]

async function storesIn(
  keepers: readonly Keeper[],
  recalls: ReadonlyMap<string, readonly Recalled[]>,
): Promise<MemoryList['stores']> {
  const stores: MemoryList['stores'][number][] = []
  for (const [at, keeper] of keepers.entries()) {
    const read = await keeper.ledger.refresh()
    stores.push({
      store: nameOf(keeper, at),
      scope: keeper.place.scope,
      folder: keeper.place.root,
      memories: read.ok ? keeper.ledger.standing().map((one) => rowOf(keeper, one, recalls)) : [],
      problem: read.ok ? null : read.failure.message,
    })
  }
  return stores
}

function rowOf(
  keeper: Keeper,
  newest: Written | Removed,
  recalls: ReadonlyMap<string, readonly Recalled[]>,
): MemoryRow {
  const head = newest.do === 'write' ? newest.head : null
  return {
    file: newest.file,
    title: head?.name ?? newest.file,
    kind: head?.type ?? null,
    trust: newest.by.trust,
    version: newest.n,
    versions: keeper.ledger.versionsOf(newest.file).length,
    at: newest.at,
    origin: originOf(newest),
    recalledBy: namesOf(keeper, newest.file).flatMap((name) => recalls.get(name) ?? []),
  }
}

const originOf = ({ by, via }: Written | Removed): MemoryOrigin => ({
  session: by.session,
  seq: by.message !== null && /^\d{1,15}$/u.test(by.message) ? Number(by.message) : null,
  by: `${by.kind} ${via}`,
})

async function detailOf(
  keeper: Keeper,
  versions: readonly (Written | Removed)[],
  recalls: ReadonlyMap<string, readonly Recalled[]>,
): Promise<MemoryDetail> {
  const history: MemoryDetail['history'][number][] = []
  for (const version of versions) {
    const text = await textOf(keeper, version)
    history.push({
      version: version.n,
      at: version.at,
      origin: originOf(version),
      why: version.by.from.length === 0 ? null : `read by then: ${version.by.from.join(', ')}`,
      text: text.ok ? text.text : null,
      isRemoval: version.do === 'remove',
    })
  }
  return { ...rowOf(keeper, versions.at(-1)!, recalls), history }
}
