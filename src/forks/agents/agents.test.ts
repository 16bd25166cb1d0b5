// The parts of an agent that need no model: types in files, memory, phrases, limits, git.
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { machineFileSystem } from '../../disk/fs.ts'
import { modelTable, price } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import { memoryFolder, openMemory } from './agent-memory.ts'
import { watchRun } from './worker.ts'
import { cheapestModel, phraseOf, recentCalls } from './progress.ts'
import { loadTypes, readType, builtInTypes } from './types.ts'

async function folder(): Promise<string> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'pal-agents-')))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

describe('types of agents', () => {
  it('[AG41] are read from a file with their limits, and what does not fit is refused with the reason', async () => {
    const text =
      '---\nname: scout\ndescription: looks\ntools: [Read]\nmemory: local\nrounds: 3\nminutes: 2\ndollars: 0.5\n---\nLook.\n'
    expect(await readType(text, 'user')).toMatchObject({
      ok: true,
      type: {
        name: 'scout',
        prompt: 'Look.',
        tools: ['Read'],
        model: null,
        memory: 'local',
        limits: { rounds: 3, ms: 120_000, tokens: defaults.agents.tokens, dollars: 0.5 },
      },
    })
    // As some editors save it.
    expect(
      await readType(`\uFEFF${text.replaceAll('\n', '\r\n').replace('---', '--- ')}`, 'user'),
    ).toMatchObject({
      ok: true,
      type: { name: 'scout', prompt: 'Look.' },
    })
    const bad = [
      'no front',
      '---\nname: A B\ndescription: x\n---\np',
      '---\nname: a\ndescription: x\n---\n \n',
      '---\nname: a\ndescription: x\nrounds: -1\n---\np',
      '---\nname: a\ndescription: x\nextra: 1\n---\np',
      '---\na: &a [1]\nb: [*a, *a]\n---\np',
      '---\n{{{\n---\np',
    ]
    for (const each of bad) expect(await readType(each, 'user'), each).toMatchObject({ ok: false })
    await fc.assert(
      fc.asyncProperty(
        fc.string(),
        async (front) => void (await readType(`---\n${front}\n---\nprompt`, 'user')),
      ),
    )
  })

  it('[AG41] a project’s win over the user’s and both over the built-in ones, and a link leads nowhere else', async () => {
    const base = await folder()
    const [home, project] = [join(base, 'home'), join(base, 'project')]
    await mkdir(join(home, 'agents'), { recursive: true })
    await mkdir(join(project, '.palimpsest', 'agents'), { recursive: true })
    const file = (name: string, prompt: string): string =>
      `---\nname: ${name}\ndescription: d\n---\n${prompt}\n`
    await writeFile(join(home, 'agents', 'explore.md'), file('explore', 'of the user'))
    await writeFile(join(home, 'agents', 'mine.md'), file('mine', 'of the user'))
    await writeFile(join(project, '.palimpsest', 'agents', 'mine.md'), file('mine', 'of the project'))
    await writeFile(join(base, 'secret.md'), file('secret', 'from elsewhere'))
    await symlink(join(base, 'secret.md'), join(project, '.palimpsest', 'agents', 'link.md'))
    const all = await loadTypes(machineFileSystem, { home, project })
    const prompts = Object.fromEntries(all.types.map(({ name, prompt }) => [name, prompt]))
    expect(prompts).toMatchObject({ explore: 'of the user', mine: 'of the project' })
    expect(prompts).not.toHaveProperty('secret')
    expect(all.problems).toHaveLength(1)
    const untrusted = await loadTypes(machineFileSystem, { home, project: null })
    expect(untrusted.types.find(({ name }) => name === 'mine')?.prompt).toBe('of the user')
    const none = await loadTypes(machineFileSystem, { home: join(base, 'nowhere'), project: null })
    expect(none).toEqual({ types: builtInTypes, problems: [] })
  })
})

describe('what agents remember', () => {
  it('[AG50] lies by scope and type, and the index is loaded within its limits, with what was cut', async () => {
    const base = await folder()
    const places = { home: join(base, 'home'), root: join(base, 'root') }
    expect(memoryFolder(places, 'user', 'a:b')).toBe(join(places.home, 'agent-memory', 'a-b'))
    expect(memoryFolder(places, 'project', 'x')).toBe(join(places.root, '.palimpsest', 'agent-memory', 'x'))
    expect(memoryFolder(places, 'local', 'x')).toBe(
      join(places.root, '.palimpsest', 'agent-memory-local', 'x'),
    )
    const empty = await openMemory(machineFileSystem, places, 'project', 'x')
    expect(empty).toMatchObject({
      ok: true,
      memory: { text: expect.stringContaining('It is empty') as string },
    })
    const lines = Array.from(
      { length: defaults.agents.memoryLines + 50 },
      (_, at) => `- [t${at}](f${at}.md) — hook`,
    )
    await writeFile(join(memoryFolder(places, 'project', 'x'), 'MEMORY.md'), lines.join('\n'))
    const full = await openMemory(machineFileSystem, places, 'project', 'x')
    const text = full.ok ? full.memory.text : ''
    expect(text).toContain('[t0]')
    expect(text).toContain(`[t${defaults.agents.memoryLines - 1}]`)
    expect(text).not.toContain(`[t${defaults.agents.memoryLines}]`)
    expect(text).toContain('50 more lines')
  })
})

describe('what a running agent is at', () => {
  it('[AG51] is a phrase of three to five words in the present that names what it touched, or nothing', () => {
    const calls = 'Read {"file_path":"src/parser.ts"}\nBash {"command":"npm test"}'
    const good = ['Reading the parser.ts file', '"Running npm test again."', 'Checking parser.ts in src']
    for (const phrase of good) expect(phraseOf(phrase, calls), phrase).not.toBeNull()
    const bad = [
      'Read parser.ts',
      'I read the parser file',
      'Working on the parser',
      'Reading the lexer now',
      'Reading parser',
      'Reading the parser file and then the other',
      'Reading\nthe parser file',
      '',
      'Finished reading the parser',
    ]
    for (const phrase of bad) expect(phraseOf(phrase, calls), phrase).toBeNull()
  })

  it('[AG51] is asked of the cheapest model there is, from the newest calls', () => {
    const models = modelTable()
    const cheapest = cheapestModel(models, 'claude-sonnet-4-6')!
    const usage = { input: 1000, cacheRead: 0, cacheWrite: 0, output: 50 }
    const like = models.get('claude-sonnet-4-6')!
    const least = price(models.get(cheapest)!, usage)!.total
    expect(least).toBeLessThan(price(like, usage)!.total)
    for (const info of models.values()) {
      const cost = info.provider === like.provider ? price(info, usage) : null
      if (cost !== null) expect(least).toBeLessThanOrEqual(cost.total)
    }
    const events = Array.from(
      { length: 9 },
      (_, at) => ({ type: 'tool-start', id: `${at}`, name: 'Read', input: { at } }) as const,
    )
    expect(recentCalls({ events }).split('\n')).toHaveLength(defaults.agents.progressCalls)
    expect(recentCalls({ events })).toContain('{"at":8}')
  })
})

it('[AG12] a limit so long that no timer holds it does not stop anybody at once', async () => {
  const watch = watchRun({ rounds: 5, ms: 1e15 }, new AbortController().signal)
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect(watch.why()).toBeNull()
  watch.close()
})
