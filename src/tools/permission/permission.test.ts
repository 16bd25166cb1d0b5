// Rules, modes, paths and questions, in a real folder with a real tool list.
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../disk/fs.ts'
import type { GivenRule, RuleList } from '../../settings/rule-list.ts'
import type { ToolUseBlock } from '../../transcript/content.ts'
import { createReadFiles } from '../files/read-files.ts'
import { standardTools } from '../index.ts'
import { createPathGate } from '../files/path-gate.ts'
import { runCalls } from '../run.ts'
import type { Tool, ToolEnv } from '../tool.ts'
import { createPermission, type PermissionOptions } from './permission.ts'
import type { Answer, Question } from './question.ts'
import type { PermissionMode } from './pipeline.ts'
import { ruleEverywhere } from './rule.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-permission-')))
const root = join(base, 'project')
const home = join(base, 'home')
for (const folder of [
  join(root, 'src'),
  join(root, '.git'),
  join(home, '.ssh'),
  join(home, 'notes'),
  join(base, 'project-evil'),
])
  mkdirSync(folder, { recursive: true })
for (const file of [
  'project/src/a.ts',
  'project/.env',
  'home/.ssh/id_rsa',
  'home/notes/n.md',
  'project-evil/x',
  'outside.txt',
])
  writeFileSync(join(base, file), 'text\n')
symlinkSync(join(base, 'outside.txt'), join(root, 'link.txt'))
symlinkSync(join(root, '.git'), join(root, 'innocent'))
afterAll(() => rmSync(base, { recursive: true }))

const given = (list: RuleList, ...texts: string[]): GivenRule[] =>
  texts.map((text) => ({ list, text, source: 'user' }))
const permission = (
  rules: readonly GivenRule[] = [],
  mode: PermissionMode = 'default',
  more: Partial<PermissionOptions> = {},
) => createPermission({ fs: machineFileSystem, root, cwd: root, home, rules, mode, ...more })
const kindOf = async (
  name: string,
  input: Record<string, unknown>,
  rules: readonly GivenRule[] = [],
  mode: PermissionMode = 'default',
) => (await permission(rules, mode).judge({ name, input }, false)).kind
const reads = (file_path: string, ...rules: GivenRule[]) => kindOf('Read', { file_path }, rules)
const edits = (file_path: string, rules: readonly GivenRule[] = [], mode: PermissionMode = 'default') =>
  kindOf('Edit', { file_path, old_string: 'a', new_string: 'b' }, rules, mode)

describe('file tools', () => {
  it('[PM12] reading is free in the project by its real path, and asked about outside or where keys lie', async () => {
    expect(await reads('src/a.ts')).toBe('allow')
    expect(await reads(join(root, 'nothing-yet'))).toBe('allow')
    for (const path of [
      '../outside.txt',
      'link.txt',
      '/etc/passwd',
      '~/notes/n.md',
      '../project-evil/x',
      '.env',
      'src/../.ENV',
      '~/.ssh/id_rsa',
      'src/../../outside.txt',
    ])
      expect([path, await reads(path)]).toEqual([path, 'ask'])
    expect(await kindOf('Grep', { pattern: 'x', path: '..' })).toBe('ask')
    expect(await kindOf('Glob', { pattern: 'x' })).toBe('allow')
    expect(await reads('/etc/passwd', ...given('allow', 'Read'))).toBe('ask')
    expect(await reads('~/notes/n.md', ...given('allow', 'Read(~/notes/**)'))).toBe('allow')
    expect(await reads('~/.ssh/id_rsa', ...given('allow', 'Read(~/notes/**)'))).toBe('ask')
    expect(await reads('link.txt', ...given('allow', 'Read(link.txt)'))).toBe('ask')
    expect(await reads('link.txt', ...given('deny', `Read(${base}/outside.txt)`))).toBe('deny')
    expect(await reads('src/a.ts', ...given('deny', 'Read(src/**)'), ...given('allow', 'Read(src/**)'))).toBe(
      'deny',
    )
  })

  it('[PM6] the rule offered for a file lets that file be changed and no other, whatever its name', async () => {
    const names = [
      'README.md',
      'app/[id]/page.ts',
      '[id].ts',
      '{a,b}.ts',
      'docs/**',
      '*',
      'a\\b',
      '!x.ts',
      '~a',
      '$HOME/x',
      ' lead',
      'trail ',
      'a(b',
    ]
    const question = (file_path: string) =>
      permission().judge({ name: 'Write', input: { file_path, content: 'x' } }, false)
    for (const name of names) {
      const { offers } = await question(name)
      const here = given('allow', ...offers)
      const everywhere = given('allow', ...offers.map((rule) => ruleEverywhere(rule, root)))
      for (const rules of [here, everywhere]) {
        expect([name, await edits(name, rules)]).toEqual([name, 'allow'])
        expect([name, await edits(`deep/${name}`, rules)]).toEqual([name, 'ask'])
        expect([name, await edits('app/i/page.ts', rules)]).toEqual([name, 'ask'])
        expect([name, await edits('docs/x', rules)]).toEqual([name, 'ask'])
      }
    }
    const outside = join(base, '[o]', 'x.txt')
    const { offers } = await permission().judge({ name: 'Read', input: { file_path: outside } }, true)
    expect(await reads(outside, ...given('allow', ...offers))).toBe('allow')
    expect(await reads(join(base, 'o', 'x.txt'), ...given('allow', ...offers))).toBe('ask')
    const url = 'http://[2606:4700::1111]/'
    const web = await permission().judge({ name: 'WebFetch', input: { url } }, false)
    expect(await kindOf('WebFetch', { url }, given('allow', ...web.offers))).toBe('allow')
  })

  it('[PM12] an output kept beside a session of this project is free to read, and nothing else there is', async () => {
    const sessions = join(home, '.palimpsest', 'projects', 'p', 'sessions')
    mkdirSync(join(sessions, 's', 'tool-results'), { recursive: true })
    const kind = async (file_path: string) =>
      (await permission([], 'default', { sessions }).judge({ name: 'Read', input: { file_path } }, true)).kind
    expect(await kind(join(sessions, 's', 'tool-results', 'c.txt'))).toBe('allow')
    for (const path of [
      's/transcript.jsonl',
      's/tool-results/../transcript.jsonl',
      '../../../credentials.json',
      '../tool-results/x',
    ])
      expect([path, await kind(join(sessions, path))]).toEqual([path, 'ask'])
  })

  it('[PM13] changing asks in the project and beyond it, and is refused for protected names, whatever the rules and the mode', async () => {
    expect(await edits('src/a.ts')).toBe('ask')
    expect(await edits('src/a.ts', given('allow', 'Edit(src/**)'))).toBe('allow')
    expect(await edits('src/a.ts', given('allow', 'Edit'))).toBe('allow')
    expect(await edits('../outside.txt', given('allow', 'Edit'))).toBe('ask')
    expect(await edits('link.txt', given('allow', 'Edit'))).toBe('ask')
    expect(await edits('../project-evil/x', given('allow', 'Edit'))).toBe('ask')
    expect(await edits('src/a.ts', [], 'acceptEdits')).toBe('allow')
    expect(await edits('../outside.txt', [], 'acceptEdits')).toBe('ask')
    const protectedPaths = [
      '.git/hooks/x',
      '.GIT/config',
      'innocent/config',
      '.palimpsest/settings.json',
      '~/.bashrc',
      '~/.ssh/authorized_keys',
      'src/.git/x',
      '.mcp.json',
      '/dev/sda',
    ]
    for (const path of protectedPaths)
      for (const mode of ['default', 'acceptEdits', 'bypass'] as const)
        expect([path, await edits(path, given('allow', 'Edit(**)', 'Edit'), mode)]).toEqual([path, 'deny'])
  })

  it('[PM14] a file outside is read or written by the tool only after that was let through', async () => {
    const asked = permission([], 'default', { askUser: async () => ({ kind: 'once' }) })
    const standard = standardTools({
      fs: machineFileSystem,
      environment: {},
      unique: () => 'u',
      roots: [root],
      home,
      grants: asked.grants,
      ripgrep: null,
    })
    const env = (): ToolEnv => ({
      cwd: root,
      callId: 'c',
      readFiles: createReadFiles(),
      spill: null,
      expand: async () => ({ ok: false, why: '' }),
      isShown: () => false,
      report: () => {},
      now: () => 0,
    })
    const run = async (name: string, input: Record<string, unknown>, mayRun?: typeof asked.mayRun) => {
      const call: ToolUseBlock = { type: 'tool_use', id: 'c', name, input }
      for await (const { outcome } of runCalls([call], {
        tools: standard.tools,
        env,
        signal: new AbortController().signal,
        mayRun,
      }))
        return outcome
      throw new Error('no result')
    }
    const path = join(base, 'outside.txt')
    expect((await run('Read', { file_path: path })).isError).toBe(true)
    expect((await run('Read', { file_path: path }, asked.mayRun)).isError).toBe(false)
    expect((await run('Read', { file_path: '.env' }, asked.mayRun)).isError).toBe(false)
    const made = { file_path: join(base, 'made.txt'), content: 'made' }
    expect((await run('Write', made)).isError).toBe(true)
    expect((await run('Write', made, asked.mayRun)).isError).toBe(false)
    expect(readFileSync(made.file_path, 'utf8')).toBe('made')
    expect((await run('Write', { file_path: '.git/config', content: 'x' }, asked.mayRun)).isError).toBe(true)
    await standard.close()
  })
})

describe('what a rule keeps from being read', () => {
  it('[PM15] is shown by no search from above and by no command that runs unasked', async () => {
    mkdirSync(join(root, 'closed/deep'), { recursive: true })
    writeFileSync(join(root, 'closed/deep/s.txt'), 'hidden words\n')
    writeFileSync(join(root, 'open.txt'), 'hidden no more\n')
    for (const list of ['deny', 'ask'] as const) {
      const rules = given(list, 'Read(closed/**)')
      const gate = createPathGate({
        fs: machineFileSystem,
        unique: () => 'u',
        grants: permission(rules).grants,
      })
      expect(gate.isHidden(join(root, 'closed/deep/s.txt'))).toBe(true)
      expect(gate.isHidden(join(root, 'open.txt'))).toBe(false)
      for (const command of ['cat closed/deep/s.txt', 'rg hidden closed'])
        expect([command, await kindOf('Bash', { command }, rules)]).toEqual([command, list])
      for (const command of ['grep -r hidden', 'cat closed/*/*'])
        expect([command, await kindOf('Bash', { command }, rules)]).toEqual([command, 'ask'])
      expect(await kindOf('Bash', { command: 'cat open.txt' }, rules)).toBe('allow')
    }
    rmSync(join(root, 'closed'), { recursive: true })
    rmSync(join(root, 'open.txt'))
  })
})

describe('rules and modes', () => {
  const lists: readonly RuleList[] = ['allow', 'ask', 'deny']
  const about: readonly (readonly [string, Record<string, unknown>, readonly string[]])[] = [
    ['Bash', { command: 'npm test' }, ['Bash', 'Bash(npm test)', 'Bash(npm *)']],
    ['Read', { file_path: 'src/a.ts' }, ['Read(src/**)', 'Read(**/*.ts)']],
    ['Edit', { file_path: 'src/a.ts' }, ['Edit(src/a.ts)', 'Edit(/**)']],
    ['WebFetch', { url: 'https://a.example.org/x' }, ['WebFetch', 'WebFetch(domain:example.org)']],
    ['mcp__s__t', {}, ['mcp__s__t', 'mcp__s', 'mcp__s__*']],
  ]

  it('[PM15] deny beats ask beats allow, in any order and from any source', async () => {
    const chosen = fc.array(
      fc.record({
        list: fc.constantFrom(...lists),
        at: fc.nat(2),
        source: fc.constantFrom('user' as const, 'project' as const, 'managed' as const, 'flag' as const),
      }),
      { minLength: 1, maxLength: 5 },
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...about), chosen, async ([name, input, texts], picks) => {
        const rules = picks.map(({ list, at, source }) => ({ list, source, text: texts[at % texts.length]! }))
        const has = (list: RuleList) => picks.some((pick) => pick.list === list)
        const expected = has('deny') ? 'deny' : has('ask') ? 'ask' : 'allow'
        expect(await kindOf(name, input, rules)).toBe(expected)
      }),
      { numRuns: 300 },
    )
  })

  it('[PM15] a rule speaks of its own tool, host and server, and of no other', async () => {
    const fetches = (url: string) =>
      kindOf('WebFetch', { url }, given('allow', 'WebFetch(domain:example.org)'))
    expect(await fetches('https://example.org/')).toBe('allow')
    expect(await fetches('https://evil-example.org/')).toBe('ask')
    expect(await fetches('https://example.org.evil.net/')).toBe('ask')
    expect(await fetches('https://example.org@evil.net/')).toBe('ask')
    expect(await fetches('https://a.evil\0.example.org/')).toBe('deny')
    expect(await fetches('not an address')).toBe('deny')
    expect(await kindOf('mcp__s2__t', {}, given('allow', 'mcp__s'))).toBe('ask')
    expect(await kindOf('mcp__s__t2', {}, given('allow', 'mcp__s__t'))).toBe('ask')
    // What a server says of its own tool is not believed.
    expect((await permission().judge({ name: 'mcp__s__t', input: {} }, true)).kind).toBe('ask')
  })

  it('[PM15] a rule that denies and is not understood closes its whole tool; one that allows opens nothing', async () => {
    const closed = permission(given('deny', 'WebFetch(example.org)'))
    expect(closed.problems[0]).toContain('it counts for all of WebFetch')
    expect((await closed.judge({ name: 'WebFetch', input: { url: 'https://a.org' } }, true)).kind).toBe(
      'deny',
    )
    const open = permission(given('allow', 'WebFetch(example.org)', '((', 'TaskList(x)'))
    expect(open.problems.length).toBe(3)
    expect((await open.judge({ name: 'WebFetch', input: { url: 'https://a.org' } }, true)).kind).toBe('ask')
  })

  it('[PM16] plan changes nothing, bypass asks nothing but what a rule wants, and neither lifts a denial', async () => {
    const bash = (command: string, mode: PermissionMode, ...rules: GivenRule[]) =>
      kindOf('Bash', { command }, rules, mode)
    expect(await bash('git status', 'plan')).toBe('allow')
    expect(await bash('npm test', 'plan', ...given('allow', 'Bash'))).toBe('deny')
    expect(await bash('git status', 'plan', ...given('allow', 'Bash'))).toBe('allow')
    expect(await kindOf('SendMessage', {}, given('allow', 'SendMessage'), 'plan')).toBe('allow')
    expect(await edits('src/a.ts', given('allow', 'Edit'), 'plan')).toBe('deny')
    expect(await kindOf('WebFetch', { url: 'https://a.org' }, given('allow', 'WebFetch'), 'plan')).toBe(
      'deny',
    )
    expect(await bash('rm -rf x', 'bypass')).toBe('allow')
    expect(await bash('rm -rf x', 'bypass', ...given('deny', 'Bash(rm *)'))).toBe('deny')
    expect(await bash('git push', 'bypass', ...given('ask', 'Bash(git push *)'))).toBe('ask')
    expect(await bash('$X', 'bypass', ...given('deny', 'Bash(rm *)'))).toBe('ask')
  })
})

describe('asking', () => {
  const tool: Tool = {
    spec: { name: 'Bash', description: '', input_schema: {} },
    policy: { readOnly: false, results: 'clear', maxResultChars: null },
    parse: (input) => ({ ok: true, input }),
    run: async () => ({ content: [], isError: false }),
  }
  const never = new AbortController().signal
  const call = (command: string): ToolUseBlock => ({
    type: 'tool_use',
    id: 'c',
    name: 'Bash',
    input: { command },
  })
  const asking = (answers: Answer[], more: Partial<PermissionOptions> = {}) => {
    const questions: Question[] = []
    const askUser = async (question: Question) => {
      questions.push(question)
      return answers.shift() ?? { kind: 'no' as const }
    }
    return { questions, permission: permission([], 'default', { askUser, ...more }) }
  }

  it('[PM17] the question names the whole call, why, and the exact rules; once is once, and a session remembers', async () => {
    const { questions, permission: asked } = asking([{ kind: 'once' }, { kind: 'session' }])
    expect(await asked.mayRun(call('npm test && rm x'), tool, never)).toMatchObject({ ok: true })
    expect(questions[0]).toMatchObject({
      tool: 'Bash',
      subject: 'npm test && rm x',
      rules: ['Bash(npm test)', 'Bash(rm x)'],
      scopes: [],
    })
    expect((await asked.mayRun(call('npm test && rm x'), tool, never)).facts).toEqual([
      { type: 'permission', tool: 'Bash', decision: 'allow', by: 'user', rule: 'Bash(npm test), Bash(rm x)' },
    ])
    expect(await asked.mayRun(call('rm x'), tool, never)).toMatchObject({
      ok: true,
      facts: [{ by: 'session' }],
    })
    expect(questions.length).toBe(2)
  })

  it('[PM17] always is kept where the user says, and a failure to keep it is told', async () => {
    const kept: unknown[] = []
    const keep = {
      scopes: ['local', 'user'] as const,
      rules: async (...words: unknown[]) => (kept.push(words), { ok: true as const }),
    }
    const { permission: asked } = asking([{ kind: 'always', scope: 'local' }], { keep })
    expect(await asked.mayRun(call('npm test'), tool, never)).toMatchObject({ ok: true })
    expect(kept).toEqual([['local', 'allow', ['Bash(npm test)']]])
    const full = { scopes: ['user'] as const, rules: async () => ({ ok: false as const, why: 'disk full' }) }
    const { permission: failing } = asking([{ kind: 'always', scope: 'user' }], { keep: full })
    expect(await failing.mayRun(call('npm test'), tool, never)).toMatchObject({
      ok: true,
      notice: expect.stringContaining('disk full') as string,
    })
  })

  it('[PM17] a no is a fact and its words reach the model; where nobody is there the refusal names the rule', async () => {
    const { permission: asked } = asking([{ kind: 'no', words: 'use pnpm' }])
    expect(await asked.mayRun(call('npm test'), tool, never)).toMatchObject({
      ok: false,
      why: expect.stringContaining('says: use pnpm') as string,
      facts: [{ decision: 'deny', by: 'user' }],
    })
    const alone = await permission().mayRun(call('npm test'), tool, never)
    expect(alone).toMatchObject({
      ok: false,
      why: expect.stringContaining("--allow 'Bash(npm test)'") as string,
    })
    const silent = asking([{ kind: 'once' }])
    silent.permission.setMode('dontAsk')
    expect((await silent.permission.mayRun(call('npm test'), tool, never)).ok).toBe(false)
    expect(silent.questions).toEqual([])
  })

  it('[PM81] who interrupts at a question stops the turn: the call is not run, and the decision is a fact', async () => {
    const { permission: asked } = asking([{ kind: 'interrupt' }])
    expect(await asked.mayRun(call('npm test'), tool, never)).toEqual({
      ok: false,
      stops: true,
      why: 'The user interrupted when asked about this call of Bash; it was not run.',
      facts: [{ type: 'permission', tool: 'Bash', decision: 'deny', by: 'user' }],
    })
  })

  it('[PM18] questions come one at a time, and an answer for longer settles those that wait', async () => {
    let open = 0
    let most = 0
    let count = 0
    const askUser = async (): Promise<Answer> => {
      most = Math.max(most, ++open)
      count++
      await new Promise((resolve) => setTimeout(resolve, 5))
      open--
      return { kind: 'session' }
    }
    const asked = permission([], 'default', { askUser })
    const all = await Promise.all(
      ['npm test', 'npm test', 'npm run x', 'npm test'].map((one) => asked.mayRun(call(one), tool, never)),
    )
    expect(all.every(({ ok }) => ok)).toBe(true)
    expect([most, count]).toEqual([1, 2])
  })

  it('[PM18] a plain look leaves no fact, everything else does', async () => {
    const { permission: asked } = asking([])
    expect((await asked.mayRun(call('ls'), tool, never)).facts).toBeUndefined()
    expect((await permission(given('allow', 'Bash')).mayRun(call('npm test'), tool, never)).facts).toEqual([
      { type: 'permission', tool: 'Bash', decision: 'allow', by: 'user', rule: 'Bash' },
    ])
  })

  it('[PM17] a key in a command is in no rule and no fact', async () => {
    const token = ['ghp', 'a7Kx2Qm9Zt'.repeat(4).slice(0, 36)].join('_')
    const { questions, permission: asked } = asking([{ kind: 'session' }])
    const permit = await asked.mayRun(call(`curl -H 'Authorization: Bearer ${token}' x`), tool, never)
    expect(questions[0]).toMatchObject({ rules: [], subject: expect.stringContaining(token) as string })
    expect(JSON.stringify(permit.facts)).not.toContain(token)
    const ruled = permission(given('deny', `Bash(echo ${token})`))
    expect(JSON.stringify((await ruled.mayRun(call(`echo ${token}`), tool, never)).facts)).not.toContain(
      token,
    )
  })
})
