// A session file of hundreds of MB, as Claude Code writes them (what it sent stands in it again and again): time and memory
// of an audit. `node scripts/run-ts.mjs bench/session-files.ts [--mb 320]`.
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { auditSession } from '../src/companion/audit.ts'

const at = process.argv.indexOf('--mb')
const megabytes = at < 0 ? 320 : Number(process.argv[at + 1])
const folder = mkdtempSync(join(tmpdir(), 'session-files-'))
const path = join(folder, 'session.jsonl')
const line = (index: number, over: object): string =>
  `${JSON.stringify({ parentUuid: null, isSidechain: false, uuid: `u${index}`, sessionId: 's', cwd: '/home/user/project', version: '2.1.325', timestamp: '2026-11-16T07:00:00.000Z', ...over })}\n`

try {
  const file = openSync(path, 'w')
  let [index, rounds] = [0, 0]
  const put = (text: string): number => writeSync(file, text)
  const written = (): number => statSync(path).size
  while (written() < megabytes * 1e6) {
    const id = `t${++index}`
    put(
      line(index, {
        type: 'user',
        message: { role: 'user', content: `message ${index}: never touch part_${index}` },
      }),
    )
    put(
      line(++index, {
        type: 'assistant',
        message: {
          id: `m${index}`,
          role: 'assistant',
          content: [
            {
              type: 'tool_use',
              id,
              name: 'Read',
              input: { file_path: `/home/user/project/src/file_${index % 300}.ts` },
            },
          ],
        },
      }),
    )
    put(
      line(++index, {
        type: 'user',
        message: {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: id, content: 'const a = 1\n'.repeat(2000), is_error: false },
          ],
        },
        toolUseResult: { file: 'const a = 1\n'.repeat(2000) },
      }),
    )
    put(`${JSON.stringify({ type: 'api-request-blob', sessionId: 's', body: 'x'.repeat(200_000) })}\n`)
    if (++rounds % 100 === 0)
      put(
        line(++index, {
          type: 'user',
          isCompactSummary: true,
          message: { role: 'user', content: 'They work on many parts. '.repeat(100) },
        }),
      )
  }
  closeSync(file)
  const bytes = written()
  const began = performance.now()
  const before = process.memoryUsage().rss
  let most = before
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
  const read = await auditSession(path)
  clearInterval(timer)
  const seconds = (performance.now() - began) / 1000
  const compactions = read.ok ? read.audit.compactions.length : 0
  process.stdout.write(
    `${(bytes / 1e6).toFixed(0)} MB, ${compactions} compactions: ${seconds.toFixed(1)} s, at most ${((most - before) / 1e6).toFixed(0)} MB more in memory\n`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
