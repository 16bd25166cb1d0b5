// The pairs of `npm run bench -- believing`.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { memoryText } from '../../../test/memory/memories.ts'
import { readMemoryText } from '../format/frontmatter.ts'
import { derive } from './lineage.ts'
import { inUsersWords, quoteFor } from './quoting.ts'
import { rawSentencesOf, isSupported } from './sentences.ts'

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

it('[ME61] [ME73] in six languages what is raised to the user’s trust says exactly what was typed, and most paraphrases are', () => {
  for (const names of [
    readdirSync(folder).filter((name) => name.startsWith('ours-')),
    ['freer.json'],
    ['other-hand.json'],
  ]) {
    const pairs = pairsOf(names)
    let [kept, faithful] = [0, 0]
    for (const { kind, typed, saved } of pairs) {
      const text = memoryText('a', {
        type: 'feedback',
        description: saved.replaceAll('\n', ' '),
        body: saved,
      })
      const lineage = { session: 's', isMain: true, message: null, userWords: [typed], turn: [], before: [] }
      const isUsers = (one: string): boolean => derive(lineage, one, 0).by.trust === 'user'
      // As it is worded nothing counts that was changed.
      if (kind !== 'faithful') expect([saved, isUsers(text)]).toEqual([saved, false])
      const own = isUsers(text) ? text : inUsersWords(text, [typed], [])
      if (kind === 'faithful') faithful++
      if (own === null || !isUsers(own)) continue
      if (kind === 'faithful') kept++
      const { head, body } = readMemoryText(own)
      const flat = (one: string): string => one.replaceAll(/\s+/gu, ' ').trim()
      for (const sentence of [head.description, body].flatMap(rawSentencesOf))
        expect(flat(typed)).toContain(flat(sentence))
    }
    expect([names[0], kept / faithful > 0.85]).toEqual([names[0], true])
  }
})
