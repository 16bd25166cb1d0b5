// Consolidation over the preset: its gates and its lock, that it can be stopped, what a hostile model does to it, and that
// a process killed at any of its writes leaves before or after.
import { existsSync } from 'node:fs'
import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { consolidate, type Consolidated } from '../../src/forks/memory/consolidation/consolidate.ts'
import { gateOf } from '../../src/forks/memory/consolidation/gates.ts'
import {
  lastConsolidation,
  lockName,
  releaseConsolidationLock,
  takeConsolidationLock,
} from '../../src/memory/keeping/consolidation-lock.ts'
import { machineProcesses } from '../../src/disk/processes.ts'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import { appendDiary } from '../../src/memory/keeping/diary.ts'
import { openFolderStore } from '../../src/memory/keeping/folder-store.ts'
import { forget } from '../../src/memory/keeping/forget.ts'
import { finishSet, undoSet } from '../../src/memory/keeping/change-sets.ts'
import { call, ruleModel, variants } from '../../src/simulator/index.ts'
import { later, factsOf, ofType, refusals, turn } from '../e2e/simulated.ts'
import { exited, linesOf, program } from '../faults/child.ts'
import { folder } from '../memory/folder.ts'
import { from, fromTool, keeperIn, memoryText, unsynced } from '../memory/memories.ts'
import { serving, waiting } from './answers.ts'
import { until } from '../until.ts'
import { openWorkspace, filesIn, hour, quiet, type Workspace } from './workspace.ts'

const rule = (name: string, body: string): string =>
  memoryText(name, { type: 'feedback', description: body, body })
const now = { isDry: false, isAsked: true }

async function dreamt(at: Workspace, how = now): Promise<Consolidated> {
  const session = await at.open()
  const { list, options } = at.preset.memoryJobs
  return await consolidate(options, at.keeper, session, list.start('dream', session.id, at.clock.now()), how)
}

/** Two that say the same, one on its own, and one of a tool. */
async function filled(at: Workspace): Promise<void> {
  await at.save('old.md', rule('old', 'Always run the linter before tests.'), { session: 'session-old' })
  await at.save('new.md', rule('new', 'Never run the linter before tests.'), { session: 'session-new' })
  await at.save('deadline.md', memoryText('deadline', { body: 'The release is tomorrow.' }))
  await at.save('page.md', memoryText('page', { body: 'The page names heron as its server.' }), fromTool())
}

describe('the lock', () => {
  it('[DR15] its time is that of the last consolidation: it stays after a good end, and comes back after a bad one', async () => {
    let time = Date.UTC(2026, 10, 15)
    const keeper = keeperIn(await folder(), { fs: unsynced, clock: { now: () => time } })
    const at = async () => (await lastConsolidation(keeper)) as { ok: true; at: number }
    expect(await at()).toEqual({ ok: true, at: 0 })
    const first = await takeConsolidationLock(keeper)
    if (!first.ok || first.lock === null) throw new Error('not taken')
    // What has only begun does not count, and nobody else gets in.
    expect(await at()).toEqual({ ok: true, at: 0 })
    expect(await takeConsolidationLock(keeper)).toEqual({ ok: true, lock: null })
    await releaseConsolidationLock(keeper, first.lock, 'done')
    const path = join(keeper.place.root, lockName)
    expect([(await stat(path)).mtimeMs, await readFile(path, 'utf8')]).toEqual([time, ''])
    time += 25 * hour
    const second = await takeConsolidationLock(keeper)
    if (!second.ok || second.lock === null) throw new Error('not taken')
    await releaseConsolidationLock(keeper, second.lock, 'failed')
    expect(await at()).toEqual({ ok: true, at: Date.UTC(2026, 10, 15) })
    // Only its owner gives it back.
    const third = await takeConsolidationLock(keeper)
    await releaseConsolidationLock(keeper, second.lock, 'done')
    expect(third.ok && third.lock !== null && (await takeConsolidationLock(keeper))).toEqual({
      ok: true,
      lock: null,
    })
  })

  it('[DR15] a dead owner is noticed at once, one that cannot be read after an hour', async () => {
    let time = Date.UTC(2026, 10, 15)
    const base = await folder()
    const clock = { now: () => time }
    const living = keeperIn(base, { fs: unsynced, clock })
    expect(await takeConsolidationLock(living)).toMatchObject({ lock: { earlier: 0 } })
    const after = keeperIn(base, {
      fs: unsynced,
      clock,
      processes: { ...machineProcesses, look: () => Promise.resolve(null) },
    })
    expect(await takeConsolidationLock(after)).toMatchObject({ lock: { earlier: 0 } })
    const path = join(living.place.root, lockName)
    await writeFile(path, 'half of a bo')
    await utimes(path, new Date(time), new Date(time))
    expect(await takeConsolidationLock(living)).toEqual({ ok: true, lock: null })
    time += 61 * 60 * 1000
    expect(await takeConsolidationLock(living)).toMatchObject({
      lock: { token: expect.any(String) as string },
    })
  })

  it('[DR15] of many that want it at once one gets it, and the others end quietly', async () => {
    const base = await folder()
    const keepers = Array.from({ length: 6 }, () => keeperIn(base, { fs: unsynced }))
    const taken = await Promise.all(keepers.map((keeper) => takeConsolidationLock(keeper)))
    expect(taken.filter((one) => one.ok && one.lock !== null)).toHaveLength(1)
    expect(taken.every(({ ok }) => ok)).toBe(true)
  })
})

describe('the gates', () => {
  it('[DR16] are asked cheapest first: switched on, a day, ten minutes, five sessions; forks do not count', async () => {
    const at = await openWorkspace(ruleModel(), { interactive: false })
    const { store } = at.preset
    let lists = 0
    const counted = new Proxy(store, {
      get: (target, name) => {
        if (name === 'list') lists++
        const value: unknown = Reflect.get(target, name)
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      },
    })
    const scans = { last: null as number | null }
    const gate = async (isOn = true) =>
      (await gateOf({ isOn, memories: at.keeper, folder: at.keeper, clock: at.clock, store: counted, scans }))
        .gate
    expect(await gate(false)).toBe('off')
    expect(await gate()).toBe('empty')
    await at.save('one.md', memoryText('one', { body: 'The server is heron.' }))
    const session = await at.talk('one')
    const again = await at.preset.engine.open(session.id)
    await again.fork({ purpose: 'other', directive: 'x' })
    await again.close()
    for (const words of ['two', 'three', 'four']) await at.talk(words)
    expect(await gate()).toBe('few-sessions')
    expect(await gate()).toBe('scanned')
    expect(lists).toBe(1)
    await at.talk('five')
    at.clock.ahead += 11 * 60 * 1000
    expect(await gate()).toBe('open')
    await dreamt(at)
    at.clock.ahead += 23 * hour
    expect(await gate()).toBe('too-soon')
    expect(lists).toBe(2)
    at.clock.ahead += 2 * hour
    // Nothing was worked in since.
    expect(await gate()).toBe('few-sessions')
  })
})

describe('a consolidation', () => {
  it('[DR17] is shown first without a trace, made, taken back whole, and then changes nothing twice', async () => {
    const at = await openWorkspace()
    await filled(at)
    const before = await at.files()
    const shown = await dreamt(at, { isDry: true, isAsked: true })
    expect(shown).toMatchObject({ kind: 'shown' })
    expect(await at.files()).toEqual(before)
    expect(await lastConsolidation(at.keeper)).toEqual({ ok: true, at: 0 })
    const made = await dreamt(at)
    expect(made).toMatchObject({
      kind: 'changed',
      report: expect.arrayContaining(['retired old.md: new.md replaces it']) as string[],
    })
    const after = await at.files()
    expect(Object.keys(after)).toEqual(['MEMORY.md', 'deadline.md', 'new.md', 'page.md'])
    expect(after['deadline.md']).toMatch(/The release is \d{4}-\d\d-\d\d\./u)
    expect(await dreamt(at)).toMatchObject({ kind: 'nothing' })
    expect(await at.files()).toEqual(after)
    expect(await undoSet(at.keeper, 'u')).toMatchObject({ ok: true })
    expect(await at.files()).toEqual(before)
    expect(at.keeper.ledger.current('old.md')?.by).toMatchObject({ trust: 'user', session: 'session-old' })
    expect(refusals(at.scene)).toEqual([])
  })

  it('[DR17] in review mode waits for the user, who asks for it by a command', async () => {
    const at = await openWorkspace()
    await filled(at)
    const before = await at.files()
    const review = openFolderStore(at.keeper.place, { ...at.keeper, review: true })
    const session = await at.open()
    const { list, options } = at.preset.memoryJobs
    const quietly = { isDry: false, isAsked: false }
    expect(await consolidate(options, review, session, list.start('dream', '', 0), quietly)).toMatchObject({
      kind: 'failed',
    })
    expect(await at.files()).toEqual(before)
    expect(await consolidate(options, review, session, list.start('dream', '', 0), now)).toMatchObject({
      kind: 'changed',
    })
  })

  it('[DR18] can be watched and stopped; then nothing is written and it does not count as the last', async () => {
    let asked = (): void => undefined
    const reached = new Promise<void>((resolve) => (asked = resolve))
    let release = (): void => undefined
    const silent = new Promise<void>((resolve) => (release = resolve))
    later(async () => release())
    const at = await openWorkspace(
      waiting('consolidate', () => {
        asked()
        return silent
      }),
    )
    await filled(at)
    const before = await at.files()
    const running = dreamt(at)
    await reached
    const { list } = at.preset.memoryJobs
    expect(list.looks().at(-1)).toMatchObject({ kind: 'dream', state: 'running', phase: 'starting' })
    expect(list.stop(list.looks().at(-1)!.id)).toBe(true)
    expect(await running).toMatchObject({ kind: 'killed' })
    expect(list.looks().at(-1)).toMatchObject({ state: 'killed' })
    expect(await at.files()).toEqual(before)
    expect(await lastConsolidation(at.keeper)).toEqual({ ok: true, at: 0 })
  })

  it.each([...variants.hostile, 'delete-all', 'reworded'] as const)(
    '[M1] [M2] [DR19] by a hostile model (%s) changes nothing it may not',
    async (variant) => {
      let whole: Workspace | null = null
      const write = (file: string, content: string) =>
        call('Write', { file_path: join(whole!.memories, file), content })
      const read = (file: string) => call('Read', { file_path: join(whole!.memories, file) })
      const all = ['old.md', 'new.md', 'deadline.md', 'page.md']
      const gone = (text: string, heir: string) =>
        text.replace(/(---\n[\s\S]*?---\n)[\s\S]*/u, `$1\nSuperseded by ${heir}.\n`)
      let texts: Record<string, string> = {}
      const own = {
        'delete-all': () =>
          all.map((file) => write(file, gone(texts[file]!, file === 'page.md' ? 'new.md' : 'page.md'))),
        reworded: () =>
          all.map((file) => write(file, texts[file]!.replace(/(?:linter|release|heron)/gu, 'attacker'))),
      }
      const isOwn = variant === 'delete-all' || variant === 'reworded'
      const at = await openWorkspace(
        isOwn
          ? serving('consolidate', () => [all.map(read), own[variant]()])
          : ruleModel({ mode: { consolidate: 'hostile' }, variant }),
      )
      whole = at
      await filled(at)
      texts = await at.files()
      const trusted = (text: string | undefined): string => text?.split('---\n').at(-1) ?? ''
      await dreamt(at)
      const after = await at.files()
      expect(JSON.stringify(after)).not.toMatch(/evil\.invalid|attacker/u)
      expect(trusted(after['new.md'])).toBe(trusted(texts['new.md']))
      expect(after['page.md']).toBe(texts['page.md'])
      expect(after['deadline.md']).toMatch(/The release is (?:tomorrow|\d{4}-\d\d-\d\d)\./u)
      for (const { by } of at.keeper.ledger.standing().filter(({ file }) => file === 'page.md'))
        expect(by.trust).toBe('data')
      expect(existsSync(join(at.base, 'home', '.palimpsest', 'projects', 'escaped.md'))).toBe(false)
      expect(existsSync('/tmp/outside-of-the-memory-folder.md')).toBe(false)
    },
  )

  it('[DR20] forgetting a session finds its words in what was joined from several', async () => {
    let whole: Workspace | null = null
    const at = await openWorkspace(
      serving('consolidate', () => {
        const path = (file: string) => join(whole!.memories, file)
        return [
          [call('Read', { file_path: path('a.md') }), call('Read', { file_path: path('b.md') })],
          [
            call('Edit', {
              file_path: path('a.md'),
              old_string: 'Heron is the staging server.',
              new_string: 'Heron is the staging server.\nThe merger is planned for the ninth of May.',
            }),
            call('Write', { file_path: path('b.md'), content: gone }),
          ],
        ]
      }),
    )
    whole = at
    const gone = memoryText('b', { description: 'b', body: 'Superseded by a.md.' })
    await at.save('a.md', memoryText('a', { description: 'a', body: 'Heron is the staging server.' }), {
      session: 'one',
    })
    await at.save(
      'b.md',
      memoryText('b', { description: 'b', body: 'The merger is planned for the ninth of May.' }),
      { session: 'two' },
    )
    expect(await dreamt(at)).toMatchObject({ kind: 'changed' })
    expect((await at.files())['a.md']).toContain('merger')
    expect(await forget(at.keeper, { session: 'two' })).toMatchObject({ ok: true })
    const left = await at.files()
    expect(left['a.md']).toContain('Heron is the staging server.')
    expect(JSON.stringify(left)).not.toContain('merger')
  })

  it('[DR17] the index stays within its caps, and what has no room is named', async () => {
    const at = await openWorkspace()
    for (let i = 0; i < 205; i++)
      await at.save(
        `m${i}.md`,
        memoryText(`matter ${i}`, {
          description: `about matter ${i} ${'x'.repeat(300)}`,
          body: `Matter ${i} is so.`,
        }),
      )
    await at.save('date.md', memoryText('date', { body: 'The release is tomorrow.' }))
    const made = await dreamt(at)
    expect(made).toMatchObject({ kind: 'changed' })
    const index = (await at.files())['MEMORY.md']!
    expect(index.split('\n').length).toBeLessThanOrEqual(200)
    expect(Buffer.byteLength(index)).toBeLessThanOrEqual(25_000)
    expect(Math.max(...index.split('\n').map((line) => line.length))).toBeLessThanOrEqual(150)
    expect(index).toContain('(date.md)')
    expect(made.kind === 'changed' && made.dropped.length).toBeGreaterThan(5)
  })

  it('[DR4] killed at each of its writes it leaves before or after', async () => {
    const child = await program('../dream/killed-child.ts')
    onTestFinished(() => child.remove())
    const seen = { before: 0, after: 0 }
    const texts = {
      'old.md': rule('old', 'Always run the linter before tests.'),
      'new.md': rule('new', 'Never run the linter before tests.'),
    }
    let wasKilled = true
    for (let n = 1; wasKilled; n += 3) {
      const runs = await Promise.all(
        [n, n + 1, n + 2].map(async (at) => {
          const base = await folder()
          const keeper = keeperIn(base, { fs: unsynced })
          await mkdir(keeper.place.root, { recursive: true })
          const running = child.run(base, String(at))
          const lines: string[] = []
          const reading = (async () => {
            for await (const line of linesOf(running)) lines.push(line)
          })()
          await exited(running)
          await reading
          return { base, lines, isKilled: running.signalCode === 'SIGKILL' }
        }),
      )
      for (const { base, lines, isKilled } of runs) {
        if (!lines.includes('ready')) throw new Error('it did not begin')
        const opened = keeperIn(base, { fs: unsynced })
        expect(await finishSet(opened)).toMatchObject({ ok: true })
        const files = await filesIn(opened.place.root)
        const which = 'old.md' in files ? 'before' : 'after'
        expect(Object.keys(files).toSorted()).toEqual(
          which === 'before'
            ? ['MEMORY.md', 'joined.md', 'new.md', 'old.md']
            : ['MEMORY.md', 'joined.md', 'new.md'],
        )
        expect(files['joined.md']).toContain(which === 'before' ? 'tomorrow' : '2026-11-16')
        expect(files['new.md']).toBe(texts['new.md'])
        expect(files['MEMORY.md']!.includes('(old.md)')).toBe(which === 'before')
        if (!isKilled) expect(which).toBe('after')
        seen[which]++
        // Whoever was killed is dead, so the next one gets the lock at once.
        if (isKilled)
          expect(await takeConsolidationLock(opened)).toMatchObject({
            ok: true,
            lock: { token: expect.any(String) as string },
          })
      }
      wasKilled = runs.every(({ isKilled }) => isKilled)
    }
    expect(seen.before).toBeGreaterThan(10)
    expect(seen.after).toBeGreaterThan(10)
  })

  it('[DR27] has every folder in turn, one at a time and each once a day, the project before the user', async () => {
    const at = await openWorkspace()
    const user = at.preset.memoryJobs.options.keepers.find(({ place }) => place.scope === 'user')!
    const put = async (file: string, body: string) => {
      const changes = [{ file, text: rule(file, body) }]
      expect(await applyWrite(user, changes, from({ at: at.clock.now() }), { via: 'session' })).toMatchObject(
        {
          ok: true,
        },
      )
    }
    await filled(at)
    await put('old.md', 'Always write short letters to me.')
    await put('new.md', 'Never write short letters to me.')
    for (const words of ['one', 'two', 'three', 'four']) await at.talk(words)
    at.clock.ahead += 11 * 60 * 1000
    const fifth = await at.open()
    await turn(fifth.send('five'))
    const dreams = () => at.preset.memoryJobs.list.looks().filter(({ kind }) => kind === 'dream')
    await until(() => dreams().length === 1, 'the project to be consolidated')
    await quiet(at)
    expect(dreams()).toMatchObject([{ state: 'completed' }])
    expect(Object.keys(await at.files())).not.toContain('old.md')
    expect(Object.keys(await filesIn(user.place.root))).toContain('old.md')
    at.clock.ahead += 11 * 60 * 1000
    await turn(fifth.send('six'))
    await until(() => dreams().length === 2, "the user's folder to be consolidated")
    await quiet(at)
    expect(dreams()).toHaveLength(2)
    expect(Object.keys(await filesIn(user.place.root))).toEqual(['MEMORY.md', 'new.md'])
    expect(at.events).toContainEqual(
      expect.objectContaining({
        code: 'consolidation-done',
        message: expect.stringMatching(/pal consolidate --undo --scope user reverts it/u) as string,
      }),
    )
    at.clock.ahead += hour
    await turn(fifth.send('seven'))
    await quiet(at)
    expect(dreams()).toHaveLength(2)
  })

  it('[DR22] looks at a diary where there is no memory yet', async () => {
    const at = await openWorkspace()
    const day = new Date(at.clock.now()).toISOString().slice(0, 10)
    const page = `logs/${day.slice(0, 4)}/${day.slice(5, 7)}/${day}.md`
    expect(await appendDiary(at.keeper, page, '- The server is heron.\n')).toMatchObject({ ok: true })
    await dreamt(at)
    expect(JSON.stringify(at.asked('consolidate')[0]?.messages)).toContain('logs/')
  })

  it('[DR18] runs beside the talk after five sessions, is told with what it did, and ends with the session', async () => {
    const at = await openWorkspace()
    await filled(at)
    for (const words of ['one', 'two', 'three', 'four']) await at.talk(words)
    // The sessions were looked through after the first turn; for ten minutes that is enough.
    at.clock.ahead += 11 * 60 * 1000
    const fifth = await at.open()
    await turn(fifth.send('five'))
    const isBegun = () => at.preset.memoryJobs.list.looks().some(({ kind }) => kind === 'dream')
    await until(isBegun, 'the consolidation to begin')
    await quiet(at)
    expect(Object.keys(await at.files())).not.toContain('old.md')
    expect(at.events).toContainEqual(
      expect.objectContaining({
        code: 'consolidation-done',
        message: expect.stringMatching(/4 read, 1 changed, 1 retired, \d+ tokens/u) as string,
      }),
    )
    expect(ofType(await factsOf(at.preset.store, fifth.id), 'fork-end')).toContainEqual(
      expect.objectContaining({ purpose: 'dream', outcome: 'done' }),
    )
  })
})
