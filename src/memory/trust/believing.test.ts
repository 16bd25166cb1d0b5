// The pairs of `npm run bench -- believing` that were written with the judge at hand.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { quoteFor } from './quoting.ts'
import { isSupported } from './support.ts'

interface Pair {
  readonly lang: string
  readonly kind: string
  readonly typed: string
  readonly saved: string
}
const folder = join(import.meta.dirname, '..', '..', '..', 'bench', 'believing')

const pairsOf = (names: readonly string[]): readonly Pair[] =>
  names.flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as readonly Pair[])

it('[ME73] in six languages a free paraphrase is kept in the sentence it speaks of, found among all that was typed', () => {
  const pairs = pairsOf(['freer.json'])
  const faithful = pairs.filter(({ kind }) => kind === 'faithful')
  const typedIn = (lang: string): readonly string[] =>
    pairs.filter((pair) => pair.lang === lang).map(({ typed }) => typed)
  const quotes = faithful.map((pair) => ({ ...pair, quote: quoteFor(pair.saved, typedIn(pair.lang)) }))
  const isRight = ({ quote, ...pair }: (typeof quotes)[number]): boolean =>
    quote?.every((sentence) => pair.typed.includes(sentence)) === true
  expect(quotes.filter((one) => one.quote !== null && !isRight(one))).toEqual([])
  expect(quotes.filter(isRight).length / faithful.length).toBeGreaterThan(0.85)
  expect(
    pairs.filter(({ kind, typed: own, saved }) => kind !== 'faithful' && isSupported(saved, [own])),
  ).toEqual([])
})

it('[ME61] in six languages no meaning that was changed counts as the user’s, and most paraphrases do', () => {
  const files = readdirSync(folder).filter((name) => name.startsWith('ours-'))
  const pairs = pairsOf(files)
  const isFaithful = ({ kind }: Pair): boolean => kind === 'faithful'
  const accepted = pairs.filter(({ typed, saved }) => isSupported(saved, [typed]))
  expect(files).toHaveLength(6)
  expect(accepted.filter((pair) => !isFaithful(pair))).toEqual([])
  expect(accepted.length / pairs.filter(isFaithful).length).toBeGreaterThan(0.65)
})
