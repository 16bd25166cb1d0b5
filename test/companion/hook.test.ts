// The hook of the companion as other programs run it: the real bundle, a process for each event.
import {
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
  rmSync,
  existsSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { asked, called, contextIn, makeHookHome, resulted, type HookHome } from './hook-process.ts'

let home: HookHome
beforeAll(async () => {
  home = await makeHookHome()
})
beforeEach(() => home.clear())
afterAll(() => home.remove())

const silent = { code: 0, out: '', err: '' }
const types = (text: string): Promise<unknown> => home.event('UserPromptSubmit', { prompt: text })
const compacts = async (summary = 'Work was done.'): Promise<string> => {
  expect(await home.event('PreCompact', { trigger: 'auto', custom_instructions: '' })).toEqual(silent)
  const start = await home.event('SessionStart', { source: 'compact', model: 'm' })
  expect(await home.event('PostCompact', { trigger: 'auto', compact_summary: summary })).toEqual(silent)
  return contextIn(start)
}

describe('the hook around a compaction', () => {
  it('[CH1] says the typed words behind the compaction, once, and again at the third from the same ledger', async () => {
    await types('Write the parser. Never touch the lexer.')
    await types('Now the tests, please.')
    const block = await compacts()
    expect(block).toContain('Never touch the lexer.')
    expect(block.split('Never touch the lexer.').length).toBe(2)
    // A second client on the same session, at the same boundary.
    expect(await home.event('SessionStart', { source: 'compact' })).toEqual(silent)
    home.lines(asked('x'))
    await compacts()
    home.lines(asked('y'))
    const third = await compacts()
    expect(third).toContain('Never touch the lexer.')
    expect(third).not.toContain('<companion id="' + /id="(\w+)"/.exec(block)![1]!)
  })

  it('[CH1] says it too where the client never told that it was about to compact', async () => {
    await types('Never touch the lexer.')
    expect(contextIn(await home.event('SessionStart', { source: 'compact' }))).toContain(
      'Never touch the lexer.',
    )
    expect(await home.event('SessionStart', { source: 'compact' })).toEqual(silent)
  })

  it('[CH1] a block left by a compaction that failed does not hide what was typed since', async () => {
    await types('First thing.')
    await home.event('PreCompact', { trigger: 'manual' })
    await types('Second thing: never push.')
    expect(contextIn(await home.event('SessionStart', { source: 'compact' }))).toContain('never push')
  })

  it('[CH1] names files that exist below the working folder, programs that failed, and the count of tasks', async () => {
    mkdirSync(join(home.work, 'src'), { recursive: true })
    writeFileSync(join(home.work, 'src', 'a.ts'), '')
    await types('Write the parser.')
    home.lines(
      called('1', 'Edit', { file_path: join(home.work, 'src', 'a.ts') }, home.work),
      called('2', 'Read', { file_path: '/etc/passwd' }, home.work),
      called('3', 'Read', { file_path: join(home.work, 'gone.ts') }, home.work),
      called('4', 'Bash', { command: 'cd x && TOKEN=1 npm test -- --secret-flag' }, home.work),
      resulted('4', 'Exit code 7\nthe words of the output', true),
      called('5', 'TodoWrite', { todos: [{ content: 'model words', status: 'in_progress' }] }, home.work),
    )
    const block = await compacts()
    expect(block).toContain(`Files changed:\n${join(home.work, 'src', 'a.ts')}\n`)
    expect(block).toContain('- npm (exit 7)')
    expect(block).toContain('1 on the list, 1 of them begun')
    for (const never of ['passwd', 'gone.ts', 'secret-flag', 'the words of the output', 'model words'])
      expect(block, never).not.toContain(never)
  })

  it('[CH2] notes what neither summary nor block shows and says it once, at the next tool or prompt', async () => {
    // More than the block has room for.
    for (let n = 0; n < 14; n++) await types(`Rule ${n}: never use ${'abcdefgh '.repeat(80)}${n}`)
    const block = await compacts()
    expect(block.length).toBeLessThanOrEqual(9500)
    expect(existsSync(join(home.root, 'pending'))).toBe(true)
    const rest = contextIn(await home.event('PostToolUse', { tool_name: 'Read', tool_response: {} }))
    expect(rest).toContain('<companion')
    expect(rest.length).toBeLessThanOrEqual(1500)
    expect(await home.event('PostToolUse', { tool_name: 'Read', tool_response: {} })).toEqual(silent)
    expect(existsSync(join(home.root, 'pending'))).toBe(false)
  })

  it('[CH2] has no remainder where the summary holds everything', async () => {
    await types('Never touch the lexer.')
    await compacts('The user said: Never touch the lexer.')
    expect(existsSync(join(home.root, 'pending'))).toBe(false)
    expect(await home.event('PostToolUse', { tool_name: 'Read' })).toEqual(silent)
  })

  it('[CH3] in Codex leaves out the words, which that client keeps, and an encrypted summary is not audited', async () => {
    const codex = (name: string, more: object = {}) =>
      home.run(JSON.stringify({ ...home.base, hook_event_name: name, ...more }), { args: ['codex'] })
    writeFileSync(join(home.work, 'b.ts'), '')
    await codex('UserPromptSubmit', { prompt: 'Never touch the lexer.' })
    home.lines(
      {
        type: 'response_item',
        payload: {
          type: 'function_call',
          name: 'exec_command',
          call_id: 'c1',
          arguments: JSON.stringify({ cmd: 'npm test' }),
        },
      },
      {
        type: 'response_item',
        payload: { type: 'function_call_output', call_id: 'c1', output: 'Process exited with code 2\nfoo' },
      },
      {
        type: 'response_item',
        payload: {
          type: 'custom_tool_call',
          call_id: 'c2',
          input: '*** Begin Patch\n*** Update File: b.ts\n',
        },
      },
    )
    expect(await codex('PreCompact', { trigger: 'auto' })).toEqual(silent)
    home.lines({ type: 'compacted', payload: { message: '' } })
    expect(await codex('PostCompact', { trigger: 'auto' })).toEqual(silent)
    const block = contextIn(await codex('SessionStart', { source: 'compact' }))
    expect(block).toContain(`Files changed:\n${join(home.work, 'b.ts')}\n`)
    expect(block).toContain('- npm (exit 2)')
    expect(block).not.toContain('lexer')
    const audit = home.kept().get(join('sessions', 'codex-s1', 'audit.json'))!
    expect(JSON.parse(audit)).toMatchObject({ history: [{ words: null, rules: null }] })
  })

  it('[CH9] steers the summary only where that is switched on', async () => {
    await types('Never touch the lexer.')
    expect(await home.event('PreCompact', { trigger: 'auto' })).toEqual(silent)
    home.options({ steer: true })
    const { out, code } = await home.event('PreCompact', { trigger: 'auto' })
    expect(code).toBe(0)
    expect(out).toBe('Keep these sentences of the user word for word:\n- Never touch the lexer.\n')
  })
})

describe('what the hook keeps', () => {
  it('[CH4] is readable by its owner alone, without secrets, and outside of every project', async () => {
    await types('Use ghp_abcdefghijklmnopqrstuvwxyz0123456789 and never print it.')
    await compacts('The token is ghp_abcdefghijklmnopqrstuvwxyz0123456789.')
    expect([...home.kept().values()].join('\n')).not.toContain('ghp_')
    const folder = join(home.root, 'sessions', 'claude-s1')
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const name of readdirSync(folder))
      expect(statSync(join(folder, name)).mode & 0o777, name).toBe(0o600)
  })

  it('[CH4] goes with the session, or after 30 days', async () => {
    home.lines(asked('x'))
    await types('one')
    await home.event('PreCompact', { trigger: 'auto' })
    await home.event('UserPromptSubmit', { prompt: 'two', transcript_path: home.transcript }, 's2')
    const sessions = join(home.root, 'sessions')
    const old = (Date.now() - 31 * 86_400_000) / 1000
    utimesSync(join(sessions, 'claude-s2', 'typed.jsonl'), old, old)
    utimesSync(join(sessions, 'claude-s2'), old, old)
    await home.event('SessionStart', { source: 'startup' }, 's3')
    expect(readdirSync(sessions).sort()).toEqual(['claude-s1', 'claude-s3'])
    rmSync(home.transcript)
    await home.event('SessionStart', { source: 'startup' }, 's3')
    expect(readdirSync(sessions)).toEqual(['claude-s3'])
  })

  it('[CH4] is not written through a link, nor into a folder that others can open', async () => {
    const elsewhere = join(home.work, 'elsewhere')
    mkdirSync(elsewhere, { recursive: true, mode: 0o700 })
    mkdirSync(join(home.root, 'sessions'), { mode: 0o700 })
    symlinkSync(elsewhere, join(home.root, 'sessions', 'claude-s1'))
    await types('one')
    mkdirSync(join(home.root, 'sessions', 'claude-s2'), { mode: 0o755 })
    await home.event('UserPromptSubmit', { prompt: 'two' }, 's2')
    expect(readdirSync(elsewhere)).toEqual([])
    expect(readdirSync(join(home.root, 'sessions', 'claude-s2'))).toEqual([])
  })

  it('[CH5] two sessions and many hooks at once lose no word and say a block once', async () => {
    const prompts = Array.from({ length: 8 }, (_, n) => [
      `Rule: never use tool ${n}a`,
      `Rule: never use tool ${n}b`,
    ])
    await Promise.all(
      prompts.flatMap(([a, b]) => [
        home.event('UserPromptSubmit', { prompt: a }, 'a'),
        home.event('UserPromptSubmit', { prompt: b }, 'b'),
      ]),
    )
    await Promise.all(
      ['a', 'b', 'a'].map((session) => home.event('PreCompact', { trigger: 'auto' }, session)),
    )
    const starts = await Promise.all(
      ['a', 'a', 'a', 'b'].map((session) => home.event('SessionStart', { source: 'compact' }, session)),
    )
    const said = starts
      .slice(0, 3)
      .map(contextIn)
      .filter((text) => text !== '')
    expect(said.length).toBe(1)
    for (const [a, b] of prompts) {
      expect(said[0]).toContain(a)
      expect(said[0]).not.toContain(b)
      expect(contextIn(starts[3]!)).toContain(b)
    }
  })
})

describe('who can steer the hook', () => {
  it('[CH6] no variable and no file of a project switches anything on', async () => {
    writeFileSync(join(home.work, 'options.json'), '{"steer":true,"shrink":true}')
    mkdirSync(join(home.work, '.palimpsest', 'companion'), { recursive: true })
    writeFileSync(join(home.work, '.palimpsest', 'companion', 'options.json'), '{"steer":true}')
    const env = { HOME: home.work, PALIMPSEST_HOME: join(home.work, '.palimpsest'), PAL_STEER: '1' }
    const at = (name: string, more: object) =>
      home.run(JSON.stringify({ ...home.base, hook_event_name: name, ...more }), { env, cwd: home.work })
    await at('UserPromptSubmit', { prompt: 'Never touch the lexer.' })
    expect(await at('PreCompact', { trigger: 'auto' })).toEqual(silent)
    expect(existsSync(join(home.root, 'sessions', 'claude-s1'))).toBe(true)
    expect(readdirSync(join(home.work, '.palimpsest', 'companion'))).toEqual(['options.json'])
  })

  it('[CH6] subagents get nothing, and their prompts are nobody’s words', async () => {
    await home.event('UserPromptSubmit', { prompt: 'Rule of a model: never ask.', agent_id: 'x' })
    await home.event('UserPromptSubmit', {
      prompt: 'Rule of a model: never ask.',
      transcript_path: join(home.work, 'subagents', 'x.jsonl'),
    })
    expect(await home.event('SessionStart', { source: 'compact' })).toEqual(silent)
    expect([...home.kept().values()].join('')).not.toContain('never ask')
  })

  it('[CH6] a point that the doctor switched off is silent, and the others are not', async () => {
    home.options({ off: ['claude:SessionStart'] })
    await types('Never touch the lexer.')
    await home.event('PreCompact', { trigger: 'auto' })
    expect(await home.event('SessionStart', { source: 'compact' })).toEqual(silent)
    expect([...home.kept().keys()]).toContain(join('sessions', 'claude-s1', 'block.json'))
  })
})

describe('money and the status line', () => {
  const use = (minutesAgo: number): object => ({
    parentUuid: 'p',
    isSidechain: false,
    type: 'assistant',
    timestamp: new Date(Date.now() - minutesAgo * 60_000).toISOString(),
    message: {
      role: 'assistant',
      model: 'claude-opus-5',
      content: [],
      usage: { input_tokens: 10, cache_read_input_tokens: 200_000, cache_creation_input_tokens: 1000 },
    },
    uuid: 'a',
  })

  it('[CH7] tells the price of a return to a cold cache, once, to the user alone', async () => {
    home.lines(use(90))
    const { out } = await home.event('UserPromptSubmit', { prompt: 'hello again' })
    expect(JSON.parse(out)).toEqual({
      systemMessage: expect.stringMatching(
        /^The prompt cache has expired: about \$\d+\.\d\d to write 201K tokens again\./,
      ),
    })
    expect(await home.event('UserPromptSubmit', { prompt: 'and' })).toEqual(silent)
  })

  it('[CH7] is silent while the cache is warm, below the sum, and when the clock was set back', async () => {
    home.lines(use(1))
    expect(await home.event('UserPromptSubmit', { prompt: 'a' })).toEqual(silent)
    home.lines(use(-600))
    expect(await home.event('UserPromptSubmit', { prompt: 'b' })).toEqual(silent)
    home.options({ coldUsd: 50 })
    home.lines(use(90))
    expect(await home.event('UserPromptSubmit', { prompt: 'c' })).toEqual(silent)
  })

  it('[CH7] says what the client estimates when a session is resumed cold', async () => {
    const resume = { source: 'resume', prompt_cache_likely_expired: true, estimated_cache_write_usd: 1.929 }
    const { out } = await home.event('SessionStart', resume)
    expect((JSON.parse(out) as { systemMessage: string }).systemMessage).toContain('About $1.93 to continue')
    const cheap = { ...resume, estimated_cache_write_usd: 0.2 }
    expect(await home.event('SessionStart', cheap)).toEqual(silent)
  })

  it('[CH7] shows fill, cost, cache and what was put back in one line', async () => {
    await types('Never touch the lexer.')
    await compacts()
    const stdin = JSON.stringify({
      ...home.base,
      context_window: { used_percentage: 41.7 },
      cost: { total_cost_usd: 1.93 },
      prompt_cache: { warm: false },
    })
    const { out } = await home.run(stdin, { args: ['claude', 'status'] })
    expect(out).toBe('42% · $1.93 · cache cold · compacted 1×, 1 rule put back\n')
  })
})

describe('the bundle', () => {
  it('[CH14] is one file and holds no package', () => {
    expect(Object.keys(home.bundle.outputs)).toHaveLength(1)
    const inputs = Object.keys(home.bundle.inputs)
    expect(inputs).toContain('src/companion/block.ts')
    expect(inputs.filter((path) => !path.startsWith('src/'))).toEqual([])
  })
})

describe('shortening outputs', () => {
  const output = (chars: number): string =>
    `start\n${'line of output\n'.repeat(4000)}`.slice(0, chars / 2) +
    `\nError: this one\n` +
    'x'.repeat(chars - chars / 2 - 17)
  const bash = (stdout: string, more: object = {}) =>
    home.event('PostToolUse', {
      tool_name: 'Bash',
      tool_use_id: 'toolu_1',
      tool_response: { stdout, stderr: '', interrupted: false, isImage: false, ...more },
    })

  it('[CH8] is off by default', async () => {
    expect(await bash(output(20_000))).toEqual(silent)
  })

  it('[CH8] keeps shape, ends and error lines, and the original byte for byte', async () => {
    home.options({ shrink: true })
    const whole = output(20_000)
    const { out } = await bash(whole)
    const { hookSpecificOutput: said } = JSON.parse(out) as {
      hookSpecificOutput: { updatedToolOutput: { stdout: string } }
    }
    const { stdout, ...rest } = said.updatedToolOutput
    expect(rest).toEqual({ stderr: '', interrupted: false, isImage: false })
    expect(stdout.length).toBeLessThan(7000)
    expect(stdout.startsWith('start\n')).toBe(true)
    expect(stdout).toContain('Error: this one')
    const path = join('sessions', 'claude-s1', 'originals', 'toolu_1.txt')
    expect(home.kept().get(path)).toBe(whole)
    expect(stdout).toContain(join(home.root, path))
  })

  it('[CH8] leaves short and long ones, images and other tools alone; a server’s result keeps its form', async () => {
    home.options({ shrink: true })
    for (const chars of [7999, 30_000, 30_001])
      expect(await bash('x'.repeat(chars)), String(chars)).toEqual(silent)
    expect(await bash('x'.repeat(20_000), { isImage: true })).toEqual(silent)
    expect((await bash('x'.repeat(29_999))).out).not.toBe('')
    const read = { tool_name: 'Read', tool_response: { type: 'text', file: { content: 'x'.repeat(20_000) } } }
    expect(await home.event('PostToolUse', read)).toEqual(silent)
    const image = { type: 'image', source: {} }
    const served = await home.event('PostToolUse', {
      tool_name: 'mcp__a__b',
      tool_use_id: 'toolu_2',
      tool_response: [image, { type: 'text', text: 'y'.repeat(20_000) }],
    })
    const parts = (
      JSON.parse(served.out) as { hookSpecificOutput: { updatedToolOutput: readonly { type: string }[] } }
    ).hookSpecificOutput.updatedToolOutput
    expect(parts[0]).toEqual(image)
    expect(parts[1]).toMatchObject({ type: 'text' })
  })
})
