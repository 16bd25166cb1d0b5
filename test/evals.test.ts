// The machinery of the evaluations, against the simulator: a model that does well passes, one that fails at just what the
// task is about does not. All tasks: `npm run evals -- --simulate good` and `--simulate bad`.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { comparison, table, type Summary } from '../evals/report.ts'
import { passMark, play, type Side } from '../evals/run.ts'
import { tasks } from '../evals/tasks/index.ts'
import { palFile } from './one-bundle.ts'

const root = join(import.meta.dirname, '..')
const folder = mkdtempSync(join(tmpdir(), 'pal-evals-test-'))
let pal = ''
beforeAll(async () => {
  pal = await palFile()
})
afterAll(() => rmSync(folder, { recursive: true }))

// As the command has it: a task of several prompts fits, since a session that is continued counts once.
const options = { environment: {}, runs: 1, cap: 5, runCap: 0.5 }
const named = (...names: readonly string[]) => tasks.filter(({ name }) => names.includes(name))
const played = (side: Side, names: readonly string[], over: object = {}) =>
  play(named(...names), { ...options, pal, simulate: side, ...over })
const evals = (...words: readonly string[]) =>
  spawnSync(process.execPath, ['scripts/run-ts.mjs', 'evals/main.ts', ...words], {
    cwd: root,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'], HOME: folder },
  })

interface Results {
  readonly sides: readonly Summary[]
}

/** Git, safety, a compaction, an agent: the kinds that need most of the machinery. */
const slice = ['dirty-tree', 'denied-command', 'compaction-in-the-middle-notes', 'search-by-an-agent']

describe('evaluations', () => {
  it('[EV1] there are twenty tasks, each with its own name', () => {
    expect(new Set(tasks.map(({ name }) => name.replace(/-(?:extractive|model|notes)$/, ''))).size).toBe(20)
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
    const shown = table({ label: 'now', rows, left })
    for (const why of ['an agent was asked', 'the new file is as it was', 'nothing was asked'])
      expect(shown).toContain(`not: ${why}`)
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

  it('[EV5] the command plays the same tasks with another system prompt, which the model is sent', () => {
    const [system, json] = [join(folder, 'system.txt'), join(folder, 'systems.json')]
    writeFileSync(system, 'You fix programs.\n')
    const run = evals(
      '--simulate',
      'good',
      '--runs',
      '1',
      '--against-system',
      system,
      '--json',
      json,
      'small-fix',
    )
    expect(run.status, run.stderr).toBe(0)
    const { sides } = JSON.parse(readFileSync(json, 'utf8')) as Results
    expect(sides.map(({ label }) => label)).toEqual(['now', system])
    expect(sides.map(({ rows }) => rows.map(({ passed }) => passed))).toEqual([[true], [true]])
    // A request without our own prompt is much smaller.
    const [now, other] = sides.map(({ rows }) => rows[0]!.runs[0]!.spent.tokens)
    expect(other!).toBeLessThan(now! - 1000)
    expect(run.stdout).toMatch(/small-fix\s+1\/1\s+1\/1/)
  })

  const isRepository = spawnSync('git', ['rev-parse', '--verify', 'HEAD'], { cwd: root }).status === 0
  it.skipIf(!isRepository)('[EV5] and with `pal` of another commit', () => {
    const json = join(folder, 'commits.json')
    const run = evals('--simulate', 'bad', '--runs', '1', '--against', 'HEAD', '--json', json, 'explain-only')
    expect(run.status, run.stderr).toBe(1)
    const { sides } = JSON.parse(readFileSync(json, 'utf8')) as Results
    expect(sides.map(({ label, rows }) => [label, rows[0]!.passed, rows[0]!.runs[0]!.trouble])).toEqual([
      ['now', false, null],
      ['HEAD', false, null],
    ])
    expect(run.stdout).toMatch(/explain-only\s+0\/1\s+0\/1/)
    const none = evals('--simulate', 'good', '--against', 'no-such-commit', 'explain-only')
    expect(none.stderr).toContain('no-such-commit is no commit of this repository')
    expect(none.status).toBe(2)
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
