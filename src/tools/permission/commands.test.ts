// The judging of commands against the lists of test/permission/commands.ts, in a real folder.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { acting, looking } from '../../../test/permission/commands.ts'
import { machineFileSystem } from '../../disk/fs.ts'
import type { RuleList } from '../../settings/rule-list.ts'
import { judgeCommand } from './judge-command.ts'
import type { Place } from './place.ts'
import { parseRule, placeRules } from './rule.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'pal-judge-')))
mkdirSync(join(root, 'src'))
for (const name of ['a', 'b', 'f', 'package.json', '.env', 'src/a.ts']) writeFileSync(join(root, name), 'x\n')
afterAll(() => rmSync(root, { recursive: true }))

const place: Place = { fs: machineFileSystem, root, cwd: root, home: join(root, '..', 'nobody') }
const none = { allow: [], ask: [], deny: [] }
const rules = (list: RuleList, ...texts: string[]) => ({
  ...none,
  [list]: texts.map((text) => {
    const parsed = parseRule({ list, text, source: 'user' })
    if (!parsed.ok) throw new Error(parsed.why)
    return parsed.rule
  }),
})
const kindOf = async (command: string, given = none) => (await judgeCommand(command, given, place)).kind

const wraps: readonly ((command: string) => string)[] = [
  (command) => command,
  (command) => `env ${command}`,
  (command) => `timeout 5 ${command}`,
  (command) => `\n\n${command}`,
  (command) => `# nothing to see\n${command}`,
  (command) => `true && ${command}`,
  (command) => `ls; ${command}`,
  (command) => `( ${command}\n)`,
]

describe('commands', () => {
  it('[PM1] none of the commands that act under a cloak runs unasked, however it is wrapped', async () => {
    const through: string[] = []
    for (const command of acting)
      for (const wrap of wraps) if ((await kindOf(wrap(command))) === 'allow') through.push(wrap(command))
    expect(acting.length).toBeGreaterThanOrEqual(97)
    expect(through).toEqual([])
  })

  it('[PM2] what an agent looks at all day is never asked about', async () => {
    const asked: string[] = []
    for (const command of looking) {
      const { kind, why } = await judgeCommand(command, none, place)
      if (kind !== 'allow') asked.push(`${command}: ${why}`)
    }
    expect(asked).toEqual([])
  })
})

describe('rules for commands', () => {
  it('[PM3] a rule is compared word by word, never by its beginning', async () => {
    const given = rules(
      'allow',
      'Bash(npm test)',
      'Bash(git commit -m *)',
      'Bash(cargo build:*)',
      'Bash(node scripts/*.mjs)',
    )
    const expected: Record<string, string> = {
      'npm test': 'allow',
      'npm test 2>&1 | tail -5': 'allow',
      'timeout 60 npm test': 'allow',
      'ls && npm test': 'allow',
      'npm testevil': 'ask',
      'npm test extra': 'ask',
      'npm test; rm -rf x': 'ask',
      'npm test > out.txt': 'ask',
      'npm test &': 'ask',
      'npm test $(rm x)': 'ask',
      'X=1 npm test': 'ask',
      'sh -c "npm test"': 'ask',
      "git commit -m 'a b'": 'allow',
      'git commit -m a --no-verify': 'allow',
      'git commit --amend -m a': 'ask',
      'cargo build --release': 'allow',
      'cargo builder': 'ask',
      'node scripts/a.mjs': 'allow',
      'node scripts/../../evil.mjs': 'ask',
      'node scripts/*.mjs': 'allow',
      'node s*/x.mjs': 'ask',
    }
    const got = await Promise.all(
      Object.keys(expected).map(async (command) => [command, await kindOf(command, given)]),
    )
    expect(Object.fromEntries(got)).toEqual(expected)
  })

  it('[PM4] a rule that denies finds its command behind wrappers, chains, substitutions and options', async () => {
    const given = { ...rules('deny', 'Bash(rm *)', 'Bash(git push *)'), allow: rules('allow', 'Bash').allow }
    const caught = [
      'rm -rf x',
      '/bin/rm x',
      'true && rm x',
      'ls | xargs rm',
      'sudo -u me rm x',
      'env A=1 rm x',
      "sh -c 'rm x'",
      'bash -c "ls; rm x"',
      "eval 'rm' x",
      'echo $(rm x)',
      'cat <(rm x)',
      'find . -exec rm {} +',
      'timeout 5 nice rm x',
      'if true; then rm x; fi',
      'f() { rm x; }; f',
      'coproc rm x',
      'cat <<E\n$(rm x)\nE',
      "'r'm x",
      'git push',
      'git -C . push origin',
      'git -c a=b push --force',
      "ssh host 'rm x'",
      `${'true; '.repeat(60)}rm x`,
    ]
    const through: string[] = []
    for (const command of caught) if ((await kindOf(command, given)) !== 'deny') through.push(command)
    expect(through).toEqual([])
    expect(await kindOf('git stash push', given)).toBe('allow')
    // What is only known when it runs cannot be compared, so it is asked about although Bash is allowed.
    expect(await kindOf('$X x', given)).toBe('ask')
  })

  it('[PM3] a rule allows no file behind < that it would not allow as a word', async () => {
    const exact = rules('allow', 'Bash(sort -u)')
    const open = rules('allow', 'Bash(sort *)')
    writeFileSync(join(root, '..', 'pal-judge-outside'), 'x\n')
    for (const file of ['.env', '/etc/passwd', '../pal-judge-outside', '~/.ssh/id_rsa']) {
      expect([file, await kindOf(`sort -u < ${file}`, exact)]).toEqual([file, 'ask'])
      expect([file, await kindOf(`sort -u < ${file} | head -1`, exact)]).toEqual([file, 'ask'])
      expect([file, await kindOf(`sort -u < ${file}`, open)]).toEqual([file, 'allow'])
      const whole = rules('allow', `Bash(sort -u < ${file})`)
      expect([file, await kindOf(`sort -u < ${file}`, whole)]).toEqual([file, 'allow'])
    }
    rmSync(join(root, '..', 'pal-judge-outside'))
    expect(await kindOf('sort -u < src/a.ts', exact)).toBe('allow')
    expect(await kindOf('sort -u < /dev/null', exact)).toBe('allow')
  })

  it('[PM5] a command with more parts than are looked at is refused, not asked about', async () => {
    const allow = rules('allow', 'Bash')
    expect(await kindOf('true;'.repeat(500), allow)).toBe('deny')
    expect(await kindOf(`echo ${'x'.repeat(200_000)}`, allow)).toBe('deny')
  })

  it('[PM6] what is offered as a rule lets exactly the same command run the next time', async () => {
    const again: string[] = []
    for (const command of acting) {
      const { kind, offers } = await judgeCommand(command, none, place)
      // Where a star in it would let others run too, no rule is offered.
      if (kind !== 'ask' || offers.length === 0) continue
      if ((await kindOf(command, rules('allow', ...offers))) !== 'allow')
        again.push(`${command} by ${offers.join()}`)
      const other = await kindOf(`${command} other`, rules('allow', ...offers))
      if (other === 'allow' && (await kindOf(`${command} other`)) !== 'allow')
        again.push(`${command} other by ${offers.join()}`)
    }
    expect(again).toEqual([])
  })

  it('[PM6] no rule is offered for a whole command that would let others run', async () => {
    const secrets = rules('deny', 'Edit(secrets/**)').deny
    mkdirSync(join(root, 'secrets'))
    writeFileSync(join(root, 'secrets', 'k'), 'x\n')
    const paths = await placeRules(secrets, place, () => Promise.resolve(false))
    const reached = await judgeCommand('cp *', { ...none, paths }, place)
    rmSync(join(root, 'secrets'), { recursive: true })
    expect([reached.kind, reached.offers]).toEqual(['ask', []])
    for (const [command, other] of [
      ['rm a\\\nb *', 'rm ab -rf src'],
      ['rm a\\\nb:*', 'rm ab -rf src'],
      ['rm -r a\\\nb/*', 'rm -r ab/src/a.ts'],
      [`npm "run"[x] *`, `npm 'run[x]' other`],
    ] as const) {
      const { kind, offers } = await judgeCommand(command, none, place)
      expect([command, kind]).toEqual([command, 'ask'])
      expect([command, await kindOf(other, rules('allow', ...offers))]).toEqual([command, 'ask'])
    }
  })

  it('[PM7] git looks unasked at a repository of the project, and what leads elsewhere is asked about', async () => {
    const at = join(root, 'found')
    for (const name of ['.git', 'empty/.git', 'clean/.git', 'linked', 'pointed', 'two'])
      mkdirSync(join(at, name), { recursive: true })
    for (const name of ['.git', 'clean/.git']) writeFileSync(join(at, name, 'HEAD'), 'ref: refs/heads/main\n')
    symlinkSync(join(at, 'clean', '.git'), join(at, 'linked', '.git'))
    writeFileSync(join(at, 'pointed', '.git'), `gitdir: ${root}\n`)
    writeFileSync(join(at, 'two', '.git'), 'gitdir: ../clean/.git\n/x')
    const judged = (command: string) => judgeCommand(command, none, { ...place, root: at, cwd: at })
    const repository = async (command: string) =>
      (await judged(command)).readOnly?.git?.repository?.worktree ?? null
    expect(await repository('git status')).toBe(at)
    expect(await repository('git -C clean status')).toBe(join(at, 'clean'))
    // No repository, so that git goes on upwards.
    expect(await repository('cd empty && git status')).toBe(at)
    for (const folder of ['.git', 'linked', 'pointed', 'two'])
      expect([folder, (await judged(`git -C ${folder} log`)).kind]).toEqual([folder, 'ask'])
    rmSync(join(at, '.git'), { recursive: true })
    expect((await judged('git status')).readOnly?.git).toEqual({ repository: null })
    rmSync(at, { recursive: true })
  })

  it('[PM30] a key file is one also where a revision stands before its name', async () => {
    for (const name of ['HEAD:.env', ':.env', 'HEAD:src/.env', "':(top).env'"])
      expect(await kindOf(`git show ${name}`)).toBe('ask')
    expect(await kindOf('git show HEAD:src/a.ts')).toBe('allow')
    expect(await kindOf('git log -L1,2:.env')).toBe('ask')
  })

  it('[PM8] a change of folder behind another program is not followed', async () => {
    expect(await kindOf('cd src && cat a.ts')).toBe('allow')
    for (const wrapped of ['env cd src', 'timeout 5 cd src', 'nice cd src'])
      expect(await kindOf(`${wrapped} && cat a.ts`)).toBe('ask')
  })

  it('[PM8] links lead to where they lead: reading through one that leaves the project is asked about', async () => {
    symlinkSync('/etc', join(root, 'out'))
    symlinkSync(join(root, 'src'), join(root, 'in'))
    expect(await kindOf('cat out/passwd')).toBe('ask')
    expect(await kindOf('cat in/a.ts')).toBe('allow')
    expect(await kindOf('cat in/../../x')).toBe('ask')
    expect(await kindOf('cd out && ls')).toBe('ask')
    expect(await kindOf('cd in && ls')).toBe('ask')
    // What a pattern stands for counts too.
    expect(await kindOf('cat in/*')).toBe('allow')
    for (const command of [
      'ls o*',
      'cat o*/passwd',
      'cat ?ut/passwd',
      'cat */passwd',
      'echo o*/passwd',
      'echo ../*',
      'echo ~/.ssh/*',
      'head -1 [n-p]ut/passwd',
      'cat [[:alpha:]]ut/passwd',
      // Older shells take .. for a name that begins with a dot.
      'cat .*/other',
      'cat .?/other',
      'cat .[!x]/other',
      'cat src/.*/../other',
    ])
      expect([command, await kindOf(command)]).toEqual([command, 'ask'])
  })
})
