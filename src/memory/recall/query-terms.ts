// What a query asks for: its terms and how much each counts.
import { defaults } from '../../settings/defaults.ts'
import type { Lexicon } from './lexicon/terms.ts'

/** The terms of a query and what each counts before rarity. A repeated word counts more, but less each time. */
export function askedTerms(
  lexicon: Lexicon,
  query: string,
  subjectWeight: number,
): ReadonlyMap<string, number> {
  const { words, more } = lexicon.read(query)
  const asked = new Map<string, number>()
  for (const term of words) asked.set(term, (asked.get(term) ?? 0) + 1)
  for (const term of more) asked.set(term, (asked.get(term) ?? 0) + 1)
  const { querySaturation: q, character, everyday } = defaults.ranking
  for (const [term, count] of asked) {
    const kind = term.startsWith('~')
      ? subjectWeight
      : term.startsWith('·')
        ? character
        : lexicon.isEveryday(term)
          ? everyday
          : 1
    if (kind === 0) asked.delete(term)
    else asked.set(term, (kind * count * (q + 1)) / (count + q))
  }
  return asked
}
