// Two agents change one repository side by side, each in a worktree of its own; their work is merged and nothing stays.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { gitIn, mergeBranch } from '../../src/forks/agents/index.ts'
import { addWorktree, endWorktree, type Git } from '../../src/forks/agents/worktree.ts'
import type { PresetOptions } from '../../src/preset.ts'
import { call } from '../../src/simulator/index.ts'
import { factsOf, ofType, turn } from '../e2e/simulated.ts'
import {
  agent,
  bodiesOf,
  git,
  keeper,
  opened,
  refusedOf,
  replies,
  repository,
  stage,
  type Part,
} from './simulated-agents.ts'

const own = gitIn({ PATH: process.env['PATH'] ?? '' }, [])
const lines = (count: number): string => Array.from({ length: count }, (_, at) => `line ${at}`).join('\n')

/** Reads a file and changes one line of it. */
const editor = (when: string, file: string, from: string, to: string): Part => ({
  when,
  answers: [
    [call('Read', { file_path: file })],
    [call('Edit', { file_path: file, old_string: from, new_string: to })],
    `changed ${file}`,
  ],
})

async function scene(
  parts: readonly Part[],
  files: Readonly<Record<string, string>>,
  more: Partial<PresetOptions> = {},
) {
  const made = await stage(parts)
  await repository(made.project, files)
  // Opened anew: the folder was none of git's before.
  const { preset } = await opened(made, more)
  return { ...made, preset }
}

describe('agents in worktrees', () => {
  it('[AG20] change the same file side by side, are merged, and leave nothing behind', async () => {
    const { preset, project, home, simulator } = await scene(
      [
        editor('change the top', 'a.txt', 'line 1\n', 'TOP\n'),
        editor('change the end', 'a.txt', 'line 38\n', 'END\n'),
        {
          when: 'main',
          answers: [
            [
              agent('top', 'change the top', { worktree: true }),
              agent('end', 'change the end', { worktree: true }),
            ],
            'both are back',
          ],
        },
      ],
      { 'a.txt': lines(40) },
    )
    const session = await preset.engine.open()
    expect((await turn(session.send('divide'))).outcome).toBe('done')
    const rows = session.agents()
    expect(rows.map(({ state }) => state)).toEqual(['done', 'done'])
    // The user's own tree is untouched until somebody merges.
    expect(await git(project, 'status', '--porcelain')).toBe('')
    expect(await readFile(join(project, 'a.txt'), 'utf8')).toBe(lines(40))
    for (const row of rows) {
      const results = ofType(await factsOf(preset.store, session.id), 'fork-end')
      expect(results.find(({ child }) => child === row.child)?.text).toContain(row.worktree!.branch)
      expect(await mergeBranch(own, project, row.worktree!.branch)).toEqual({ ok: true, files: ['a.txt'] })
    }
    const merged = await readFile(join(project, 'a.txt'), 'utf8')
    expect(merged).toContain('TOP\n')
    expect(merged).toContain('END\n')
    expect(await git(project, 'branch', '--list', '--format=%(refname:short)')).toBe('main')
    expect((await git(project, 'worktree', 'list')).split('\n')).toHaveLength(1)
    await session.close()
    await preset.close()
    expect(await readdir(home)).not.toContain('worktrees')
    expect(refusedOf(simulator)).toEqual([])
  })

  it('[AG21] that changed nothing leave no branch, and one that cannot be merged changes nothing', async () => {
    const { preset, project } = await scene(
      [
        { when: 'only look', answers: [[call('Read', { file_path: 'a.txt' })], 'looked'] },
        editor('conflict', 'a.txt', 'line 1\n', 'THEIRS\n'),
        {
          when: 'main',
          answers: [
            [
              agent('look', 'only look', { worktree: true }),
              agent('conflict', 'conflict', { worktree: true }),
            ],
            'ok',
          ],
        },
      ],
      { 'a.txt': lines(5) },
    )
    const session = await preset.engine.open()
    await turn(session.send('divide'))
    const looker = session.agents().find(({ label }) => label === 'look')
    const other = session.agents().find(({ label }) => label === 'conflict')
    const branches = await git(project, 'branch', '--list', '--format=%(refname:short)')
    expect(branches.split('\n').toSorted()).toEqual(['main', other!.worktree!.branch])
    expect(looker!.worktree).toBeDefined()
    await writeFile(join(project, 'a.txt'), lines(5).replace('line 1', 'OURS'))
    await git(project, 'commit', '--quiet', '-am', 'ours')
    const merged = await mergeBranch(own, project, other!.worktree!.branch)
    expect(merged).toMatchObject({ ok: false, conflicts: ['a.txt'] })
    expect(await git(project, 'status', '--porcelain')).toBe('')
    expect(await mergeBranch(own, project, 'main')).toMatchObject({ ok: false })
    await session.close()
  })

  it('[AG28] of one repository take turns, and a step that another process disturbed is tried again', async () => {
    const { project, home, preset } = await scene([{ when: 'main', answers: ['ok'] }], { 'a.txt': lines(5) })
    let running = 0
    let mostAtOnce = 0
    const disturbed = new Set<string>()
    const watched: Git = async (folder, ...words) => {
      running++
      mostAtOnce = Math.max(mostAtOnce, running)
      const step = words.slice(0, 2).join(' ')
      const isFirst = ['worktree add', 'branch -D', 'add --all'].includes(step) && !disturbed.has(step)
      disturbed.add(step)
      const answer = isFirst
        ? { ok: false, out: '', why: 'failed to read commondir' }
        : await own(folder, ...words)
      running--
      return answer
    }
    const ended = await Promise.all(
      ['one', 'two', 'three'].map(async (name) => {
        const made = await addWorktree(watched, project, join(home, 'trees', 'of'), name)
        if (!made.ok) return made
        if (name === 'two') await writeFile(join(made.worktree.path, 'a.txt'), 'changed')
        return endWorktree(watched, project, made.worktree, made.base, name)
      }),
    )
    expect(ended).toEqual([
      { files: [], why: null },
      { files: ['a.txt'], why: null },
      { files: [], why: null },
    ])
    expect(mostAtOnce).toBe(1)
    expect([...disturbed]).toEqual(expect.arrayContaining(['worktree add', 'branch -D', 'add --all']))
    const branches = await git(project, 'branch', '--list', '--format=%(refname:short)')
    expect(branches.split('\n').toSorted()).toEqual(['main', 'pal/two'])
    await preset.close()
  })

  it('[AG27] are refused where the repository makes git run programs, until it is trusted', async () => {
    const ran: boolean[] = []
    for (const trusted of [false, true]) {
      const made = await scene(
        [
          { when: 'only look', answers: ['looked'] },
          { when: 'main', answers: [[agent('look', 'only look', { worktree: true })], 'ok'] },
        ],
        { 'a.txt': 'a', '.gitattributes': '*.txt filter=evil' },
        { trusted },
      )
      const trace = join(made.home, 'trace')
      await git(made.project, 'config', 'filter.evil.smudge', `touch ${trace}; cat`)
      const session = await made.preset.engine.open()
      expect((await turn(session.send('go'))).outcome).toBe('done')
      const [result] = ofType(await factsOf(made.preset.store, session.id), 'tool-result')
      ran.push((await readdir(made.home)).includes('trace'))
      expect(result!.isError).toBe(!trusted)
      if (!trusted) expect(JSON.stringify(result)).toContain('pal trust')
      await session.close()
      await made.preset.close()
    }
    expect(ran).toEqual([false, true])
  })

  it('[AG27] a folder of files that looks like a repository is none, so that its configuration does not count', async () => {
    const { project, preset } = await scene([{ when: 'main', answers: ['ok'] }], { 'a.txt': 'a' })
    const planted = join(project, 'planted')
    await git(project, 'clone', '--bare', '.', planted)
    expect(await own(project, 'rev-parse', 'HEAD')).toMatchObject({ ok: true })
    expect(await own(planted, 'rev-parse', 'HEAD')).toMatchObject({ ok: false })
    await preset.close()
  })

  it('[AG22] cannot write outside of their worktree, and a folder without git has none to give', async () => {
    const parts: Part[] = [{ when: 'main', answers: [[agent('out', 'break out', { worktree: true })], 'ok'] }]
    const { preset, project } = await scene(parts, { 'a.txt': 'a' })
    const evil = join(project, 'evil.txt')
    parts.push({ when: 'break out', answers: [[call('Write', { file_path: evil, content: 'x' })], 'tried'] })
    const session = await preset.engine.open()
    await turn(session.send('go'))
    const [row] = session.agents()
    const [refused] = ofType(await factsOf(preset.store, row!.child), 'tool-result')
    expect(refused).toMatchObject({ isError: true })
    expect(await readdir(project)).not.toContain('evil.txt')
    await session.close()
    const bare = await stage([{ when: 'main', answers: [[agent('out', 'x', { worktree: true })], 'ok'] }])
    await mkdir(join(bare.project, 'sub'))
    const plain = await bare.preset.engine.open()
    await turn(plain.send('go'))
    const [result] = ofType(await factsOf(bare.preset.store, plain.id), 'tool-result')
    expect(JSON.stringify(result)).toContain('needs a git repository')
    expect(plain.agents()).toEqual([])
    await plain.close()
  })

  it('[AG26] of a session that itself works in a worktree begin where it stands and keep the repository’s memory', async () => {
    const parts: Part[] = [
      {
        when: 'main',
        answers: replies({
          'first one': [agent('keep', 'remember it', { type: 'keeper', worktree: true })],
          'second one': [agent('recall', 'recall it', { type: 'keeper' })],
        }),
      },
      { when: 'recall it', answers: ['recalled'] },
    ]
    const { preset, project, home, simulator, url } = await scene(
      parts,
      { 'a.txt': 'a\n' },
      { agentTypes: [keeper] },
    )
    const linked = join(dirname(project), 'linked')
    await git(project, 'worktree', 'add', '--quiet', '-b', 'side', linked)
    await writeFile(join(linked, 'side.txt'), 'only on the side\n')
    await git(linked, 'add', 'side.txt')
    await git(linked, 'commit', '--quiet', '-m', 'side')
    const kept = join(project, '.palimpsest', 'agent-memory', 'keeper')
    const content = '---\nname: seen\ndescription: MEMORY-PROBE\ntype: project\n---\nSeen.\n'
    parts.push({
      when: 'remember it',
      answers: [
        [
          call('Write', { file_path: join(kept, 'seen.md'), content }),
          call('Read', { file_path: 'side.txt' }),
          call('Write', { file_path: 'new.txt', content: 'new' }),
        ],
        'kept',
      ],
    })
    const settings = { model: 'claude-sonnet-4-6', allow: ['Write'] }
    const side = await opened({ url, home, project: linked }, { agentTypes: [keeper], settings })
    const session = await side.preset.engine.open()
    await turn(session.send('first one'))
    const [row] = session.agents()
    const results = ofType(await factsOf(side.preset.store, row!.child), 'tool-result')
    expect(results.map(({ isError }) => isError)).toEqual([false, false, false])
    expect(JSON.stringify(results[1])).toContain('only on the side')
    expect(await readdir(kept)).toContain('seen.md')
    expect(await mergeBranch(own, linked, row!.worktree!.branch)).toEqual({ ok: true, files: ['new.txt'] })
    const main = await preset.engine.open()
    await turn(main.send('second one'))
    expect(bodiesOf(simulator, 'recall it')[0]).toContain('MEMORY-PROBE')
    await session.close()
    await main.close()
  })
})
