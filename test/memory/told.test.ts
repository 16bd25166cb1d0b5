// What a session is told before its first message and on its way.
import { execFile } from 'node:child_process'
import { mkdir, rename, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { machineFileSystem, type FileSystem } from '../../src/disk/fs.ts'
import { acceptOutside, waiting } from '../../src/memory/keeping/held.ts'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import { tell } from '../../src/preset/memory/reminder.ts'
import { later, turn } from '../e2e/simulated.ts'
import { openWorkspace, lastRequest, read, write } from './workspace.ts'
import { folder } from './folder.ts'
import { openKeeper } from '../../src/memory/keeping/keeper.ts'
import { from, keeperOptions, memoryText, unsynced } from './memories.ts'

describe('the reminder', () => {
  it('[RS18] what stands in it is not given back by a compaction, whatever its name; what does not is', async () => {
    const base = await folder()
    const work = join(base, 'work')
    await mkdir(join(work, 'sub'), { recursive: true })
    await writeFile(join(work, 'AGENTS.md'), 'RULE-A\n@house-style.md\n')
    await writeFile(join(work, 'CLAUDE.md'), 'RULE-A\n@house-style.md\n')
    await writeFile(join(work, 'house-style.md'), 'RULE-B')
    await writeFile(join(work, 'sub', 'AGENTS.md'), 'RULE-C')
    const paths = ['AGENTS.md', 'CLAUDE.md', 'house-style.md', 'sub/AGENTS.md'].map((name) =>
      join(work, name),
    )
    const one = await openWorkspace(() => [paths.map(read), 'It is long. '.repeat(6000), 'ok'], { base })
    const session = await one.preset.engine.open()
    later(() => session.close())
    await turn(session.send('look at the rules'))
    await session.compact()
    await turn(session.send('go on'))
    const given = [...lastRequest(one).matchAll(/<restored-file path=\\"([^"\\]+)/gu)].map(([, path]) => path)
    expect(given).toEqual([join(work, 'sub', 'AGENTS.md')])
    expect(lastRequest(one).split('RULE-A')).toHaveLength(2)
  })

  it('[ME26] stays as it was sent until a compaction, and is read again behind it', async () => {
    const base = await folder()
    await mkdir(join(base, 'work'), { recursive: true })
    const agents = join(base, 'work', 'AGENTS.md')
    await writeFile(agents, 'the first rule')
    const one = await openWorkspace(() => Array.from({ length: 12 }, () => 'word '.repeat(400)), {
      base,
      settings: { model: 'claude-sonnet-4-6', window: 30_000 },
    })
    await one.say('begin')
    expect(lastRequest(one)).toMatch(
      /"role":"user","content":\[\{"type":"text","text":"<system-reminder>[^}]*the first rule/,
    )
    await writeFile(agents, 'the second rule')
    await writeFile(join(base, 'work', 'CLAUDE.md'), 'a planted rule')
    await one.say('go on')
    expect(lastRequest(one)).toContain('the first rule')
    expect(lastRequest(one)).not.toContain('the second rule')
    const isCompacted = () => one.events.some(({ type }) => type === 'compaction')
    for (let n = 0; n < 8 && !isCompacted(); n++) await one.say('word '.repeat(3000))
    expect(isCompacted()).toBe(true)
    await one.say('and?')
    expect(lastRequest(one)).toContain('the second rule')
    expect(lastRequest(one)).not.toMatch(/the first rule|a planted rule/)
    const notices = one.events.flatMap((event) => (event.type === 'notice' ? [event.message] : []))
    expect(notices).toContainEqual(expect.stringMatching(/CLAUDE\.md appeared while this session ran/))
    expect(notices).toContainEqual(expect.stringMatching(/AGENTS\.md changed since it was last sent/))
    const next = await openWorkspace(() => ['ok'], { base })
    await next.say('hi')
    expect(lastRequest(next)).toMatch(/the second rule[\s\S]*a planted rule/)
  })

  it('[ME27] of a nested folder comes with the first file touched there', async () => {
    const one = await openWorkspace(({ root }) => [
      [read(join(root, 'sub', 'a.txt'))],
      [read(join(root, 'sub', 'b.txt'))],
      'done',
    ])
    const nested = await one.put('work/sub/AGENTS.md', 'the rule of sub')
    await utimes(nested, 1000, 1000)
    await one.put('work/sub/a.txt', 'a')
    await one.put('work/sub/b.txt', 'b')
    await one.say('look')
    expect(lastRequest(one).match(/the rule of sub/g)).toHaveLength(1)
    expect(lastRequest(one)).toContain('Instructions for the folder you have come to')
  })

  it('[ME28] leaves out what somebody else committed for the team, until it is accepted', async () => {
    const one = await openWorkspace(() => ['ok'])
    await one.put(
      'work/.palimpsest/memory/deploy.md',
      memoryText('deploy', { type: 'feedback', body: 'When asked for X call Y.' }),
    )
    await one.say('hi')
    expect(lastRequest(one)).not.toContain('deploy.md')
    const team = one.preset.memory.keepers.find(({ place }) => place.scope === 'team')!
    expect(await acceptOutside(team, 'deploy.md')).toMatchObject({ ok: true })
    const next = await openWorkspace(() => ['ok'], { base: one.base })
    await next.say('hi')
    expect(lastRequest(next)).toContain('deploy.md')
  })

  it("[ME77] a colleague's memory is reviewed once: not again when it is moved, taken away and brought back, or others come", async () => {
    const one = await openWorkspace(() => ['ok'])
    const folderOf = 'work/.palimpsest/memory'
    const text = memoryText('deploy', { type: 'feedback', body: 'When asked for X call Y.' })
    await one.put(`${folderOf}/deploy.md`, text)
    const team = one.preset.memory.keepers.find(({ place }) => place.scope === 'team')!
    const waits = async () => {
      const found = await waiting(team)
      return found.ok ? found.outside.map(({ file, kind }) => `${kind} ${file}`) : found
    }
    expect(await waits()).toEqual(['new deploy.md'])
    expect(await acceptOutside(team, 'deploy.md')).toMatchObject({ ok: true })
    expect(await waits()).toEqual([])
    const path = join(one.base, folderOf)
    await mkdir(join(path, 'ops'))
    await rename(join(path, 'deploy.md'), join(path, 'ops', 'release.md'))
    await one.put(`${folderOf}/other.md`, memoryText('other', { body: 'Something else.' }))
    await one.put('work/src/unrelated.ts', 'export {}')
    expect(await waits()).toEqual(['new other.md'])
    const next = await openWorkspace(() => ['ok'], { base: one.base })
    await next.say('hi')
    expect(lastRequest(next)).toContain('(ops/release.md)')
    expect(lastRequest(next)).not.toMatch(/\(deploy\.md\)|\(other\.md\)/u)
    // Another branch has it not, and the way back brings it again.
    await rm(join(path, 'ops', 'release.md'))
    expect(await waits()).toEqual(['new other.md', 'gone deploy.md'])
    expect(await acceptOutside(team, 'deploy.md')).toMatchObject({ ok: true })
    await writeFile(join(path, 'deploy.md'), text)
    expect(await waits()).toEqual(['new other.md'])
    await rm(join(path, 'deploy.md'))
    expect(await waits()).toEqual(['new other.md'])
    // Other content under the name that was accepted is content nobody has seen.
    await writeFile(join(path, 'deploy.md'), text.replace('call Y', 'call Z'))
    expect(await waits()).toEqual(['new deploy.md', 'new other.md'])
  })

  it('[ME29] knows in the repository what was remembered in a worktree that is gone', async () => {
    const base = await folder()
    const repo = join(base, 'repo')
    await mkdir(repo)
    const git = async (...words: string[]) =>
      await promisify(execFile)('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.test', ...words], {
        cwd: repo,
      })
    await git('init', '-q')
    await git('commit', '-q', '--allow-empty', '-m', 'x')
    await git('worktree', 'add', '-q', join(base, 'tree'))
    const text = memoryText('tabs', {
      type: 'feedback',
      description: 'indent with tabs',
      body: 'Always indent with tabs.',
    })
    const tree = await openWorkspace(({ memories }) => [[write(join(memories, 'tabs.md'), text)], 'ok'], {
      base,
      cwd: join(base, 'tree'),
    })
    expect((await tree.say('remember to indent with tabs'))[0]).toMatch(/^Saved/)
    await rm(join(base, 'tree'), { recursive: true })
    const main = await openWorkspace(() => ['ok'], { base, cwd: repo })
    await main.say('hi')
    expect(lastRequest(main)).toContain('(tabs.md)')
  })

  it('[ME34] reads the index and no memory, however many there are', async () => {
    const one = await openWorkspace(() => ['ok'])
    const { place } = one.preset.memory.keepers.find((keeper) => keeper.place.scope === 'project')!
    const keeper = openKeeper(place, keeperOptions({ fs: unsynced }))
    const changes = Array.from({ length: 310 }, (_, n) => ({ file: `m${n}.md`, text: memoryText(`m${n}`) }))
    const done = await applyWrite(keeper, changes, from(), { via: 'session' })
    expect(done.ok && done.dropped.length).toBeGreaterThan(100)
    const opened: string[] = []
    const counting: FileSystem = {
      ...machineFileSystem,
      open: (path, how, mode) => {
        opened.push(path)
        return machineFileSystem.open(path, how, mode)
      },
      stat: (path) => {
        // How large the ledger is may be asked; what is in it not.
        if (!path.endsWith('ledger.jsonl')) opened.push(path)
        return machineFileSystem.stat(path)
      },
    }
    const fresh = await openWorkspace(() => ['ok'], { base: one.base, fs: counting })
    const told = await tell(fresh.preset.memory.reminderOptions, null)
    expect(told.text).toContain('(m309.md)')
    expect(opened.filter((path) => /m\d+\.md$|\/memory-state\/ledger/.test(path))).toEqual([])
  })
})
