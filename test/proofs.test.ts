// The list behind `npm run proofs` fits the tree: what it would take out is there once, and the tests it names exist.
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

interface Proof {
  readonly finding: string
  readonly test: string
  readonly name: string
  readonly revert: readonly { readonly file: string; readonly replace: string; readonly by: string }[]
}
const root = join(import.meta.dirname, '..')
const read = (file: string): string =>
  existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : ''
const lists = readdirSync(join(root, 'proofs')).filter((name) => name.endsWith('.json'))

describe('proofs', () => {
  it.each(lists)('[H32] what %s takes out stands in the source once, and its tests are there', (list) => {
    const proofs = JSON.parse(read(join('proofs', list))) as readonly Proof[]
    const wrong = proofs.flatMap(({ finding, test, name, revert }) => [
      ...revert
        .filter(({ file, replace }) => read(file).split(replace).length !== 2)
        .map(({ file }) => `${finding}: ${file}`),
      ...(read(test).includes(name) ? [] : [`${finding}: no test "${name}" in ${test}`]),
      ...(revert.length === 0 ? [`${finding}: takes nothing out`] : []),
    ])
    expect(wrong).toEqual([])
    expect(proofs.length).toBeGreaterThan(0)
  })
})
