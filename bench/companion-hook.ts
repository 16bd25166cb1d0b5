// What a hook of the companion costs the client that waits for it: from the start of its process to its end, for each event,
// beside an empty Node in the same run. The session file has 55 MB, half of it in lines that are skipped unparsed; `first`
// reads it whole, the others go on from where the last hook stopped. The goal is 100 ms over bare Node, 300 ms at most.
// `node scripts/run-ts.mjs bench/companion-hook.ts [--json] [--runs N] [--mb N]`
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { environmentOf, numberOf } from './first-request.ts'

const runs = numberOf('--runs', 20)
const megabytes = numberOf('--mb', 55)
const folder = mkdtempSync(join(tmpdir(), 'pal-companion-hook-'))
const [root, work, transcript] = [join(folder, 'companion'), join(folder, 'work'), join(folder, 's.jsonl')]
const empty = 'node -e 0'
const taken: Record<string, number[]> = {}

function writeTranscript(): void {
  const filler = 'word '.repeat(2000)
  const request = `${JSON.stringify({ type: 'api-request', body: filler.repeat(5) })}\n`
  const turn = (n: number): string =>
    [
      {
        parentUuid: 'p',
        isSidechain: false,
        cwd: work,
        type: 'user',
        message: { role: 'user', content: `do ${n}` },
      },
      {
        parentUuid: 'p',
        isSidechain: false,
        cwd: work,
        message: {
          role: 'assistant',
          content: [
            {
              type: 'tool_use',
              id: `t${n}`,
              name: 'Read',
              input: { file_path: join(work, `f${n % 40}.ts`) },
            },
          ],
        },
        type: 'assistant',
      },
      {
        parentUuid: 'p',
        isSidechain: false,
        type: 'user',
        message: {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: `t${n}`, content: filler.repeat(5) }],
        },
      },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('')
  writeFileSync(transcript, '')
  const round = `${request}${turn(0)}`.length
  const rounds = Math.ceil((megabytes * 1024 * 1024) / round)
  for (let n = 0; n < rounds; n++) appendFileSync(transcript, `${request}${turn(n)}`)
}

function run(name: string, words: readonly string[], stdin = ''): void {
  const begun = performance.now()
  const { status } = spawnSync(process.execPath, words, { env: environmentOf(folder), input: stdin })
  const took = performance.now() - begun
  if (status !== 0) throw new Error(`${name} ended with ${status}`)
  const times = (taken[name] ??= [])
  times.push(took)
}

try {
  for (const path of [root, work]) mkdirSync(path, { mode: 0o700 })
  const url = pathToFileURL(join(dirname(import.meta.dirname), 'scripts', 'bundle.mjs')).href
  const { bundleHooks } = (await import(url)) as { bundleHooks: (folder: string) => Promise<unknown> }
  await bundleHooks(root)
  const hook = join(root, 'companion-hook.cjs')
  writeTranscript()
  const event = (session: string, name: string, more: object): [string[], string] => [
    [hook, 'claude'],
    JSON.stringify({
      session_id: session,
      transcript_path: transcript,
      cwd: work,
      hook_event_name: name,
      ...more,
    }),
  ]
  for (let n = 0; n < runs; n++) {
    run(empty, ['-e', '0'])
    // A session that was never read before.
    run('PreCompact, first', ...event(`new-${n}`, 'PreCompact', {}))
    run('UserPromptSubmit', ...event('s', 'UserPromptSubmit', { prompt: `Rule ${n}: never use tool ${n}.` }))
    run('PreCompact', ...event('s', 'PreCompact', {}))
    run('SessionStart compact', ...event('s', 'SessionStart', { source: 'compact' }))
    run('PostCompact', ...event('s', 'PostCompact', { compact_summary: 'words '.repeat(2500) }))
    run('PostToolUse', ...event('s', 'PostToolUse', { tool_name: 'Read', tool_response: {} }))
    run(
      'status line',
      [hook, 'claude', 'status'],
      JSON.stringify({ session_id: 's', cost: { total_cost_usd: 1 } }),
    )
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const at = (name: string, share: number): number => {
  const sorted = (taken[name] ?? []).toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}
const figures = Object.keys(taken).map((name) => ({
  name,
  medianMs: Math.round(at(name, 0.5)),
  p95Ms: Math.round(at(name, 0.95)),
  overBareMs: Math.round(at(name, 0.5) - at(empty, 0.5)),
}))
if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify({ runs, megabytes, figures })}\n`)
else {
  for (const { name, medianMs, p95Ms, overBareMs } of figures)
    process.stdout.write(
      `${name.padEnd(22)} median ${String(medianMs).padStart(4)} ms (${overBareMs} over bare Node), p95 ${String(p95Ms).padStart(4)} ms\n`,
    )
  process.stdout.write(`${megabytes} MB, ${runs} runs, Node ${process.versions.node}\n`)
}
