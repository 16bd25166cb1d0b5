// Copies of files that were read again later go, but only in batches that are worth a broken cache.
import type { Layer } from '../../projection/layer.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part } from '../../projection/view.ts'
import type { StubEdit } from '../../transcript/fact.ts'
import { partsOf, readsIn, resultText } from './parts.ts'

export const staleReadsName = 'stale-reads'
const marker = '[this copy is out of date: the file was read again later]'

export function staleReads({ minBytes }: { readonly minBytes: number }): Layer {
  return {
    name: staleReadsName,
    decide: (view) => {
      const stale = staleIn(partsOf(view))
      const bytes = stale.reduce((sum, part) => sum + Buffer.byteLength(resultText(part)), 0)
      if (stale.length === 0 || bytes < minBytes) return null
      const edits = stale.map((part): StubEdit => {
        const at = { seq: part.from, block: part.source[0]! }
        return { kind: 'stub', at, text: marker, ref: `${part.from}` }
      })
      const gone = stale.reduce((sum, part) => sum + part.estimate - estimateText(marker), 0)
      const why = `${stale.length} copies of files are out of date`
      return { kind: 'edit', edits, why, tokensFreed: Math.round(view.factor * gone) }
    },
  }
}

function staleIn(parts: readonly Part[]): readonly Part[] {
  const again = new Set<string>()
  const stale: Part[] = []
  for (const { part, path, isWhole } of readsIn(parts).toReversed()) {
    if (again.has(path) && part.by === null && part.estimate > 2 * estimateText(marker)) stale.push(part)
    if (isWhole) again.add(path)
  }
  return stale.toReversed()
}
