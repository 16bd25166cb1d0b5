import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, text } from '../../src/simulator/index.ts'
import { openWorkspace, server, until } from '../cli/pal.ts'
import { answer, isShown, leave, open, say, shows } from './seen.ts'
import { keys } from './terminal.ts'

const ESC = '\u001B'
/** What a hostile file or answer may try to make a terminal do. */
const hostile: Readonly<Record<string, string>> = {
  clipboard: `${ESC}]52;c;ZXZpbA==\u0007`,
  link: `${ESC}]8;;https://evil.example\u0007click${ESC}]8;;\u0007`,
  title: `${ESC}]0;OWNED\u0007${ESC}]2;OWNED${ESC}\\`,
  titleReport: `${ESC}[21t`,
  cursorReport: `${ESC}[6n`,
  clearScreen: `${ESC}[2J${ESC}[H`,
  altScreen: `${ESC}[?1049h`,
  statusQuery: `${ESC}P$qm${ESC}\\`,
  file: `${ESC}]1337;File=inline=1:AAAA\u0007`,
  eightBit: '\u009B2J\u009D0;OWNED\u009C',
  overwrite: 'harmless\r\u0008\u0008\u0008\u0008overwritten',
  progress: `${ESC}]9;4;1;50\u0007`,
}

describe('what a terminal must not obey', () => {
  it('[TE5] sequences in answers, tool output and file names leave screen, title, clipboard and cursor as they were', async () => {
    const all = Object.values(hostile).join(' mid ')
    const { access } = await server([
      [text(`before ${all} after`), call('Bash', { command: 'cat hostile.txt' })],
      [call('Edit', { file_path: `bad${ESC}]0;OWNED\u0007.txt`, old_string: all, new_string: `${all}x` })],
      'the end',
    ])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'hostile.txt'), `${all}\nLAST LINE\n`)
    const seen = open(at, ['--allow', 'Bash,Edit'])
    await shows(seen, '/help')
    const before = seen.title()
    await say(seen, 'show it')
    await shows(seen, 'the end')
    await shows(seen, 'LAST LINE')
    expect(seen.title()).toBe(before)
    expect(seen.cursor().isAltScreen).toBe(false)
    const { raw } = seen
    for (const bytes of [
      ']52;',
      ']0;OWNED',
      ']2;OWNED',
      '[21t',
      ']1337',
      'P$q',
      ']9;4',
      ';https://evil',
      '\u009B',
      '[?1049h',
    ])
      expect(raw(), bytes).not.toContain(bytes)
    // What was shown before stays: nothing cleared the screen.
    expect(seen.all()).toContain('› show it')
    await leave(seen)
  })
})

describe('a question of permission', () => {
  it('[TE6] runs nothing before the answer, shows what is hidden and never clips; escape stops the turn', async () => {
    const padded = `echo ok${' '.repeat(4000)};touch EVIL`
    const turned = 'echo \u202Egnp.exe\u202C\u{E0065}\u{E0076}\u200Bx > out.txt'
    const { access, simulator } = await server([
      [call('Bash', { command: padded })],
      [call('Bash', { command: turned })],
      'never asked for',
    ])
    const at = await openWorkspace(access)
    const seen = open(at, [], 80)
    await shows(seen, '/help')
    await say(seen, 'do it')
    await shows(seen, 'touch EVIL')
    expect(existsSync(join(at.project, 'EVIL'))).toBe(false)
    await answer(seen, 'n', 'No')
    await shows(seen, 'just no')
    seen.type(keys.enter)
    await shows(seen, '\\u{202e}gnp')
    expect(seen.all()).toContain('\\u{e0065}\\u{e0076}\\u{200b}x')
    seen.type(keys.escape)
    await shows(seen, 'Interrupted. What should I do instead?')
    expect(existsSync(join(at.project, 'EVIL'))).toBe(false)
    expect(existsSync(join(at.project, 'out.txt'))).toBe(false)
    expect(JSON.stringify(simulator.log.last()?.body)).toContain('denied this call of Bash')
    expect(simulator.log.requests.length).toBe(2)
    await leave(seen)
  })

  it('[TE7] a yes runs it once, a yes for longer is not asked again', async () => {
    const { access } = await server([
      [call('Bash', { command: 'touch one.txt' })],
      [call('Bash', { command: 'touch one.txt' })],
      [call('Bash', { command: 'touch one.txt' })],
      'all done',
    ])
    const at = await openWorkspace(access)
    const seen = open(at)
    await shows(seen, '/help')
    await say(seen, 'make it')
    await shows(seen, 'Yes, for this session')
    await answer(seen, 'y', 'Yes')
    await until(() => existsSync(join(at.project, 'one.txt')), 'the file')
    await until(() => isShown(seen, 'Yes, for this session'), 'the second question')
    await answer(seen, 's', 'Yes, for this session')
    await shows(seen, 'all done')
    await leave(seen)
  })
})
