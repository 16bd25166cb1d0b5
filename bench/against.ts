// What composing and one more entry cost beside an earlier commit: `npm run bench -- against --commit COMMIT [--runs 5] [--json]`. Both trees
// run their own bench/compose.ts and bench/fold.ts by turns, and each figure is the smallest median of its runs: other work on
// the machine only ever adds to one. Without a commit there is nothing to hold against.
import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { treeOf } from './tree-of.ts'

const root = dirname(import.meta.dirname)
const given = process.argv.slice(2)
const flag = (name: string): string | null => {
  const at = given.indexOf(`--${name}`)
  return at === -1 ? null : (given[at + 1] ?? '')
}
const runs = Number(flag('runs') ?? 5)
const commit = flag('commit')
const most = 64_000_000

interface Compose {
  readonly tokens: number
  readonly ms: { readonly compose: number; readonly composeBytes: number }
}
interface Folded {
  readonly entries: number
  readonly projectUs: number
  readonly appendUs: number
}

const bench = (tree: string, name: string): unknown =>
  JSON.parse(
    execFileSync(process.execPath, ['scripts/run-ts.mjs', `bench/${name}.ts`, '--json'], {
      cwd: tree,
      encoding: 'utf8',
      maxBuffer: most,
    }),
  )

function figuresOf(tree: string): ReadonlyMap<string, number> {
  const composed = bench(tree, 'compose') as readonly Compose[]
  const folded = bench(tree, 'fold') as readonly Folded[]
  return new Map([
    ...composed.flatMap(({ tokens, ms }): readonly [string, number][] => [
      [`compose at ${tokens} tokens, µs`, ms.compose * 1000],
      [`compose and make the bytes at ${tokens} tokens, µs`, (ms.compose + ms.composeBytes) * 1000],
    ]),
    ...folded.flatMap(({ entries, projectUs, appendUs }): readonly [string, number][] => [
      [`one more entry at ${entries}, µs`, projectUs],
      [`one more entry written at ${entries}, µs`, appendUs],
    ]),
  ])
}

if (commit === null) {
  console.log('against: name a commit, as npm run bench -- against --commit COMMIT')
} else {
  const earlier = treeOf(commit)
  const least = { before: new Map<string, number>(), now: new Map<string, number>() }
  try {
    for (let run = 0; run < runs; run++) {
      process.stderr.write(`against: run ${run + 1} of ${runs}\n`)
      for (const side of run % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const))
        for (const [name, value] of figuresOf(side === 'before' ? earlier : root))
          least[side].set(name, Math.min(least[side].get(name) ?? Infinity, value))
    }
  } finally {
    rmSync(earlier, { recursive: true, force: true })
  }
  const rows = [...least.now].map(([name, now]) => {
    const before = least.before.get(name) ?? NaN
    return { name, before, now, ratio: now / before }
  })
  if (given.includes('--json')) console.log(JSON.stringify(rows, null, 2))
  else
    for (const { name, before, now, ratio } of rows)
      console.log(
        `${name.padEnd(52)}${before.toFixed(1).padStart(9)}${now.toFixed(1).padStart(9)}${`${((ratio - 1) * 100).toFixed(1)} %`.padStart(9)}`,
      )
}
