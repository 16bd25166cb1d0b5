import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { importBytes, isKnownLine } from './import-file.ts'
import { importFile } from './import-file.ts'
import { readLines, streamLines, type ReadLine } from './lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'lines-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const fixtures = resolve(import.meta.dirname, '..', '..', '..', 'test', 'fixtures', 'companion')

const typed = (text: string, index = 0): string =>
  JSON.stringify({
    parentUuid: null,
    isSidechain: false,
    type: 'user',
    uuid: `u${index}-${text.slice(0, 9)}`,
    sessionId: 's',
    message: { role: 'user', content: text },
  })
const kinds = [
  'api-request-shape',
  'api-request-blob',
  'api-request',
  'tools-used',
  'atis-latch',
  'cost-state',
]
const unspoken = (kind: string, chars: number): string =>
  JSON.stringify({ type: kind, sessionId: 's', body: `"type":"user" ${'x'.repeat(chars)}` })
const attached = (chars: number): string =>
  JSON.stringify({
    parentUuid: 'p',
    isSidechain: false,
    attachment: { type: 'prompt_snapshot', prompt: 'y'.repeat(chars) },
    type: 'attachment',
    uuid: 'a',
    sessionId: 's',
  })

const all = async (path: string, mostLineBytes?: number): Promise<readonly ReadLine[]> => {
  const found: ReadLine[] = []
  for await (const line of streamLines(path, { isWhole: isKnownLine, mostLineBytes })) found.push(line)
  return found
}

describe('session files of other programs', () => {
  it('[I11] lines in which Claude Code keeps what it sent are passed over, and what speaks of them is not', async () => {
    const path = join(folder, 'kinds.jsonl')
    const text = 'why does the file have {"type":"api-request"} and "type":"cost-state" in it?'
    writeFileSync(path, [...kinds.map((kind) => unspoken(kind, 300)), attached(300), typed(text)].join('\n'))
    const imported = await importFile(path)
    if (!imported.ok) throw new Error(imported.failure.message)
    expect(imported.report.skipped).toEqual([])
    expect(imported.recording.turns).toMatchObject([{ role: 'user', content: [{ block: { text } }] }])
    // By its fields too, where something stands before its kind.
    const late = JSON.stringify({ sessionId: 's'.repeat(400), type: 'cost-state' })
    expect(importBytes('late', Buffer.from(`${late}\n${typed('hi')}\n`))).toMatchObject({
      ok: true,
      report: { skipped: [] },
    })
  })

  it('[I12] a file read piece by piece gives the lines it has as a whole, torn, empty and endless ones included', async () => {
    const lines = [
      typed('one'),
      '',
      '{"torn',
      unspoken('api-request', 3_000_000),
      typed('two '.repeat(600_000), 2),
      'null',
      typed('ä😀', 3),
      unspoken('cost-state', 10),
      typed('last', 4),
    ]
    const path = join(folder, 'pieces.jsonl')
    for (const ending of ['', '\n']) {
      writeFileSync(path, lines.join('\n') + ending)
      const { records, skipped } = readLines(Buffer.from(lines.join('\n') + ending), isKnownLine)
      const streamed = await all(path)
      expect(streamed.flatMap(({ record }) => record ?? [])).toEqual(records)
      expect(streamed.flatMap((one) => one.skipped ?? [])).toEqual(skipped)
    }
    const short = await all(path, 1_000_000)
    expect(short.flatMap((one) => one.skipped ?? []).map(({ why }) => why)).toContainEqual(
      expect.stringContaining('longer than 1000000'),
    )
    expect(short.flatMap(({ record }) => record ?? [])).toHaveLength(3)
  })

  it('[I12] what is in memory does not grow with the file', async () => {
    const path = join(folder, 'long.jsonl')
    writeFileSync(path, '')
    const big = `${unspoken('api-request', 4_000_000)}\n`
    for (let index = 0; index < 30; index++)
      appendFileSync(path, `${typed(`message ${index}`, index)}\n${big}`)
    const before = process.memoryUsage().arrayBuffers
    let [most, lines] = [0, 0]
    for await (const { record } of streamLines(path, { isWhole: isKnownLine })) {
      if (record !== null) lines++
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }
    expect(lines).toBe(30)
    // 120 MB went by; a piece has one.
    expect(most).toBeLessThan(8_000_000)
  })

  it('[I13] an export of opencode and lines of Gemini CLI import with their calls, results and compactions', async () => {
    const kindsIn = async (name: string): Promise<readonly string[]> => {
      const imported = await importFile(join(fixtures, name))
      if (!imported.ok) throw new Error(imported.failure.message)
      return imported.recording.turns.flatMap(({ role, content }) =>
        content.map(({ block, kind }) => `${role} ${kind ?? block.type}`),
      )
    }
    expect(await kindsIn('opencode-1.18.33.json')).toEqual(
      'user text, assistant tool_use, user tool_result, assistant text, user text, assistant text, user text, assistant text, user text, assistant text, user compact_summary, user client_note, assistant text, user text, assistant text'.split(
        ', ',
      ),
    )
    const gemini = await kindsIn('gemini-cli-0.61.0.jsonl')
    expect(gemini.filter((kind) => kind === 'user compact_summary')).toHaveLength(1)
    expect(gemini.slice(0, 4)).toEqual([
      'user text',
      'assistant tool_use',
      'user tool_result',
      'assistant text',
    ])
    expect(gemini.indexOf('user compact_summary')).toBe(8)
  })
})
