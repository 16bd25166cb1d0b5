// Option `shrink` with the real Claude Code: a shortened result has the shape that the client takes, and its original is on
// disk; what has another shape is left alone.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call } from '../src/simulator/index.ts'
import { claudeSession, installed, kept } from './companion-claude.ts'
import type { Report, World } from './world.ts'

/** C8: the shortened result has the shape that the client takes. */
export async function claudeShrink(report: Report, program: string, world: World): Promise<void> {
  installed(world, { shrink: true })
  const sizes = [20_000, 29_999, 30_001]
  const session = await claudeSession(program, world, {
    next: (_, n) =>
      n > sizes.length
        ? null
        : {
            content: [
              call(
                'Bash',
                {
                  command: `printf 'START'; head -c ${sizes[n - 1]! - 8} /dev/zero | tr '\\0' x; printf 'END'`,
                  description: 'x',
                },
                `toolu_s${n}`,
              ),
            ],
            stop_reason: 'tool_use',
          },
  })
  const { sent, code } = await session.run('-p', 'Go.')
  const last = sent.at(-1) ?? ''
  const originals = join('originals', 'toolu_s1.txt')
  report.check(
    'C8 Claude Code, shrink: a result of 20,000 characters arrives shortened, its original is whole on disk',
    code === 0 &&
      last.includes('characters left out') &&
      kept(world, originals) === `START${'x'.repeat(19_992)}END`,
    `${last.includes('characters left out')} ${kept(world, originals).length}`,
  )
  report.check(
    'C8 Claude Code, shrink: 29,999 characters are shortened, 30,001 are left to the client',
    kept(world, join('originals', 'toolu_s2.txt')).length === 29_999 &&
      kept(world, join('originals', 'toolu_s3.txt')) === '',
  )
  await session.end()
}

/** A server with one tool that answers with much text, with a picture, or with a failure. */
const server = `
const text = 'START' + 'y'.repeat(19000) + 'END'
const answers = {
  text: { content: [{ type: 'text', text }] },
  picture: { content: [{ type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' }] },
  failure: { isError: true, content: [{ type: 'text', text: 'FAILED ' + text }] },
}
const tool = { name: 'big', description: 'much', inputSchema: { type: 'object', properties: { kind: { type: 'string' } } } }
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const result =
    method === 'initialize' ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'big', version: '1' } }
    : method === 'tools/list' ? { tools: [tool] }
    : method === 'tools/call' ? answers[params.arguments.kind] : {}
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n')
})
`

/** C8 for MCP, pictures and failures. */
export async function claudeShrinksOthers(report: Report, program: string, world: World): Promise<void> {
  installed(world, { shrink: true })
  const script = join(world.folder, 'big.cjs')
  const config = join(world.folder, 'mcp.json')
  writeFileSync(script, server)
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { big: { command: process.execPath, args: [script] } } }),
  )
  const kinds = ['text', 'picture', 'failure']
  const session = await claudeSession(program, world, {
    next: (_, n) =>
      n > kinds.length
        ? null
        : {
            content: [call('mcp__big__big', { kind: kinds[n - 1] }, `toolu_m${n}`)],
            stop_reason: 'tool_use',
          },
  })
  const { sent, code, err } = await session.run(
    '-p',
    'Go.',
    '--mcp-config',
    config,
    '--allowedTools',
    'mcp__big__big',
  )
  const last = sent.at(-1) ?? ''
  const original = kept(world, join('originals', 'toolu_m1.txt'))
  report.check(
    'C8 Claude Code, shrink: the text of an MCP tool arrives shortened, its original is whole on disk',
    code === 0 && last.includes('characters left out') && original.includes(`START${'y'.repeat(19_000)}END`),
    `${code} ${original.length} ${err}`,
  )
  report.check(
    'C8 Claude Code, shrink: a picture arrives as it was, a failure is not lost',
    last.includes('iVBORw0KGgo') &&
      last.includes('FAILED') &&
      kept(world, join('originals', 'toolu_m2.txt')) === '',
    `${last.includes('iVBORw0KGgo')} ${last.includes('FAILED')}`,
  )
  await session.end()
}
