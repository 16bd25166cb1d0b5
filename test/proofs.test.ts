// The list behind `npm run proofs` fits the tree: what it would take out is there once, what it would put there names only
// what is there, and the tests it names exist.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
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

  it('[H32] no fix is taken out by a name that is not there: its test would fail by that', () => {
    const folder = mkdtempSync(join(tmpdir(), 'pal-proofs-'))
    try {
      writeFileSync(join(folder, 'rules.json'), JSON.stringify(namesAlone))
      const changed = lists
        .flatMap((list) => JSON.parse(read(join('proofs', list))) as readonly Proof[])
        .flatMap(({ finding, revert }) =>
          [...new Set(revert.map(({ file }) => file))].map((file) => ({
            finding,
            end: extname(file),
            text: revert
              .filter((one) => one.file === file)
              .reduce((text, { replace, by }) => text.replace(replace, () => by), read(file)),
          })),
        )
      for (const [at, { end, text }] of changed.entries()) writeFileSync(join(folder, `${at}${end}`), text)
      const lint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint')
      const { stdout } = spawnSync(process.execPath, [lint, '-c', 'rules.json', '-f', 'json', '.'], {
        cwd: folder,
        encoding: 'utf8',
      })
      const said = JSON.parse(stdout) as {
        readonly diagnostics: readonly { readonly filename: string; readonly message: string }[]
        readonly number_of_files: number
      }
      const wrong = said.diagnostics.map(
        ({ filename, message }) => `${changed[Number.parseInt(filename)]?.finding}: ${message}`,
      )
      expect(wrong).toEqual([])
      expect(said.number_of_files).toBe(changed.filter(({ end }) => /^\.(?:ts|tsx|mjs)$/.test(end)).length)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

/** Names nobody declares, and text that is no program. */
const namesAlone = {
  plugins: [],
  categories: { correctness: 'off' },
  env: { builtin: true, node: true, browser: true },
  rules: { 'no-undef': 'error' },
}
