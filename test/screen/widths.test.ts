// Everything that is listed fits the window, at every width: the terminal never has to break a line.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
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
  ['tasks'],
  ['memory'],
  ['memory', 'log'],
  ['memory', '--why'],
  ['memory', 'search', 'linter'],
  ['permissions'],
  ['permissions', 'why', 'Bash(git push origin main && npm publish)'],
  ['trust', '--list'],
  ['doctor'],
  ['sessions', '--all'],
  ['sessions', 'prune'],
  ['usage'],
  ['usage', '--by', 'model'],
  ['compact', '--preview'],
  ['--help'],
  ['-p', '--help'],
]
/** Ends otherwise where something is to be said about the machine or the session. */
const mayFail = new Set(['doctor', 'compact', 'usage'])

describe('at any width', () => {
  it.each([40, 80, 120, 200])('[G77] every list fits %d columns', async (columns) => {
    const { access } = await server([[call('Read', { file_path: 'notes.txt' })], 'a', 'b'])
    const at = await openWorkspace({
      ...access,
      ...quiet,
      PALIMPSEST_MODEL_SUMMARY: 'off',
      PALIMPSEST_RECALL: 'off',
    })
    const notes = 'The parser reads one token at a time and keeps all it has seen.\n'
    await writeFile(join(at.project, 'notes.txt'), notes.repeat(600))
    await writeFile(join(at.project, 'AGENTS.md'), 'Use tabs.\n')
    const prompt = 'please look at the parser and tell me why it is so slow with long lines'
    const noted = await at.pal(['--lines'], {
      input: `#run the linter before each commit, and never after it\n${prompt}\nand now?\n`,
    })
    expect(noted.out).toContain('Saved to memory')
    expect((await at.pal(['compact'])).out).toContain('tokens became')
    for (const args of commands) {
      const run = { cwd: at.project, environment: { ...quiet, ...at.environment }, columns, rows: 200 }
      const seen = runInTerminal(process.execPath, [at.file, ...args], run)
      const code = await seen.ended
      if (!mayFail.has(args[0]!)) expect([args.join(' '), code]).toEqual([args.join(' '), 0])
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
