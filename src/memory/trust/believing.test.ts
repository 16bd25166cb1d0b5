// The pairs of `npm run bench -- believing` that were written with the judge at hand.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { isSupported } from './support.ts'

interface Pair {
  readonly kind: string
  readonly typed: string
  readonly saved: string
}
const folder = join(import.meta.dirname, '..', '..', '..', 'bench', 'believing')

it('[ME61] in six languages no meaning that was changed counts as the user’s, and most paraphrases do', () => {
  const files = readdirSync(folder).filter((name) => name.startsWith('ours-'))
  const pairs = files.flatMap(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as readonly Pair[],
  )
  const isFaithful = ({ kind }: Pair): boolean => kind === 'faithful'
  const accepted = pairs.filter(({ typed, saved }) => isSupported(saved, [typed]))
  expect(files).toHaveLength(6)
  expect(accepted.filter((pair) => !isFaithful(pair))).toEqual([])
  expect(accepted.length / pairs.filter(isFaithful).length).toBeGreaterThan(0.7)
})
