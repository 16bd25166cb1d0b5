import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server } from '../cli/pal.ts'
import { isShown, leave, open, say, sees } from './seen.ts'
import { keys, type SeenTerminal } from './terminal.ts'

const isStopped = /stopped|Interrupted/
/** Selects and confirms as a person does; what does not come is a failed expectation. */
async function choose(seen: SeenTerminal, key: string, label: string): Promise<void> {
  seen.type(keys.tab)
  expect(await sees(seen, 'or a letter'), 'the question takes keys').toBe(true)
  seen.type(key)
  expect(await sees(seen, `→ ${label}`), `${label} is selected`).toBe(true)
  seen.type(keys.enter)
}

describe('an answer to a question', () => {
  it('[TE20] a no takes words: they reach the model as its reason and answer no other question', async () => {
    const { access, simulator } = await server([
      [
        call('Bash', { command: 'git push origin main' }),
        call('Write', { file_path: 'notes.md', content: 'x' }),
      ],
      'understood',
    ])
    const at = await openWorkspace(access)
    const seen = open(at)
    await sees(seen, '/help')
    await say(seen, 'push and note it')
    expect(await sees(seen, 'git push origin main')).toBe(true)
    await sees(seen, 'or a letter')
    seen.type('n')
    await sees(seen, '→ No, and tell the model')
    seen.type(keys.enter)
    await sees(seen, 'enter to send')
    for (const key of 'use a branch, say yes') {
      seen.type(key)
      await new Promise((done) => setTimeout(done, 20))
    }
    await sees(seen, 'use a branch, say yes')
    seen.type(keys.enter)
    // The next question stands there, and nothing of what was typed has answered it.
    expect(await sees(seen, 'notes.md new file')).toBe(true)
    expect(existsSync(join(at.project, 'notes.md'))).toBe(false)
    await choose(seen, 'n', 'No')
    expect(await sees(seen, 'enter to send')).toBe(true)
    seen.type(keys.enter)
    expect(await sees(seen, 'understood')).toBe(true)
    expect(existsSync(join(at.project, 'notes.md'))).toBe(false)
    expect(JSON.stringify(simulator.log.last()?.body)).toContain('says: use a branch, say yes')
    await leave(seen)
  })

  it('[TE21] escape and ctrl+c stop the turn: the model is not asked further, and what was queued is kept', async () => {
    for (const key of [keys.escape, keys.ctrlC]) {
      const { access, simulator } = await server([
        [call('Bash', { command: 'touch one.txt' }), call('Bash', { command: 'touch two.txt' })],
        'the next answer',
        'and another',
      ])
      const at = await openWorkspace(access)
      const seen = open(at)
      await sees(seen, '/help')
      await say(seen, 'make both')
      expect(await sees(seen, 'Bash(touch one.txt)')).toBe(true)
      // Typed for the prompt while the question is open: queued, and no answer.
      seen.type('also this')
      await sees(seen, 'also this')
      seen.type(keys.enter)
      expect(await sees(seen, '1 queued')).toBe(true)
      seen.type(key)
      expect(await sees(seen, isStopped)).toBe(true)
      expect(await sees(seen, () => !isShown(seen, 'Bash(touch'))).toBe(true)
      expect(simulator.log.requests.length).toBe(1)
      await say(seen, 'go on')
      expect(await sees(seen, 'the next answer')).toBe(true)
      const body = JSON.stringify(simulator.log.last()?.body)
      expect(body.split('also this').length - 1).toBe(1)
      expect(body).toContain('The user interrupted when asked about this call of Bash')
      expect(existsSync(join(at.project, 'one.txt')) || existsSync(join(at.project, 'two.txt'))).toBe(false)
      await leave(seen)
    }
  })

  it('[TE21] [PM81] in line mode too: a line with escape alone, or ctrl+c', async () => {
    for (const key of [`${keys.escape}\r`, keys.ctrlC]) {
      const { access, simulator } = await server([
        [call('Bash', { command: 'touch one.txt' }), call('Bash', { command: 'touch two.txt' })],
        'the next answer',
      ])
      const at = await openWorkspace(access)
      const seen = open(at, ['--lines'])
      await sees(seen, '> ')
      seen.type('make both\r')
      expect(await sees(seen, 'A letter selects')).toBe(true)
      seen.type(key)
      expect(await sees(seen, /\n> *\n*$/), seen.all()).toBe(true)
      expect(simulator.log.requests.length).toBe(1)
      seen.type('go on\r')
      expect(await sees(seen, 'the next answer')).toBe(true)
      const body = JSON.stringify(simulator.log.last()?.body)
      expect(body).toContain('The user interrupted when asked about this call of Bash')
      expect(body).toContain('[interrupted] The call was not started.')
      expect(seen.all()).not.toContain('| touch two.txt')
      expect(existsSync(join(at.project, 'one.txt')) || existsSync(join(at.project, 'two.txt'))).toBe(false)
    }
  })

  it('[TE22] what is pasted into a question is text, and confirming needs a selection that was seen', async () => {
    const { access } = await server([[call('Bash', { command: 'touch one.txt' })], 'done'])
    const at = await openWorkspace(access)
    const seen = open(at)
    await sees(seen, '/help')
    await say(seen, 'make it')
    expect(await sees(seen, 'or a letter')).toBe(true)
    // Enter alone confirms nothing, and neither does a letter that comes in one go with it.
    seen.type(keys.enter)
    expect(await sees(seen, 'Select an answer first')).toBe(true)
    seen.type(`y${keys.enter}`)
    expect(await sees(seen, '→ Yes')).toBe(true)
    seen.type('\u001B[200~y\rs\r\u001B[201~')
    expect(await sees(seen, 'Keys go to the prompt')).toBe(true)
    const isTyped = (): boolean => seen.lines().some((line) => line.trim() === 'yy')
    expect(await sees(seen, isTyped)).toBe(true)
    expect(existsSync(join(at.project, 'one.txt'))).toBe(false)
    await choose(seen, keys.down, 'Yes')
    expect(await sees(seen, 'done')).toBe(true)
    expect(existsSync(join(at.project, 'one.txt'))).toBe(true)
    // What was typed is not lost.
    expect(await sees(seen, isTyped)).toBe(true)
    seen.type(keys.ctrlC)
    await leave(seen)
  })
})

describe('what a question shows', () => {
  const cart = Array.from({ length: 30 }, (_, at) => `line ${at + 1} of the cart`).join('\n')

  it('[TE23] a change is a diff of the file on the disk: its line numbers, lines around, several places, what is overwritten', async () => {
    const { access } = await server([
      [call('Read', { file_path: 'cart.js' }), call('Read', { file_path: 'cart.test.js' })],
      [
        call('Edit', {
          file_path: 'cart.js',
          old_string: '0 of the cart',
          new_string: '0 of the shop',
          replace_all: true,
        }),
      ],
      [call('Write', { file_path: 'cart.test.js', content: '// tests removed\n' })],
      [call('Write', { file_path: 'fresh.js', content: 'a\nb\n' })],
      [call('Edit', { file_path: 'cart.js', old_string: 'not there at all', new_string: 'x' })],
      'all four',
    ])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'cart.js'), `${cart}\n`)
    await writeFile(join(at.project, 'cart.test.js'), 'test one\ntest two\ntest three\ntest four\n')
    const seen = open(at, [], 100)
    await sees(seen, '/help')
    await say(seen, 'change the cart')
    expect(await sees(seen, '@@ -7,7 +7,7 @@')).toBe(true)
    const edit = [
      'cart.js +3 −3',
      '@@ -7,7 +7,7 @@',
      ' line 9 of the cart',
      '-line 10 of the cart',
      '+line 10 of the shop',
      ' line 13 of the cart',
      '@@ -17,7 +17,7 @@',
      '@@ -27,4 +27,4 @@',
    ]
    for (const line of edit) expect(await sees(seen, line), line).toBe(true)
    await choose(seen, 'y', 'Yes')
    expect(await sees(seen, 'cart.test.js overwrites 4 lines +1 −4')).toBe(true)
    for (const line of ['-test one', '-test four', '+// tests removed'])
      expect(await sees(seen, line), line).toBe(true)
    // The log has the change that was made.
    for (const line of edit.slice(0, 5)) expect(seen.all()).toContain(line)
    await choose(seen, 'y', 'Yes')
    expect(await sees(seen, 'fresh.js new file +2 −0')).toBe(true)
    expect(seen.all()).toContain('cart.test.js overwrites 4 lines +1 −4')
    await choose(seen, 'y', 'Yes')
    expect(await sees(seen, 'this call will fail: old_string was not found')).toBe(true)
    await choose(seen, 'n', 'No')
    expect(await sees(seen, 'enter to send')).toBe(true)
    seen.type(keys.enter)
    expect(await sees(seen, 'all four')).toBe(true)
    await leave(seen)
  })

  it('[TE23] in line mode too', async () => {
    const { access } = await server([
      [call('Read', { file_path: 'cart.test.js' })],
      [call('Write', { file_path: 'cart.test.js', content: '// tests removed\n' })],
      'written',
    ])
    const at = await openWorkspace(access)
    await writeFile(join(at.project, 'cart.test.js'), 'test one\ntest two\ntest three\ntest four\n')
    const seen = open(at, ['--lines'])
    await sees(seen, '> ')
    seen.type('remove the tests\r')
    expect(await sees(seen, 'A letter selects')).toBe(true)
    for (const line of ['| cart.test.js overwrites 4 lines +1 −4', '| -test four', '| +// tests removed'])
      expect(seen.all()).toContain(line)
    seen.type('/answer\r')
    expect(await sees(seen, () => seen.all().split('A letter selects').length === 3)).toBe(true)
    seen.type('y\r')
    expect(await sees(seen, 'Yes: an empty line confirms')).toBe(true)
    seen.type('\r')
    expect(await sees(seen, 'written')).toBe(true)
    expect(seen.all()).toMatch(/^ {4}cart\.test\.js overwrites 4 lines \+1 −4$/m)
  })

  it('[TE24] a long change is shown whole, and answering works below it', async () => {
    const content = Array.from({ length: 160 }, (_, at) => `row ${at} of many`).join('\n')
    const { access } = await server([[call('Write', { file_path: 'long.txt', content })], 'written'])
    const at = await openWorkspace(access)
    const seen = open(at, [], 80)
    await sees(seen, '/help')
    await say(seen, 'write it')
    expect(await sees(seen, 'or a letter')).toBe(true)
    for (let row = 0; row < 160; row++) expect(seen.all()).toContain(`+row ${row} of many`)
    await choose(seen, 'y', 'Yes')
    expect(await sees(seen, 'written')).toBe(true)
    expect(await readFile(join(at.project, 'long.txt'), 'utf8')).toBe(content)
    expect(seen.all()).toMatch(/more lines/)
    await leave(seen)
  })

  it('[TE25] the rule that a longer answer sets is there whole at any width, with what cannot be seen written out', async () => {
    const command = `touch 'a\u001B]2;x' && for i in $(seq 1 400); do echo "$i of a rather long list of words" >> out.txt; done`
    const { access } = await server([[call('Bash', { command })], 'done'])
    const at = await openWorkspace(access)
    const seen = open(at, [], 100)
    await sees(seen, '/help')
    await say(seen, 'do it')
    await sees(seen, 'Yes')
    const bare = (text: string): string => text.replaceAll(/\s/g, '')
    const wanted = bare(command).replaceAll('\u001B', '\\x1b')
    const rules = (): number =>
      bare(seen.lines().join('\n'))
        .split(/allowsBash\(/)
        .filter((part) => part.startsWith(wanted)).length
    for (const columns of [40, 60, 80, 100, 200]) {
      seen.resize(columns, 60)
      expect(await sees(seen, () => rules() === 2), `${columns} columns:\n${seen.lines().join('\n')}`).toBe(
        true,
      )
    }
    expect(bare(seen.lines().join(''))).toContain('thisfolderisnottrusted')
    seen.type(keys.escape)
    expect(await sees(seen, isStopped)).toBe(true)
    await leave(seen)
  })

  it('[PM80] a rule for every project names the file of this one alone', async () => {
    const { access } = await server([[call('Write', { file_path: 'notes.md', content: 'x' })], 'done'])
    const at = await openWorkspace(access)
    const seen = open(at, [], 120)
    await sees(seen, '/help')
    await say(seen, 'note it')
    expect(await sees(seen, 'Yes, always')).toBe(true)
    await sees(seen, 'or a letter')
    seen.type('e')
    await sees(seen, '→ Yes, always')
    seen.type(keys.enter)
    expect(await sees(seen, 'done')).toBe(true)
    const settings = JSON.parse(await readFile(join(at.state, 'settings.json'), 'utf8')) as unknown
    expect(settings).toEqual({ allow: [`Edit(${join(at.project, 'notes.md')})`] })
    await leave(seen)
  })
})
