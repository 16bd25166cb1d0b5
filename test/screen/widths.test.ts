// Everything that is listed fits the window, at every width: the terminal never has to break a line.
import { describe, expect, it } from 'vitest'
import { openWorkspace, server } from '../cli/pal.ts'
import { leave, open, say, shows } from './seen.ts'
import { runInTerminal } from './terminal.ts'

const quiet = { PALIMPSEST_EXTRACTION: 'off', PALIMPSEST_NOTES: 'off' }
const commands = [
  ['sessions'],
  ['messages'],
  ['cost'],
  ['context'],
  ['edits'],
  ['stats'],
  ['models'],
  ['config'],
  ['mcp'],
  ['agents'],
  ['--help'],
]

describe('at any width', () => {
  it.each([40, 80, 120, 200])('[G77] every list fits %d columns', async (columns) => {
    const { access } = await server(['a'])
    const at = await openWorkspace({ ...access, ...quiet })
    const prompt = 'please look at the parser and tell me why it is so slow with long lines'
    expect((await at.pal(['-p', prompt])).code).toBe(0)
    for (const args of commands) {
      const run = { cwd: at.project, environment: { ...quiet, ...at.environment }, columns, rows: 200 }
      const seen = runInTerminal(process.execPath, [at.file, ...args], run)
      expect(await seen.ended).toBe(0)
      const wide = seen
        .raw()
        .replaceAll('\r', '')
        .replaceAll('\u001B[K', '')
        .split('\n')
        .filter((line) => Array.from(line).length > columns)
      expect([args.join(' '), wide]).toEqual([args.join(' '), []])
    }
  })

  it('[G77] the help of a conversation has each description beside its command at 80 columns', async () => {
    const { access } = await server([])
    const at = await openWorkspace(access)
    const seen = open(at, [], 80)
    await shows(seen, '/help')
    await say(seen, '/help')
    await shows(seen, 'Other input')
    const rows = seen.all().split('\n')
    for (const [command, about] of [
      ['/undo N', 'restore what an edit removed'],
      ['/cost', 'what each turn cost, and why'],
      ['/model [NAME]', 'choose the model of this session'],
    ] as const)
      expect(rows.filter((row) => row.includes(command) && row.includes(about))).toHaveLength(1)
    await leave(seen)
  })
})
