// minisearch as the ranker of memory files, as near to ours as it can be set: our terms and their weights, our fields,
// our k1 and b. What it cannot be told: it scores each field for itself and multiplies a score by the number of terms
// that were found.
import { askedTerms } from '../src/memory/recall/ranking.ts'
import type { Lexicon } from '../src/memory/recall/lexicon/terms.ts'
import { defaults } from '../src/settings/defaults.ts'
import { peerPackages } from './peer-packages.ts'
import type { Ranker } from './recall-plain.ts'
import type { Doc } from './recall-sets.ts'

interface Index {
  addAll(docs: readonly { readonly id: string; readonly text: string; readonly tags: string }[]): void
  search(query: string, options: object): readonly { readonly id: string }[]
}
interface Package {
  readonly default: new (options: object) => Index
}

/** Makes rankers, or says why there are none. */
export async function miniSearch(lexicon: Lexicon): Promise<((docs: readonly Doc[]) => Ranker) | string> {
  const bring = peerPackages('minisearch')
  if (typeof bring === 'string') return bring
  const { default: MiniSearch } = (await bring('minisearch')) as Package
  const { k1, b, subject, fields } = defaults.ranking
  return (docs) => {
    const index = new MiniSearch({
      fields: ['text', 'tags'],
      tokenize: (text: string) => {
        const { words, more } = lexicon.read(text)
        return [...words, ...more]
      },
      processTerm: (term: string) => term,
    })
    index.addAll(docs.map(({ id, text, tags = [] }) => ({ id, text, tags: tags.join(' ') })))
    return (query, most) => {
      const asked = askedTerms(lexicon, query, subject)
      const found = index.search(query, {
        tokenize: () => [...asked.keys()],
        boostTerm: (term: string) => asked.get(term) ?? 0,
        boost: { text: fields.body, tags: fields.tags },
        bm25: { k: k1, b, d: 0 },
      })
      return found.slice(0, most).map(({ id }) => id)
    }
  }
}
