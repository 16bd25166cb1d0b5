// Twelve things people do every day, from the first start to the exit, in a narrow and in a wide terminal: each window is
// a page in test/golden/screens, so that a change of what people see is seen in review.
import { existsSync, readFileSync, readdirSync, readlinkSync, realpathSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, createSimulator } from '../../src/simulator/index.ts'
import { agent, cast, replies } from '../agents/simulated-agents.ts'
import { openWorkspace, server, until, type Workspace } from '../cli/pal.ts'
import { later } from '../e2e/simulated.ts'
import { openAlbum, type Album } from './picture.ts'
import { answer, say } from './seen.ts'
import { keys, runInTerminal, type SeenTerminal } from './terminal.ts'

type Steps = Parameters<typeof server>[0]

/** The command is a process, of this project and no other test's: only then is an interrupt one of a command. Where processes cannot be seen nobody waits. */
function isSleeping(folder: string): boolean {
  if (!existsSync('/proc/self/cmdline')) return true
  return readdirSync('/proc').some((name) => {
    if (!/^\d+$/u.test(name)) return false
    try {
      return (
        readFileSync(`/proc/${name}/cmdline`, 'utf8') === 'sleep\u0000600\u0000' &&
        readlinkSync(`/proc/${name}/cwd`) === realpathSync(folder)
      )
    } catch {
      return false
    }
  })
}

interface Desk {
  readonly at: Workspace
  readonly shop: string
  readonly open: (...words: readonly string[]) => SeenTerminal
  readonly album: Album
}

const quietly = {
  PALIMPSEST_EXTRACTION: 'off',
  PALIMPSEST_NOTES: 'off',
  PALIMPSEST_SANDBOX: 'off',
  PALIMPSEST_MODEL_SUMMARY: 'off',
}

/** A project below the user's home, so that its path is short wherever the tests run. */
async function desk(
  name: string,
  columns: number,
  access: Readonly<Record<string, string>>,
  files: Readonly<Record<string, string>> = {},
): Promise<Desk> {
  const at = await openWorkspace({ ...quietly, ...access }, '/tmp')
  const shop = join(at.home, 'shop')
  for (const [path, text] of Object.entries({ 'cart.js': cart, ...files })) {
    await mkdir(join(shop, path, '..'), { recursive: true })
    await writeFile(join(shop, path), text)
  }
  const open = (...words: readonly string[]): SeenTerminal =>
    runInTerminal(process.execPath, [at.file, ...words], {
      cwd: shop,
      environment: at.environment,
      columns,
      rows: 44,
    })
  return { at, shop, open, album: openAlbum(name, columns) }
}

const cart = `export function total(items) {
  let sum = 0
  for (const item of items) sum += item.price
  return sum
}
`
const started = '/help for commands'

async function leave(seen: SeenTerminal): Promise<void> {
  seen.type(keys.ctrlD)
  expect(await seen.ended).toBe(0)
}

const withServer = async (
  name: string,
  columns: number,
  steps: Steps,
  more: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Desk> => {
  const { access } = await server(steps)
  return desk(name, columns, { ...access, ...more }, files)
}

describe.skipIf(process.platform !== 'linux').each([60, 120])('at %d columns', (columns) => {
  it('[TE34] a first start: no key, then the question of trust, then the list of commands', async () => {
    const files = {
      'AGENTS.md': 'Use tabs.\n',
      '.mcp.json': '{"mcpServers": {"db": {"command": "db-server"}}}\n',
    }
    const nobody = await desk('01-first-start', columns, {}, files)
    const { album } = nobody
    const without = nobody.open()
    expect(await without.ended).toBe(1)
    await album.picture(without, 'pal, without a key', 'pal login')
    const { access } = await server([])
    const seen = runInTerminal(process.execPath, [nobody.at.file], {
      cwd: nobody.shop,
      environment: { ...nobody.at.environment, ...access },
      columns,
      rows: 44,
    })
    await album.picture(seen, 'pal, in a folder that brings settings', 'or a letter')
    await answer(seen, 'n', 'No')
    await album.picture(seen, 'No', /not in effect/)
    await say(seen, '?')
    await album.picture(seen, '?', 'Other input')
    await leave(seen)
    album.close()
  })

  it('[TE34] a task with approvals: an edit, a command, the answer', async () => {
    const { open, album } = await withServer('02-approvals', columns, [
      [call('Read', { file_path: 'cart.js' })],
      [
        call('Edit', {
          file_path: 'cart.js',
          old_string: 'sum += item.price',
          new_string: 'sum += item.price * item.count',
        }),
      ],
      [call('Bash', { command: 'npm run build -- --mode production --outDir dist && ls dist' })],
      'The total now counts **how many** of each item are in the cart.\n\n- `cart.js` line 3 multiplies by `item.count`\n- the build was not run',
    ])
    const seen = open()
    await album.picture(seen, 'pal', started)
    await say(seen, 'the total is wrong, please fix it')
    await album.picture(seen, 'a change needs approval', 'or a letter')
    await answer(seen, 'y', 'Yes')
    await album.picture(seen, 'Yes; then a command needs approval', /Bash[\s\S]*or a letter/)
    await answer(seen, 'n', 'No, and tell')
    await album.picture(seen, 'No', 'enter to send')
    seen.type('use vite')
    seen.type(keys.enter)
    await album.picture(seen, 'No, with a text: the end', 'was not run')
    await leave(seen)
    album.close()
  })

  it('[TE34] an interrupt: a command runs, escape ends it', async () => {
    const { open, shop, album } = await withServer(
      '03-interrupt',
      columns,
      [[call('Bash', { command: 'sleep 600' })], 'As you wish.'],
      { PALIMPSEST_ALLOW: 'Bash(sleep *)' },
    )
    const seen = open()
    await album.picture(seen, 'pal', started)
    await say(seen, 'run the slow tests')
    await album.picture(seen, 'a command runs', /⠋ Bash sleep 600/)
    await until(() => isSleeping(shop), 'the command to run')
    seen.type(keys.escape)
    await album.picture(seen, 'escape', 'Interrupted')
    await say(seen, 'only the fast ones')
    await album.picture(seen, 'and on with it', 'As you wish.')
    await leave(seen)
    album.close()
  })

  it('[TE34] a queue: what is typed while a turn runs reaches it', async () => {
    const wait = 'until [ -e go ]; do sleep 0.1; done; echo gone'
    const { open, shop, album } = await withServer(
      '04-queue',
      columns,
      [[call('Bash', { command: wait })], 'Done, with British spelling.'],
      { PALIMPSEST_PERMISSION_MODE: 'default', PALIMPSEST_ALLOW: 'Bash' },
    )
    const seen = open()
    await album.picture(seen, 'pal', started)
    await say(seen, 'write the docs')
    await album.picture(seen, 'a turn runs', /⠋ Bash until/)
    await say(seen, 'in British spelling')
    await album.picture(seen, 'more is said meanwhile', '1 queued')
    await writeFile(join(shop, 'go'), '')
    await album.picture(seen, 'the end', 'Done, with British')
    await leave(seen)
    album.close()
  })

  it('[TE34] a resume: the session is chosen from a list and shown', async () => {
    const { at, shop, open, album } = await withServer('05-resume', columns, [
      [call('Glob', { pattern: '*.js' })],
      'There is one file, `cart.js`.',
      'Plums.',
      'It has five lines.',
    ])
    await at.pal(['-p', '--cwd', shop, 'which files are there?'])
    await at.pal(['-p', '--cwd', shop, 'pears or plums?'])
    const seen = open('--resume')
    await album.picture(seen, 'pal --resume', 'Which session?')
    seen.type(keys.down)
    seen.type(keys.enter)
    await album.picture(seen, 'the older one', 'There is one file')
    await say(seen, 'how long is it?')
    await album.picture(seen, 'and on with it', 'five lines')
    await leave(seen)
    album.close()
  })

  const notes = {
    'notes.txt': 'The parser reads one token at a time and keeps what it has seen.\n'.repeat(400),
  }
  const read = [call('Read', { file_path: 'notes.txt' })]
  const small = { PALIMPSEST_WINDOW: '60000', PALIMPSEST_THRIFT: '0.4' }

  it('[TE34] a rewind past a compaction', async () => {
    const steps = [read, 'It keeps every token.', 'Because of the lexer.', 'Anew.']
    const { open, album } = await withServer('06-rewind', columns, steps, small, notes)
    const seen = open()
    await album.picture(seen, 'pal', started)
    await say(seen, 'explain the parser')
    await album.picture(seen, 'the notes are read', 'It keeps every token.')
    await say(seen, 'and why is it slow?')
    await album.picture(seen, 'another', 'Because of the lexer.')
    await say(seen, '/compact')
    await album.picture(seen, '/compact', /undo \d+ restores/)
    await say(seen, '/rewind')
    await album.picture(seen, '/rewind', 'which message?')
    seen.type(keys.down)
    seen.type(keys.enter)
    await album.picture(seen, 'the first message', 'Restore the files')
    seen.type(keys.enter)
    await album.picture(seen, 'files stay', 'rewound to before')
    seen.type(keys.enter)
    await album.picture(seen, 'it is said again', 'Anew.')
    await leave(seen)
    album.close()
  })

  it('[TE34] an undo: the list of edits, undo and release', async () => {
    const steps = [read, 'It keeps every token.', 'Because of the lexer.']
    const { open, album } = await withServer('07-undo', columns, steps, small, notes)
    const seen = open()
    await album.picture(seen, 'pal', started)
    await say(seen, 'explain the parser')
    await album.picture(seen, 'the notes are read', 'It keeps every token.')
    await say(seen, 'and why is it slow?')
    await album.picture(seen, 'another', 'Because of the lexer.')
    await say(seen, '/compact')
    await album.picture(seen, '/compact', /undo \d+ restores/)
    await say(seen, '/edits')
    await album.picture(seen, '/edits', 'Savings are')
    await say(seen, `/undo ${/undo (\d+)\s+restores/.exec(seen.all())?.[1]}`)
    await album.picture(seen, '/undo', /release\s+\d+/)
    await say(seen, `/release ${/release\s+(\d+)/.exec(seen.all())?.[1]}`)
    await album.picture(seen, '/release', 'is released')
    await leave(seen)
    album.close()
  })

  it('[TE34] another model, and the status', async () => {
    const { open, album } = await withServer('08-model', columns, ['Hello.'])
    const seen = open()
    await album.picture(seen, 'pal', started)
    await say(seen, '/model')
    await album.picture(seen, '/model', 'Which model?')
    seen.type(keys.down)
    seen.type(keys.enter)
    await album.picture(seen, 'the next one', 'Model set to')
    await say(seen, '/model claude-sonet-5')
    await album.picture(seen, 'a name with a typo', 'unknown model')
    await say(seen, '/status')
    await album.picture(seen, '/status', 'permission mode')
    await leave(seen)
    album.close()
  })

  it('[TE34] an MCP server: its tools are listed and called', async () => {
    const name = 'mcp__notes__repeat'
    const { access } = await server([[call(name, { words: 'buy milk' })], 'Your note says: buy milk.'])
    const made = await desk('09-mcp', columns, access)
    const program = join(import.meta.dirname, '..', 'extensions', 'tool-server.mjs')
    await mkdir(made.at.state, { recursive: true })
    await writeFile(
      join(made.at.state, 'mcp.json'),
      JSON.stringify({ mcpServers: { notes: { command: process.execPath, args: [program] } } }),
    )
    let [seen, album] = [made.open(), made.album]
    for (let time = 1; ; time++) {
      await album.picture(seen, 'pal', started)
      await say(seen, '/mcp')
      await until(() => /notes +(connected|late)/u.test(seen.lines().join('\n')), 'the list of servers')
      if (time === 4 || !/notes +late/u.test(seen.lines().join('\n'))) break
      // A start at a screen waits for a moment only: on a busy machine the server was late, and the next start is looked at.
      await leave(seen)
      ;[seen, album] = [made.open(), openAlbum('09-mcp', columns)]
    }
    await album.picture(seen, '/mcp', /notes +connected/)
    await say(seen, 'what is on my list?')
    await album.picture(seen, 'its tool needs approval', 'or a letter')
    await answer(seen, 's', 'Yes, for this session')
    await album.picture(seen, 'Yes, for this session', 'Your note says')
    await leave(seen)
    album.close()
  })

  it('[TE34] memory: a note, the list, a search', async () => {
    const { open, album } = await withServer('10-memory', columns, ['We use tabs.'])
    const seen = open()
    await album.picture(seen, 'pal', started)
    await say(seen, '#indent with tabs, never with spaces')
    await album.picture(seen, '#indent with tabs, never with spaces', 'Saved to memory')
    await say(seen, '/memory')
    await album.picture(seen, '/memory', 'active')
    await say(seen, '/memory database')
    await album.picture(seen, '/memory database', 'no memory matches')
    await leave(seen)
    album.close()
  })

  it('[TE34] agents: one works, reports and is listed', async () => {
    const simulator = createSimulator({
      answerer: cast([
        { when: 'count the functions', answers: ['There is one function, total.'] },
        {
          when: 'main',
          answers: replies({
            'how many functions': [agent('count functions', 'count the functions in cart.js')],
          }),
        },
      ]),
    })
    const { url } = await simulator.start()
    later(() => simulator.stop())
    const { open, album } = await desk('11-agents', columns, { ANTHROPIC_BASE_URL: url })
    const seen = open()
    await album.picture(seen, 'pal', started)
    await say(seen, 'how many functions are there?')
    await album.picture(seen, 'an agent has looked', 'noted')
    await say(seen, '/agents')
    await album.picture(seen, '/agents', /count functions[\s\S]*explore/i)
    await say(seen, '/tasks')
    await album.picture(seen, '/tasks', 'no background tasks')
    await leave(seen)
    album.close()
  })

  it('[TE34] the exit: an emptied line, a warning, a farewell that says how to go on', async () => {
    const { open, album } = await withServer('12-exit', columns, ['Hello.'])
    const seen = open()
    await album.picture(seen, 'pal', started)
    await say(seen, 'hello')
    await album.picture(seen, 'a turn', 'Hello.')
    await say(seen, '/exti')
    await album.picture(seen, '/exti', 'unknown command')
    seen.type(keys.ctrlC)
    await album.picture(seen, 'ctrl+c', 'ctrl+c again')
    await say(seen, '/exit')
    expect(await seen.ended).toBe(0)
    await album.picture(seen, '/exit', 'pal --continue')
    album.close()
  })
})
