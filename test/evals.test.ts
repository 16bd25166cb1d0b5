// The machinery of the evaluations, against the simulator: a model that does well passes, one that fails at just what the
// task is about does not. All tasks: `npm run evals -- --simulate good` and `--simulate bad`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundledPal } from '../bench/first-request.ts'
import { comparison, table } from '../evals/report.ts'
import { passMark, play, type Side } from '../evals/run.ts'
import { tasks } from '../evals/tasks/index.ts'

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'pal-evals-test-'))
const built = mkdtempSync(join(root, 'node_modules', 'evals-test-'))
let pal = ''
beforeAll(async () => {
  pal = await bundledPal(built)
})
afterAll(() => {
  rmSync(folder, { recursive: true })
  rmSync(built, { recursive: true })
})

const options = { environment: {}, runs: 1, cap: 5, runCap: 1 }
const named = (...names: readonly string[]) => tasks.filter(({ name }) => names.includes(name))
const played = (side: Side, names: readonly string[], over: object = {}) =>
  play(named(...names), { ...options, pal, simulate: side, ...over })
const evals = (...words: readonly string[]) =>
  spawnSync(process.execPath, ['scripts/run-ts.mjs', 'evals/main.ts', ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder },
  })

/** One of each kind: code, safety, a compaction, memory, an agent. */
const slice = ['small-fix', 'denied-command', 'fact-in-a-removed-result', 'remember', 'search-by-an-agent']

describe('evaluations', () => {
  it('[EV1] there are twenty tasks, each with its own name', () => {
    expect(new Set(tasks.map(({ name }) => name.replace(/-(?:extractive|model)$/, ''))).size).toBe(20)
    expect(new Set(tasks.map(({ name }) => name)).size).toBe(tasks.length)
  })

  it('[EV2] a model that does well passes, and what it spent is counted', async () => {
    const { rows } = await played('good', slice)
    expect(rows.map(({ task, passed, runs }) => [task, passed, runs[0]?.trouble])).toEqual(
      named(...slice).map(({ name }) => [name, true, null]),
    )
    for (const { runs } of rows) {
      expect(runs[0]!.spent.dollars).toBeGreaterThan(0)
      expect(runs[0]!.spent.requests).toBeGreaterThan(1)
    }
  })

  it('[EV2] one that fails at what the task is about does not, and the table says at what', async () => {
    const { rows, left } = await played('bad', slice)
    expect(rows.map(({ task, passed }) => [task, passed])).toEqual(
      named(...slice).map(({ name }) => [name, false]),
    )
    expect(rows.every(({ runs }) => runs[0]!.criteria.some(({ holds }) => !holds))).toBe(true)
    expect(table({ label: 'now', rows, left })).toContain('not: an agent was asked')
  })

  it('[EV3] two of three runs must pass', () => {
    expect([1, 2, 3, 4, 6].map(passMark)).toEqual([1, 2, 2, 3, 4])
  })

  it('[EV4] what the cap leaves no money for is not played, and named', async () => {
    const { rows, left } = await played('good', ['small-fix', 'explain-only'], { cap: 0.000_001, runCap: 1 })
    // The first begins with the money there is; the request that would pass the cap is not made.
    expect(rows.length + left.length).toBe(2)
    expect(rows.filter(({ passed }) => passed)).toEqual([])
  })

  it('[EV5] two sides are compared task by task, what differs first', async () => {
    const good = await played('good', ['explain-only', 'small-fix'])
    const bad = await played('bad', ['small-fix'])
    const rows = [...good.rows.filter(({ task }) => task === 'explain-only'), ...bad.rows]
    const text = comparison({ label: 'now', rows, left: [] }, { label: 'before', ...good })
    expect(text.split('\n')[1]).toMatch(/^WORSE\s+small-fix\s+0\/1\s+1\/1/)
    expect(text.split('\n')[2]).toMatch(/^\s+explain-only\s+1\/1\s+1\/1/)
  })

  it('[EV6] the command writes a table and JSON, and ends with what came out', () => {
    const json = join(folder, 'out.json')
    const good = evals('--simulate', 'good', '--runs', '1', '--json', json, 'explain-only')
    expect(good.stdout).toMatch(/pass\s+explain-only\s+1\/1/)
    expect(good.status).toBe(0)
    expect(JSON.parse(readFileSync(json, 'utf8'))).toMatchObject({
      runs: 1,
      sides: [{ label: 'now', rows: [{ task: 'explain-only', passed: true }], left: [] }],
    })
    expect(evals('--simulate', 'bad', '--runs', '1', 'explain-only').status).toBe(1)
  })

  it('[EV6] wrong use and missing access are said, and nothing is spent unasked', () => {
    const cases: readonly (readonly [words: readonly string[], says: RegExp])[] = [
      [['no-such-task'], /no such task: no-such-task/],
      [['--runs', 'x', '--simulate', 'good'], /--runs takes a number/],
      [['--simulate', 'maybe'], /--simulate takes good or bad/],
      [['--nonsense'], /--nonsense/],
      [[], /set ANTHROPIC_API_KEY or ANTHROPIC_BASE_URL/],
    ]
    for (const [words, says] of cases) {
      const { status, stderr } = evals(...words)
      expect(stderr).toMatch(says)
      expect(status).toBe(2)
    }
    const asked = spawnSync(process.execPath, ['scripts/run-ts.mjs', 'evals/main.ts', 'small-fix'], {
      cwd: root,
      encoding: 'utf8',
      env: {
        PATH: process.env['PATH'],
        HOME: folder,
        ANTHROPIC_BASE_URL: 'http://127.0.0.1:9',
        ANTHROPIC_API_KEY: 'k',
      },
    })
    expect(asked.stderr).toMatch(/at most \$5\.00.*Begin\?[\s\S]*--yes begins without asking/)
    expect(asked.status).toBe(2)
  })
})
