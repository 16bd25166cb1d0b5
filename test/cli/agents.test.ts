// Agents from the command line: types from files, waiting in scripts, looking and acting in a talk.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSimulator } from '../../src/simulator/index.ts'
import {
  gate,
  agent,
  bodiesOf,
  cast,
  git,
  replies,
  repository,
  type Part,
} from '../agents/simulated-agents.ts'
import { call, text } from '../../src/simulator/index.ts'
import { later } from '../e2e/simulated.ts'
import { openWorkspace, until, type Workspace } from './pal.ts'

async function scene(parts: readonly Part[]) {
  const simulator = createSimulator({ answerer: cast(parts), log: { bodies: 1000 } })
  const { url } = await simulator.start()
  later(() => simulator.stop())
  return {
    simulator,
    at: await openWorkspace({
      ANTHROPIC_BASE_URL: url,
      PALIMPSEST_MODEL: 'claude-sonnet-4-6',
      PALIMPSEST_TEAMMATES: 'on',
    }),
  }
}

async function declare({ project }: Workspace, name: string, front: string, prompt: string): Promise<void> {
  await mkdir(join(project, '.palimpsest', 'agents'), { recursive: true })
  await writeFile(join(project, '.palimpsest', 'agents', `${name}.md`), `---\n${front}\n---\n${prompt}\n`)
}

describe('pal and its agents', () => {
  it('[TE3] a rewind restores what an agent wrote in the folder, and in order with what the session itself wrote', async () => {
    const { at } = await scene([
      {
        when: 'write for me',
        answers: [
          [call('Read', { file_path: 'f.txt' })],
          [call('Edit', { file_path: 'f.txt', old_string: 'one', new_string: 'two' })],
          [call('Write', { file_path: 'new.txt', content: 'new' })],
          'written',
        ],
      },
      {
        when: 'main',
        answers: [
          'hello',
          [agent('writer', 'write for me', { mode: 'foreground' })],
          [call('Read', { file_path: 'f.txt' })],
          [call('Edit', { file_path: 'f.txt', old_string: 'two', new_string: 'three' })],
          'all done',
        ],
      },
    ])
    const f = join(at.project, 'f.txt')
    await writeFile(f, 'one')
    await at.pal(['-p', 'first'])
    const ended = await at.pal(['-p', '-c', '--permission-mode', 'bypass', 'change it'])
    expect([ended.out, await readFile(f, 'utf8')]).toEqual(['all done\n', 'three'])
    const message = /#(\d+) {2}change it/.exec((await at.pal(['messages'])).out)![1]!
    const { out } = await at.pal(['rewind', message, '--files'])
    expect(out).toContain(`restored: ${join(at.project, 'new.txt')}`)
    expect([await readFile(f, 'utf8'), await readdir(at.project)]).toEqual(['one', ['f.txt']])
  })

  it('[AG40] pal -p waits for agents in the background, and what they took is told', async () => {
    const mains = (): number => bodiesOf(simulator, 'main').length
    const { simulator, at } = await scene([
      {
        when: 'work long',
        // Its first turn has ended without it.
        held: () => until(() => mains() === 2, 'the first turn to end'),
        answers: ['BACKGROUND-REPORT'],
      },
      {
        when: 'main',
        answers: replies({
          'BACKGROUND-REPORT': 'it says so',
          please: [agent('back', 'work long', { mode: 'background' })],
        }),
      },
    ])
    const ended = await at.pal(['-p', '--output-format', 'json', 'please'])
    expect(ended.code).toBe(0)
    const result = JSON.parse(ended.out) as { text: string; background: { tokens: number; dollars: number } }
    expect(result.text).toBe('it says so')
    expect(result.background.tokens).toBeGreaterThan(100)
    expect(bodiesOf(simulator, 'main').at(-1)).toContain('BACKGROUND-REPORT')
    const cost = await at.pal(['cost'])
    expect(cost.out).toContain('agent in the background took')
    const listed = JSON.parse((await at.pal(['agents', '--json'])).out) as {
      agents: { label: string; state: string }[]
    }
    expect(listed.agents).toMatchObject([{ label: 'back', state: 'done', collected: true }])
    expect(JSON.parse((await at.pal(['tasks', '--json'])).out)).toMatchObject({ tasks: [] })
    expect((await at.pal(['agents'])).out).toContain('explore')
    // Sessions of agents are no sessions to go on with.
    expect((await at.pal(['sessions', '--json'])).out).not.toContain('work long')
  })

  it('[AG41] types of a project count where it is trusted, and narrow what their agents use', async () => {
    const { simulator, at } = await scene([
      { when: 'look around', answers: ['looked'] },
      { when: 'main', answers: replies({ please: [agent('look', 'look around', { type: 'scout' })] }) },
    ])
    await declare(at, 'scout', 'name: scout\ndescription: looks\ntools: [Read]\nrounds: 2', 'SCOUT-PROMPT')
    await declare(at, 'bad', 'name: bad\ndescription: x\nmodle: y', 'prompt')
    expect((await at.pal(['-p', 'please'])).code).toBe(0)
    expect(bodiesOf(simulator, 'look around')).toEqual([])
    const ended = await at.pal(['-p', '--trust', 'please'])
    expect(ended.err).toContain('bad.md declares no agent')
    const [body] = bodiesOf(simulator, 'look around')
    expect(body).toContain('SCOUT-PROMPT')
    const { tools } = JSON.parse(body!) as { tools: { name: string }[] }
    expect(tools.map(({ name }) => name)).toEqual(['Read'])
  })

  it('[AG42] in a talk agents are shown, written to, merged and stopped', async () => {
    const { at } = await scene([
      {
        when: 'change it',
        answers: [[call('Write', { file_path: 'new.txt', content: 'made\n' })], 'made a file'],
      },
      { when: 'stay', answers: ['here'] },
      {
        when: 'main',
        answers: replies({
          'make it': [agent('maker', 'change it', { worktree: true })],
          'call it': [agent('mate', 'stay', { mode: 'teammate', name: 'ida' })],
        }),
      },
    ])
    await repository(at.project, { 'a.txt': 'a' })
    const lines = [
      'make it',
      '/agents',
      '/agents merge maker',
      'call it',
      '/tasks',
      '/agents tell ida hello there',
      '/agents stop ida',
      '/agents stop nobody',
      '/quit',
    ]
    const ended = await at.pal(['--allow', 'Write'], { input: `${lines.join('\n')}\n` })
    expect(ended.out).toContain('branch pal/')
    expect(ended.out).toContain('merged 1 files: new.txt')
    expect(ended.out).toContain('mate (ida)')
    expect(ended.out).toContain('sent to ida')
    expect(ended.out).toContain('is stopped')
    expect(ended.err).toContain('no agent nobody is running')
    expect(await git(at.project, 'log', '--format=%s', '-1')).toContain('maker')
    expect(await git(at.project, 'branch', '--format=%(refname:short)')).toBe('main')
  })

  it('[AG43] agents and commands in the background stand in one list, in a talk and from outside', async () => {
    const job = call('Bash', { command: 'echo begun; sleep 610', background: true })
    const { held } = gate()
    const parts: Part[] = [
      {
        when: 'never end',
        held: async (answered) => (answered === 0 ? undefined : held()),
        answers: [[call('Glob', { pattern: '*.none' })]],
      },
      {
        when: 'main',
        answers: replies({
          'start both': [job, agent('back', 'never end', { mode: 'background' })],
          'fail one': [call('Bash', { command: 'exit 3', background: true })],
        }),
      },
    ]
    const { at } = await scene(parts)
    interface Listed {
      tasks: {
        kind: string
        id: string
        what: string
        state: string
        since: number
        spent?: { tokens: number }
      }[]
    }
    const listed = async () => (JSON.parse((await at.pal(['tasks', '--json'])).out) as Listed).tasks
    const { child, ended } = await at.start(['--allow', 'Bash'], { isOpen: true })
    child.stdin!.write('start both\nfail one\n')
    await until(async () => (await at.pal(['tasks'])).out.includes('code 3'), 'the second job ends')
    expect(await listed()).toMatchObject([
      { kind: 'agent', what: 'back', state: 'running' },
      { kind: 'job', id: 'job-1', what: 'echo begun; sleep 610', state: 'running' },
      { kind: 'job', id: 'job-2', what: 'exit 3', state: 'ended with code 3, output not read yet' },
    ])
    // What a running agent has taken is told before its end.
    await until(async () => ((await listed())[0]?.spent?.tokens ?? 0) > 100, 'its first answer is counted')
    expect((await listed())[0]).toMatchObject({ kind: 'agent', state: 'running' })
    expect((await listed()).every(({ since }) => Math.abs(Date.now() - since) < 3_600_000)).toBe(true)
    child.stdin!.end('/tasks\n/tasks stop job-1\n/tasks stop job-9\n/tasks\n/quit\n')
    const { out, err } = await ended
    expect(out).toMatch(/job-1 +job +echo begun; sleep 610 .* running/)
    expect(out).toContain('job-1 is stopped')
    expect(out).toMatch(/job-1 +job .* ended by SIGTERM/)
    expect(err).toContain('no job job-9 is running')
    // With their program they are gone.
    expect((await listed()).filter(({ kind }) => kind === 'job')).toEqual([])
  })

  it('[AG43] a command that outlives a killed program is shown with its process', async () => {
    const job = call('Bash', { command: 'sleep 620', background: true })
    const { at } = await scene([{ when: 'main', answers: replies({ 'start it': [job] }) }])
    // Behind the wall it would end with its program.
    const environment = { PALIMPSEST_SANDBOX: 'off' }
    const { child, ended } = await at.start(['--allow', 'Bash'], { isOpen: true, environment })
    child.stdin!.write('start it\n')
    await until(async () => (await at.pal(['tasks'])).out.includes('sleep 620'), 'the job runs')
    child.kill('SIGKILL')
    await ended
    const shown = (await at.pal(['tasks'])).out
    const [, pid] = /still running as process (\d+), although pal has exited/.exec(shown) ?? []
    expect(Number(pid)).toBeGreaterThan(1)
    process.kill(-Number(pid), 'SIGKILL')
    await until(async () => (await at.pal(['tasks'])).out.includes('no background tasks'), 'it is gone')
  })

  it('[AG35] the user approves the plan of a teammate in the talk', async () => {
    const write = call('Write', { file_path: 'made.txt', content: 'made' })
    const { simulator, at } = await scene([
      {
        when: 'plan it first',
        answers: replies({ 'plan it first': [write], NOT: 'I wait', 'approved your plan': [write] }),
      },
      {
        when: 'main',
        answers: replies({
          'call it': [agent('mate', 'plan it first', { mode: 'teammate', name: 'uwe', plan: true })],
        }),
      },
    ])
    const { child, ended } = await at.start(['--allow', 'Write'], { isOpen: true })
    const heard = (words: string) =>
      until(() => bodiesOf(simulator, 'plan it first').join().includes(words), words)
    child.stdin!.write('call it\n')
    await heard('before your plan is approved')
    child.stdin!.write('/agents reject uwe NOT yet\n')
    await heard('The answer is no')
    expect(await readdir(at.project)).toEqual([])
    child.stdin!.write('/agents approve uwe\n')
    await until(async () => (await readdir(at.project)).includes('made.txt'), 'it is made')
    child.stdin!.end('/quit\n')
    expect((await ended).code).toBe(0)
  })

  it('[AG34] a message of an agent outlives a program that is killed before it was delivered, and comes once', async () => {
    const send = call('SendMessage', { to: 'leader', message: 'HOME-PROBE-1', summary: 'found it' })
    const mains = (): number => bodiesOf(simulator, 'main').length
    const { simulator, at } = await scene([
      {
        when: 'write home',
        // Its leader has asked already: what it sends now is for the request that never comes.
        held: () => until(() => mains() >= 2, 'the second request of its leader'),
        answers: [[text('FOUND-SO-FAR'), send], [call('Bash', { command: 'sleep 630' })]],
      },
      {
        when: 'main',
        answers: [
          [agent('mate', 'write home', { mode: 'teammate', name: 'ida' })],
          [call('Bash', { command: 'sleep 630' })],
          'I see',
        ],
      },
    ])
    const { child, ended } = await at.start(['-p', '--allow', 'Bash,SendMessage', 'begin'])
    const wasTold = (): boolean =>
      bodiesOf(simulator, 'write home').some((body) => body.includes('Sent to leader'))
    await until(wasTold, 'the sender is told that it was sent')
    expect(bodiesOf(simulator, 'main').join()).not.toContain('HOME-PROBE-1')
    child.kill('SIGKILL')
    await ended
    for (const words of ['and now?', 'and again?'])
      expect((await at.pal(['-p', '--continue', words])).code).toBe(0)
    const last = bodiesOf(simulator, 'main').at(-1)!
    expect(last.split('HOME-PROBE-1')).toHaveLength(2)
    expect(last).toContain('An agent wrote this, not the user')
    // It ended with the program; what it had said is handed on too.
    expect(last.split('FOUND-SO-FAR')).toHaveLength(2)
  })

  it('[AG23] killed while an agent works in a worktree, the next start ends the agent, keeps its changes and clears the folder', async () => {
    const { at } = await scene([
      {
        when: 'half done',
        answers: [
          [call('Write', { file_path: 'half.txt', content: 'half\n' })],
          [call('Bash', { command: 'sleep 600' })],
        ],
      },
      { when: 'main', answers: replies({ 'make it': [agent('half', 'half done', { worktree: true })] }) },
    ])
    await repository(at.project, { 'a.txt': 'a' })
    const { child, ended } = await at.start(['-p', '--allow', 'Write,Bash', 'make it'])
    const worktrees = async (): Promise<string[]> => (await git(at.project, 'worktree', 'list')).split('\n')
    const changed = async (): Promise<boolean> => {
      const path = (await worktrees())[1]?.split(' ')[0]
      return path !== undefined && (await git(path, 'status', '--porcelain')).includes('half.txt')
    }
    while (!(await changed())) await new Promise((resolve) => setTimeout(resolve, 50))
    child.kill('SIGKILL')
    await ended
    expect((await at.pal(['-p', '--continue', 'and now?'])).code).toBe(0)
    expect(await worktrees()).toHaveLength(1)
    const listed = JSON.parse((await at.pal(['agents', '--json'])).out) as {
      agents: { state: string; worktree: { branch: string } }[]
    }
    expect(listed.agents).toMatchObject([{ state: 'aborted' }])
    const { branch } = listed.agents[0]!.worktree
    expect(await git(at.project, 'show', `${branch}:half.txt`)).toBe('half')
  })
})
