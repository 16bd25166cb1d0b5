// Whether what a model would save counts as what the user typed, over pairs that say which it is: `npm run bench --
// believing`, `--json`, `--wrong` prints the pairs judged wrongly of our own files. The form: bench/believing/README.md.
// A wording that cannot be shown to say the same is replaced by the user's own sentences, where some speak of it: `kept` counts
// both. `of all messages`: the same with every message of the set in that language before it, as in a long session; `nobody
// said it`: with all of them but its own.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { quoteFor } from '../src/memory/trust/quoting.ts'
import { isSupported } from '../src/memory/trust/sentences.ts'

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
  ['freer', files.filter((name) => name === 'freer.json').flatMap(pairsIn)],
  ['other hand', files.filter((name) => name === 'other-hand.json').flatMap(pairsIn)],
])

const isAccepted = ({ typed, saved }: Pair): boolean => isSupported(saved, [typed])
const isKept = (pair: Pair): boolean => isAccepted(pair) || quoteFor(pair.saved, [pair.typed]) !== null
const messagesOf = (pairs: readonly Pair[], { lang }: Pair): readonly string[] => [
  ...new Set(pairs.filter((pair) => pair.lang === lang).map(({ typed }) => typed)),
]
/** Whose sentence is quoted where every message of the set was typed. */
function quoted(pairs: readonly Pair[], pair: Pair): 'right' | 'other' | null {
  const quote = quoteFor(pair.saved, messagesOf(pairs, pair))
  if (quote === null) return null
  return quote.every((sentence) => pair.typed.includes(sentence)) ? 'right' : 'other'
}
const isQuotedElsewhere = (pairs: readonly Pair[], pair: Pair): boolean =>
  quoteFor(
    pair.saved,
    messagesOf(pairs, pair).filter((typed) => typed !== pair.typed),
  ) !== null
const share = (part: number, whole: number): string =>
  whole === 0 ? '–' : `${part}/${whole} ${((100 * part) / whole).toFixed(1)}%`

const rows = [...sets].flatMap(([set, pairs]) => {
  const rowOf = (name: string, some: readonly Pair[]) => {
    const faithful = some.filter(({ kind }) => kind === 'faithful')
    const wrong = some.filter(({ kind }) => kind !== 'faithful')
    return {
      set,
      of: name,
      'faithful: as worded': share(faithful.filter(isAccepted).length, faithful.length),
      'faithful: kept': share(faithful.filter(isKept).length, faithful.length),
      'wrong: as worded': share(wrong.filter(isAccepted).length, wrong.length),
      'of all messages: right': share(
        faithful.filter((pair) => quoted(pairs, pair) === 'right').length,
        faithful.length,
      ),
      'another one': share(some.filter((pair) => quoted(pairs, pair) === 'other').length, some.length),
      'nobody said it': share(some.filter((pair) => isQuotedElsewhere(pairs, pair)).length, some.length),
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
  for (const pair of [...(sets.get('ours') ?? []), ...(sets.get('freer') ?? [])])
    if (isAccepted(pair) !== (pair.kind === 'faithful'))
      process.stdout.write(`${pair.lang} ${pair.kind}\n  ${pair.typed}\n  ${pair.saved}\n`)
