// `pal permissions` and `pal permissions why CALL`, as a person uses them.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { toolNames } from '../../src/cli/workplace/rule-problems.ts'
import { openWorkspace, server, type Workspace } from '../cli/pal.ts'

interface Told {
  readonly tool: string
  readonly decision: string
  readonly judge: string
  readonly rule: { readonly text: string; readonly source: string } | null
  readonly rulings: readonly { readonly judge: string; readonly kind: string; readonly why: string }[]
}

async function ruled(): Promise<Workspace> {
  const at = await openWorkspace()
  await mkdir(at.state)
  const settings = {
    deny: ['Bash(git push *)', 'Read(~/notes/**)', 'mcp__srv__delete'],
    hooks: { PreToolUse: [{ command: 'touch hooked', tools: ['Bash'] }] },
  }
  await writeFile(join(at.state, 'settings.json'), JSON.stringify(settings))
  return at
}

describe('pal permissions', () => {
  it('[PM54] why names the judge, the rule with its source, and what those before it said', async () => {
    const at = await ruled()
    const why = async (...words: string[]): Promise<Told> => {
      const { code, out, err } = await at.pal(['permissions', 'why', ...words, '--json'])
      expect([words, code, err]).toEqual([words, 0, ''])
      return JSON.parse(out) as Told
    }
    const pushed = await why('Bash(git push origin)')
    expect(pushed).toMatchObject({
      tool: 'Bash',
      decision: 'deny',
      judge: 'deny rules',
      rule: { text: 'Bash(git push *)', source: 'user', list: 'deny' },
    })
    expect(pushed.rulings.map(({ judge, kind }) => [judge, kind])).toEqual([
      ['hooks', 'pass'],
      ['deny rules', 'deny'],
    ])
    expect(pushed.rulings[0]?.why).toContain('touch hooked')
    expect(existsSync(join(at.project, 'hooked'))).toBe(false)
    expect(await why('Write(src/a.ts)')).toMatchObject({ decision: 'ask', judge: 'question', rule: null })
    expect(await why('Write(.git/config)')).toMatchObject({ decision: 'deny', judge: 'protected' })
    expect(await why('Read(~/notes/n.md)')).toMatchObject({ decision: 'deny', judge: 'deny rules' })
    expect(await why('mcp__srv__delete {"id": 1}')).toMatchObject({ decision: 'deny', judge: 'deny rules' })
    const reached = await why('Bash(git status)', '--allow', 'Bash', '--permission-mode', 'plan')
    expect(reached).toMatchObject({ decision: 'allow', judge: 'allow rules', rule: { source: 'flag' } })
    const { out } = await at.pal(['permissions', 'why', 'Bash(git push origin)'])
    expect(out).toContain('Bash(git push origin) is denied')
    expect(out).toContain('rule: deny Bash(git push *) (from your settings)')
    expect(out).toMatch(/hooks +pass +would be run first/)
  })

  it('[PM54] without words lists the mode and the rules, and a call that cannot be read is an error', async () => {
    const at = await ruled()
    const { code, out } = await at.pal(['permissions', '--allow', 'Edit', '--json'])
    expect(code).toBe(0)
    const told = JSON.parse(out) as { mode: string; rules: unknown[] }
    expect(told.mode).toBe('default')
    expect(told.rules).toContainEqual({ list: 'allow', text: 'Edit', source: 'flag' })
    expect(told.rules).toHaveLength(4)
    expect((await at.pal(['permissions'])).out).toMatch(/deny +Bash\(git push \*\) +your settings/)
    for (const [text, message] of [
      ['', 'no call given'],
      ['(x)', 'does not begin with the name of a tool'],
      ['Nothing(x)', 'there is no tool Nothing'],
      ['Bash', 'says too little'],
      ['Bash()', 'are empty'],
      ['Bash git push', 'neither (…) nor JSON'],
      ['mcp__srv__t {"a":', 'not a JSON object'],
    ] as const) {
      const wrong = await at.pal(['permissions', 'why', text])
      expect([text, wrong.code]).toEqual([text, 2])
      expect(wrong.err).toContain(message)
    }
    expect((await at.pal(['permissions', 'how'])).code).toBe(2)
  })

  it('[PM54] in a conversation says the same by the rules in force there', async () => {
    const { access } = await server(['hello'])
    const at = await openWorkspace(access)
    const { out } = await at.pal(['--deny', 'Bash(git push *)'], {
      input: '/permissions why Bash(git push origin)\n/permissions why Bash\n',
    })
    expect(out).toContain('is denied')
    expect(out).toContain('(from the command line)')
  })

  it('[PM105] a rule that names no tool is said once wherever settings are read', async () => {
    const { access } = await server(['fine'])
    const at = await openWorkspace({ ...access, PALIMPSEST_MEMORY: 'off' })
    await mkdir(at.state)
    const deny = ['Bassh(rm *)', 'bash', 'SearchMemory', 'Zebra', 'mcp__srv', 'WebFetch(x)']
    await writeFile(join(at.state, 'settings.json'), JSON.stringify({ deny }))
    const said = [
      'the rule "Bassh(rm *)" (deny, from your settings) names no tool and denies nothing. Did you mean Bash?',
      'the rule "Zebra" (deny, from your settings) names no tool and denies nothing. The tools are: Read, ',
      'the rule "WebFetch(x)" must name a host',
    ]
    const ways = [
      ['-p', 'hi'],
      ['--lines'],
      ['permissions'],
      ['permissions', '--json'],
      ['config'],
      ['doctor'],
    ]
    for (const args of ways) {
      const { out, err } = await at.pal(args, { input: '' })
      const shown = args.includes('doctor') ? out : err
      expect([args, ...said.map((one) => shown.split(one).length - 1)]).toEqual([args, 1, 1, 1])
      expect([args, shown.split('the rule').length - 1]).toEqual([args, said.length])
    }
    const { out } = await at.pal(['permissions', '--json'])
    expect((JSON.parse(out) as { problems: string[] }).problems.length).toBe(said.length)
    const { code, err } = await at.pal(['-p', '--deny', 'Reed', 'hi'])
    expect(code).toBe(2)
    expect(err).toBe(
      'pal: the rule "Reed" (deny, from the command line) names no tool and denies nothing. Did you mean Read?\n',
    )
  })

  it('[PM106] a hook for a tool there is not is said once wherever settings are read', async () => {
    const { access } = await server(['fine'])
    const at = await openWorkspace({ ...access, PALIMPSEST_MEMORY: 'off' })
    await mkdir(at.state)
    const hooks = {
      PreToolUse: [
        { command: 'check', tools: ['bash', 'Write', 'mcp__srv', 'mcp__srv__get', '*'] },
        { command: 'all' },
      ],
      Stop: [{ command: 'ended', tools: ['Bash'] }],
    }
    await writeFile(join(at.state, 'settings.json'), JSON.stringify({ hooks }))
    const said = [
      'the hook PreToolUse (check) names "bash", which is no tool, and is not run for it; without tools a hook is run for all. Did you mean Bash?',
      'the hook PreToolUse (check) names "mcp__srv", which is no tool',
      'the hook PreToolUse (check) names "*", which is no tool',
      'the hook Stop (ended) names tools, and Stop is not about one: it is never run. Leave out its tools',
    ]
    for (const args of [['-p', 'hi'], ['--lines'], ['permissions'], ['config'], ['doctor']]) {
      const { out, err } = await at.pal(args, { input: '' })
      const shown = args.includes('doctor') ? out : err
      expect([args, ...said.map((one) => shown.split(one).length - 1)]).toEqual([args, ...said.map(() => 1)])
      expect([args, shown.split('the hook ').length - 1]).toEqual([args, said.length])
    }
  })

  it('[PM105] every tool that a conversation can have is known to the rules', async () => {
    const { access, simulator } = await server(['fine'])
    const at = await openWorkspace({ ...access, PALIMPSEST_TEAMMATES: 'on' })
    await mkdir(join(at.state, 'skills', 'one'), { recursive: true })
    await writeFile(join(at.state, 'skills', 'one', 'SKILL.md'), '---\ndescription: one\n---\nOne.\n')
    await at.pal(['-p', 'hi'])
    const body = simulator.log.requests[0]?.body as { readonly tools: readonly { readonly name: string }[] }
    const names = body.tools.map(({ name }) => name)
    expect(names).toContain('Skill')
    expect(names).toContain('SendMessage')
    expect(names.filter((name) => !toolNames.includes(name))).toEqual([])
  })
})
