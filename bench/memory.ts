// What memory costs with many memories: `node scripts/run-ts.mjs bench/memory.ts [--json] [--memories N]`. The folder and
// its ledger are laid out directly; then what a session waits for is timed, with an empty folder as the baseline.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { listMemories, shaOf } from '../src/memory/files.ts'
import { readMemoryText } from '../src/memory/format/frontmatter.ts'
import { applyWrite } from '../src/memory/keeping/apply.ts'
import { loadIndex } from '../src/memory/keeping/index-keeping.ts'
import { openKeeper, type Keeper } from '../src/memory/keeping/keeper.ts'
import { ledgerFile } from '../src/memory/keeping/ledger.ts'
import { lineOf } from '../src/memory/keeping/records.ts'
import { from, keeperOptions, memoryText, placeIn } from '../test/memory/memories.ts'

const at = process.argv.indexOf('--memories')
const count = at === -1 ? 10_000 : Number(process.argv[at + 1])
const rounds = 9

async function laidOut(base: string, memories: number): Promise<() => Keeper> {
  const place = placeIn(base)
  await mkdir(place.root, { recursive: true })
  await mkdir(place.state, { recursive: true })
  const lines = ['{"v":1,"do":"ledger","id":"bench","salt":"bench"}\n']
  for (let n = 0; n < memories; n++) {
    const text = memoryText(`matter ${n}`, { body: `Something about matter ${n}. `.repeat(20) })
    const { head } = readMemoryText(text)
    const file = `m${n}.md`
    lines.push(
      lineOf({
        n: n + 1,
        do: 'write',
        at: n,
        file,
        sha: shaOf(text),
        before: null,
        head,
        by: from(),
        via: 'session',
      }),
    )
    await writeFile(join(place.root, file), text)
  }
  await writeFile(ledgerFile(place.state), lines.join(''))
  const open = () => openKeeper(place, keeperOptions())
  const made = await applyWrite(open(), [{ file: 'last.md', text: memoryText('last') }], from(), {
    via: 'session',
  })
  if (!made.ok) throw new Error(made.failure.message)
  return open
}

async function median(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < rounds; n++) {
    const start = performance.now()
    await work()
    times.push(performance.now() - start)
  }
  return times.sort((a, b) => a - b)[Math.floor(rounds / 2)]!
}

const folder = await mkdtemp(join(tmpdir(), 'pal-bench-memory-'))
try {
  const rows = []
  for (const memories of [1, count]) {
    const open = await laidOut(join(folder, String(memories)), memories)
    let version = 0
    const warm = open()
    rows.push({
      memories,
      // The only part that stands before the first request.
      indexMs: await median(() => loadIndex(open())),
      ledgerMs: await median(() => open().ledger.refresh()),
      newestMs: await median(() => listMemories(open().fs, open().place)),
      writeMs: await median(() =>
        applyWrite(
          warm,
          [{ file: 'last.md', text: memoryText('last', { body: String(version++) }) }],
          from(),
          {
            via: 'session',
          },
        ),
      ),
    })
  }
  if (process.argv.includes('--json')) console.log(JSON.stringify(rows, null, 2))
  else
    for (const { memories, indexMs, ledgerMs, newestMs, writeMs } of rows)
      console.log(
        `${memories} memories: index before the first request ${indexMs.toFixed(1)} ms; whole ledger ${ledgerMs.toFixed(0)} ms; newest 200 listed ${newestMs.toFixed(0)} ms; one more write ${writeMs.toFixed(0)} ms`,
      )
} finally {
  await rm(folder, { recursive: true, force: true })
}
