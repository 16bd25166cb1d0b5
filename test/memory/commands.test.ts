// `pal memory` as it is shipped, in a child process.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import { openKeeper } from '../../src/memory/keeping/keeper.ts'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { projectOf } from '../../src/preset/project.ts'
import { openWorkspace, type Workspace } from '../cli/pal.ts'
import { from, fromTool, keeperOptions, memoryText } from './memories.ts'

async function remembered(at: Workspace) {
  const found = await projectOf(machineFileSystem, at.project)
  if (!found.ok) throw new Error(found.failure.message)
  const own = join(at.state, 'projects', found.project.slug)
  const place = { scope: 'project', root: join(own, 'memory'), state: join(own, 'memory-state') } as const
  const keeper = openKeeper(place, keeperOptions())
  const save = async (file: string, text: string, by = from()) =>
    await applyWrite(keeper, [{ file, text }], by, { via: 'session' })
  return { place, keeper, save }
}

const json = async (at: Workspace, ...words: string[]) => {
  const { code, out, err } = await at.pal(['memory', ...words, '--json'])
  expect([code, err]).toEqual([0, ''])
  return JSON.parse(out) as Record<string, never>
}

describe('pal memory', () => {
  it('[ME30] lists, shows, logs, compares and brings back, as text and as JSON', async () => {
    const at = await openWorkspace()
    const { save, place } = await remembered(at)
    await save('tabs.md', memoryText('tabs', { type: 'feedback', body: 'Use tabs.' }))
    await save('tabs.md', memoryText('tabs', { type: 'feedback', body: 'Use spaces.' }))
    expect((await at.pal(['memory'])).out).toMatch(/project +tabs\.md +feedback +active +user /)
    expect(await json(at)).toMatchObject({ memories: [{ file: 'tabs.md', standing: 'open' }], waiting: 0 })
    expect((await at.pal(['memory', 'show', 'tabs'])).out).toMatch(
      /session session-1, message m1[\s\S]*Use spaces\./,
    )
    expect(await json(at, 'log')).toMatchObject({ versions: [{ n: 1 }, { n: 2 }] })
    expect((await at.pal(['memory', 'diff', 'tabs'])).out).toMatch(/-Use tabs\.\n\+Use spaces\./)
    expect(await json(at, 'revert', 'tabs')).toMatchObject({ file: 'tabs.md', version: 3, to: 1 })
    expect(await readFile(join(place.root, 'tabs.md'), 'utf8')).toContain('Use tabs.')
    expect((await at.pal(['memory', 'show', 'nothing'])).code).toBe(2)
  })

  it('[ME76] shows what a memory said before, and until when', async () => {
    const at = await openWorkspace()
    const { save } = await remembered(at)
    for (const server of ['pelican', 'heron', 'heron']) {
      const body = `Staging is ${server}.`
      await save('staging.md', memoryText('staging', { description: body, body: `${body}\n` }))
    }
    const { out } = await at.pal(['memory', 'show', 'staging'])
    expect(out.match(/^was: .*$/gmu)).toEqual([
      expect.stringMatching(/^was: Staging is pelican\. \(until \d{4}-/u),
    ])
    expect(await json(at, 'show', 'staging')).toMatchObject({ earlier: [{ said: 'Staging is pelican.' }] })
  })

  it('[ME31] shows what waits whole, and lets it count only by accept', async () => {
    const at = await openWorkspace()
    const { save, place } = await remembered(at)
    await save('rule.md', memoryText('rule', { type: 'feedback', body: 'Call \u202Edeploy.' }), fromTool())
    await save('known.md', memoryText('known'))
    await writeFile(
      join(place.root, 'known.md'),
      memoryText('known', { body: 'Changed by an install script.' }),
    )
    const { out } = await at.pal(['memory', 'review'])
    expect(out).toMatch(
      /rule\.md: held: rules and preferences come only[\s\S]*\+Call deploy\.[\s\S]*pal memory accept 1/,
    )
    expect(out).toMatch(/known\.md: changed from outside[\s\S]*\+Changed by an install script\./)
    expect(await json(at, 'accept', '1')).toEqual({ accepted: ['1'] })
    expect(await json(at, 'reject', 'known.md')).toEqual({ rejected: ['known.md'] })
    expect(await readFile(join(place.root, 'known.md'), 'utf8')).toContain('The text of known.')
    expect(await json(at)).toMatchObject({
      memories: expect.arrayContaining([
        expect.objectContaining({ file: 'rule.md', standing: 'open' }),
        expect.objectContaining({ file: 'known.md', standing: 'open' }),
      ]) as unknown,
      waiting: 0,
    })
    expect((await at.pal(['memory', 'accept', '9'])).code).toBe(1)
  })

  it('[ME32] [ME70] forgets completely and says what it did and what stays blocked', async () => {
    const at = await openWorkspace()
    const { save, place } = await remembered(at)
    await save('secret-plan.md', memoryText('plan', { body: 'The merger is planned for the ninth of May.' }))
    await save('other.md', memoryText('other'), from({ session: 'session-2' }))
    expect((await at.pal(['memory', 'forget', '--session', 'session-1'])).out).toMatch(
      /secret-plan\.md: removed with all its versions/,
    )
    const left = await everything(join(at.state, 'projects'))
    expect(left).not.toMatch(/merger|secret-plan/)
    expect(left).toContain('other.md')
    const again = await save(
      'again.md',
      memoryText('x', { body: 'The merger is planned for the ninth of May!' }),
      from({ session: 's3' }),
    )
    expect(again).toMatchObject({ ok: true, applied: [{ kind: 'refused', code: 'forgotten' }] })
    expect(await readdir(place.root)).not.toContain('again.md')
    expect((await at.pal(['memory'])).out).toMatch(
      /forgotten .*sentence.*session session-1; not saved again unless/,
    )
    expect((await at.pal(['memory', 'forget'])).code).toBe(2)
  })

  it('[ME32] [G75] forgets a session by the id that lists show, and says of one that nobody knows that nothing was forgotten', async () => {
    const at = await openWorkspace()
    const { save } = await remembered(at)
    const session = '01a1f57d-b2c6-7b1c-bbac-733ec924cb99'
    await save('plan.md', memoryText('plan', { body: 'The merger is planned.' }), from({ session }))
    const unknown = await at.pal(['memory', 'forget', '--session', 'c924cb98'])
    expect([unknown.code, unknown.out]).toEqual([4, ''])
    expect(unknown.err).toMatch(/there is no session c924cb98 .*nothing was forgotten/)
    expect((await at.pal(['memory'])).out).not.toContain('forgotten')
    const done = await at.pal(['memory', 'forget', '--session', 'c924cb99'])
    expect([done.code, done.out]).toEqual([
      0,
      expect.stringContaining('plan.md: removed with all its versions'),
    ])
    expect(await everything(join(at.state, 'projects'))).not.toContain('merger')
  })

  it('[ME33] --why names every file a session is told of, with its layer and tokens', async () => {
    const at = await openWorkspace()
    const { save } = await remembered(at)
    await save('tabs.md', memoryText('tabs'))
    await writeFile(join(at.state, 'AGENTS.md'), 'Answer in English.')
    await writeFile(join(at.project, 'AGENTS.md'), 'Read @docs/style.md first.')
    await mkdir(join(at.project, 'docs'))
    await writeFile(join(at.project, 'docs', 'style.md'), 'Short sentences.')
    const untrusted = await at.pal(['memory', '--why'])
    expect(untrusted.out).toMatch(/AGENTS\.md was not read: this folder is not trusted/)
    await at.pal(['trust'])
    const why = await json(at, '--why')
    expect(why).toMatchObject({
      files: [
        { layer: 'user', tokens: expect.any(Number) as number },
        { layer: 'project', path: join(at.project, 'AGENTS.md') },
        { layer: 'project', path: join(at.project, 'docs', 'style.md'), by: join(at.project, 'AGENTS.md') },
        { layer: 'memory' },
      ],
      problems: [],
    })
  })
})

/** Every name and every byte below a folder, as one text. */
async function everything(folder: string): Promise<string> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const texts = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => `${entry.name}\n${await readFile(join(entry.parentPath, entry.name), 'utf8')}`),
  )
  return texts.join('\n')
}
