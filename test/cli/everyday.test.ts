// Commands people try first, through pal.
import { execFileSync } from 'node:child_process'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace, server } from './pal.ts'

const quiet = { PALIMPSEST_EXTRACTION: 'off', PALIMPSEST_NOTES: 'off' }

describe('a mistyped name', () => {
  it('[G71] of a command, an option or a setting is refused with the nearest there is', async () => {
    const { pal } = await openWorkspace()
    const tries = [
      [['stat'], "unknown command 'stat'. Did you mean 'stats'? To send a prompt use pal -p"],
      [
        ['--cwd', '.', 'sessions'],
        'the options before sessions are those of a prompt. Options of a command come after',
      ],
      [['-p', '--contineu'], "unknown option '--contineu'. (Did you mean --continue?)"],
      [['memory', 'shwo', 'x'], "pal memory has no 'shwo'. Did you mean 'show'? It has show, log, "],
      [['sessions', 'zzz'], "pal sessions has no 'zzz'. It has "],
      [['config', 'modle'], "unknown setting 'modle'. Did you mean 'model'?"],
      [['undo'], "missing required argument 'number'"],
    ] as const
    for (const [args, said] of tries) {
      const { code, err } = await pal(args)
      expect([code, err]).toEqual([2, expect.stringContaining(`pal: ${said}`)])
    }
  })

  it('[G71] of a model too, with a key or without one', async () => {
    for (const environment of [{}, { ANTHROPIC_API_KEY: 'sk-test' }] as readonly Record<string, string>[]) {
      const { pal } = await openWorkspace(environment)
      for (const [name, meant] of [
        ['claude-sonet-5', 'claude-sonnet-5'],
        ['haiku', 'claude-haiku-5-5'],
      ] as const) {
        const { code, err } = await pal(['-p', '--model', name, 'hi'])
        expect([code, err]).toEqual([
          2,
          expect.stringContaining(
            `pal: unknown model ${name}. Did you mean ${meant}? pal models lists them.`,
          ),
        ])
      }
    }
  })

  it('[TE29] in a conversation says what to type there', async () => {
    const { access } = await server(['Hello.'])
    const { pal } = await openWorkspace({ ...access, ...quiet })
    const input = 'hi\n/resume nope\n/config nope\n/undo 999\n/agents stop\n/agents merge\n'
    const { err } = await pal([], { input })
    expect(err).toContain('there is no session nope in this project. /resume lists them')
    expect(err).toContain("unknown setting 'nope'. /config lists them all")
    expect(err).toContain('there is no edit #999 to undo; /edits lists them')
    expect(err).toContain('usage: /agents stop ID; /agents lists the ids')
    expect(err).toContain('usage: /agents merge ID; /agents lists the ids')
    expect((await pal(['undo', '999'])).err).toContain('there is no edit #999 to undo; pal edits lists them')
  })
})

describe('lines that are for pal', () => {
  it('[TE30] [TE31] [G71] [G73] [G74] a shell command, a note, help, status, export, models and servers', async () => {
    const { access, simulator } = await server(['understood'])
    const at = await openWorkspace({ ...access, ...quiet, SECRET_TOKEN: 'not-for-the-model' })
    await writeFile(join(at.project, 'here.txt'), '')
    const { out, err } = await at.pal([], {
      input: [
        '?',
        '/exti',
        '!ls; echo "[$SECRET_TOKEN]"; exit 3',
        'what was that?',
        '#always run the linter first',
        '/memory',
        '/status',
        '/export talk.md',
        '/export talk.md',
        '/mcp',
        '/model',
        '/model opus',
        '/init',
        '/exit',
        'never said',
      ].join('\n'),
    })
    expect(out).toMatch(/^Session\n {2}\/resume \[ID\] /)
    expect(err).toContain('unknown command /exti. Did you mean /exit?')
    expect(out).toContain('here.txt\n[]\nexit code 3\n')
    const [asked] = simulator.log.requests
    expect(JSON.stringify(asked?.body)).toMatch(
      /The user ran this command.*\$ ls.*here\.txt.*what was that\?/s,
    )
    expect(out).toMatch(/project +note-\S+ +feedback +active +user .* always run the linter first/)
    expect(out).toMatch(/permission mode +default\n/)
    expect(await readFile(join(at.project, 'talk.md'), 'utf8')).toMatch(
      /## You\n\nwhat was that\?[\s\S]*understood/,
    )
    expect(err).toContain('the file exists already')
    expect(out).toContain('No MCP servers')
    expect(out).toMatch(/claude-opus-4-6 +1M +\$5\.00 +\$25\.00/)
    expect(err).toMatch(/unknown model opus\. Did you mean \/model claude-opus-\S+\?/)
    expect(err).toContain('/init asks first and needs a terminal')
    expect(await readdir(at.project)).not.toContain('AGENTS.md')
    expect(simulator.log.requests).toHaveLength(1)
  })
})

describe('what is empty or left as it is', () => {
  it('[G78] pal memory --why says that nothing is sent, and pal config lists every setting with its default', async () => {
    const at = await openWorkspace()
    const why = await at.pal(['memory', '--why'])
    expect([why.code, why.out]).toEqual([
      0,
      'No instruction files and no memories: nothing is sent before the first message.\n',
    ])
    const config = (await at.pal(['config'])).out
    expect(config).toMatch(/^model +\(the name of a model\) +default$/m)
    expect(config.match(/ default$/gm)?.length).toBeGreaterThan(40)
    expect((await at.pal(['--help'])).out).not.toMatch(/^ {2}prompt/m)
  })
})

describe('pal models and pal mcp', () => {
  it('[G73] [G74] list models with prices, and servers with their state', async () => {
    const at = await openWorkspace()
    const listed = JSON.parse((await at.pal(['models', '--json'])).out) as {
      current: string
      models: unknown[]
    }
    expect(listed.models.length).toBeGreaterThan(10)
    expect((await at.pal(['models'])).out).toMatch(new RegExp(`${listed.current} .* current`))
    await at.pal(['config', 'memory', 'false'])
    const broken = { mcpServers: { gone: { command: join(at.home, 'no-such-program') } } }
    await writeFile(join(at.state, 'mcp.json'), JSON.stringify(broken))
    const { code, out, err } = await at.pal(['mcp'])
    expect(out).toMatch(/gone +failed +0/)
    expect([code, err]).toEqual([1, expect.stringContaining('1 of 1 MCP servers cannot be reached: gone')])
  })
})

describe('pal completion', () => {
  it('[G72] completes commands, subcommands and options in bash, and names them for zsh and fish', async () => {
    const at = await openWorkspace()
    const script = (await at.pal(['completion', 'bash'])).out
    const complete = (...typed: readonly string[]): string =>
      execFileSync('bash', [
        '-c',
        `${script}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pal; echo "\${COMPREPLY[*]}"`,
        'bash',
        'pal',
        ...typed,
      ])
        .toString()
        .trim()
    expect(complete('sess')).toBe('sessions')
    expect(complete('sessions', 'de')).toBe('delete')
    expect(complete('compact', '--pre')).toBe('--preview')
    expect(complete('-p', '--max-c')).toBe('--max-cost')
    expect((await at.pal(['completion', 'zsh'])).out).toContain("'sessions:list the sessions")
    expect((await at.pal(['completion', 'fish'])).out).toContain(
      'complete -c pal -n __fish_use_subcommand -a sessions ',
    )
    expect((await at.pal(['completion', 'tcsh'])).code).toBe(2)
  })
})
