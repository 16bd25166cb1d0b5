// Whether what a model would save counts as what the user typed, over pairs that say which it is: `npm run bench --
// believing`, `--json`, `--wrong` prints the pairs judged wrongly of our own files. The form: bench/believing/README.md.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isSupported } from '../src/memory/trust/support.ts'

interface Pair {
  readonly lang: string
  readonly kind: string
  readonly typed: string
  readonly saved: string
}

const folder = join(import.meta.dirname, 'believing')
const files = readdirSync(folder).filter((name) => name.endsWith('.json'))
const pairsIn = (file: string): readonly Pair[] =>
  JSON.parse(readFileSync(join(folder, file), 'utf8')) as readonly Pair[]
const sets = new Map<string, readonly Pair[]>([
  ['ours', files.filter((name) => name.startsWith('ours-')).flatMap(pairsIn)],
  ['other hand', files.filter((name) => name === 'other-hand.json').flatMap(pairsIn)],
])

const isAccepted = ({ typed, saved }: Pair): boolean => isSupported(saved, [typed])
const share = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${part}/${whole} ${((100 * part) / whole).toFixed(1)}%`

const rows = [...sets].flatMap(([set, pairs]) => {
  const rowOf = (name: string, some: readonly Pair[]) => {
    const faithful = some.filter(({ kind }) => kind === 'faithful')
    const wrong = some.filter(({ kind }) => kind !== 'faithful')
    return {
      set,
      of: name,
      'faithful, accepted': share(faithful.filter(isAccepted).length, faithful.length),
      'wrong, accepted': share(wrong.filter(isAccepted).length, wrong.length),
    }
  }
  const by = (key: 'lang' | 'kind') =>
    [...new Set(pairs.map((pair) => pair[key]))].map((value) =>
      rowOf(
        value,
        pairs.filter((pair) => pair[key] === value),
      ),
    )
  return pairs.length === 0 ? [] : [rowOf('all', pairs), ...by('lang'), ...by('kind')]
})
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(rows)}\n`)
else console.table(rows)
if (process.argv.includes('--wrong'))
  for (const pair of sets.get('ours') ?? [])
    if (isAccepted(pair) !== (pair.kind === 'faithful'))
      process.stdout.write(`${pair.lang} ${pair.kind}\n  ${pair.typed}\n  ${pair.saved}\n`)
