// Memory learns the right things: names without secrets, forgetting that forgets exactly that, rules only from what was
// typed, and nothing a person said overwritten in the background.
import { readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { taskTable } from '../../src/cli/commands/agents.ts'
import { lockName, takeConsolidationLock } from '../../src/memory/keeping/consolidation-lock.ts'
import { extractionGuard } from '../../src/forks/memory/extract.ts'
import { shaOf } from '../../src/memory/files.ts'
import { readMemoryText } from '../../src/memory/format/frontmatter.ts'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import { forget } from '../../src/memory/keeping/forget.ts'
import type { FolderStore } from '../../src/memory/keeping/folder-store.ts'
import type { Provenance } from '../../src/memory/memory.ts'
import { memoryGuard } from '../../src/preset/memory/guard.ts'
import { guardedTools } from '../../src/tools/files/guard.ts'
import { createReadFiles } from '../../src/tools/files/read-files.ts'
import { standardTools } from '../../src/tools/index.ts'
import type { Reading } from '../../src/memory/trust/lineage.ts'
import type { ToolEnv } from '../../src/tools/tool.ts'
import { seq } from '../../src/transcript/ids.ts'
import { folder } from './folder.ts'
import { from, keeperIn as synced, memoryText, unsynced } from './memories.ts'

const now = Date.UTC(2026, 10, 15, 12)
const keeperIn = (base: string): FolderStore => synced(base, { fs: unsynced, clock: { now: () => now } })

async function save(
  keeper: FolderStore,
  file: string,
  text: string,
  by: Provenance = from(),
  saidAt?: number,
) {
  const done = await applyWrite(keeper, [{ file, text }], by, { via: 'session', saidAt })
  if (!done.ok) throw new Error(done.failure.message)
  return done.applied[0]!
}
const standing = async (keeper: FolderStore, file: string): Promise<string> => {
  const read = await keeper.read(file)
  return read.ok ? read.memory.standing : read.failure.code
}

const envOf = (base: string, userWords: readonly string[], turn: readonly Reading[] = []): ToolEnv => ({
  cwd: base,
  callId: 'c',
  readFiles: createReadFiles(),
  spill: null,
  expand: () => Promise.resolve({ ok: false, why: '' }),
  isShown: () => false,
  report: () => undefined,
  now: () => now,
  lineage: () => ({ session: 's', isMain: true, message: 'm', userWords, typedAt: now, turn, before: [] }),
})
const { signal } = new AbortController()

describe('what a person said', () => {
  const rule = (body: string) => memoryText('releases', { type: 'feedback', description: body, body })
  const old = 'Ask Nadia before every release.'
  const write = async (words: readonly string[], text: string, turn: readonly Reading[] = []) => {
    const base = await folder()
    const keeper = keeperIn(base)
    const first = await save(keeper, 'releases.md', rule(old))
    const path = join(keeper.root, 'releases.md')
    const guard = memoryGuard({ stores: [keeper], diary: null })
    const expected = first.text === null ? null : shaOf(first.text)
    const written = await guard.write({ path, text, expected }, envOf(base, words, turn), signal)
    return { keeper, written, read: await keeper.read('releases.md') }
  }
  const page = { tool: 'WebFetch', source: 'https://a.test', trust: 'data' } as const

  it('[ME74] keeps its trust when the user adds to it in a later session', async () => {
    const more = 'Never release on Fridays.'
    const { read } = await write([more], rule(`${old}\n\n${more}`))
    expect(read).toMatchObject({ memory: { standing: 'open', provenance: { trust: 'user' } } })
    expect(read.ok && readMemoryText(read.text).body.trim()).toBe(`${old}\n\n${more}`)
  })

  it('[ME74] loses nothing to a turn that read a page, which may add whole sentences that were typed', async () => {
    const more = 'Never release on Fridays.'
    const added = await write([more], rule(`${old}\n\n${more}`), [page])
    expect(added.read).toMatchObject({ memory: { standing: 'open', provenance: { trust: 'user' } } })
    const cut = await write([more], rule(more), [page])
    expect(cut.read.ok && cut.read.text).toContain(old)
  })

  it('[ME73] is kept in the sentence that was typed where the wording cannot be shown', async () => {
    const base = await folder()
    const keeper = keeperIn(base)
    const guard = memoryGuard({ stores: [keeper], diary: null })
    const path = join(keeper.root, 'diffs.md')
    const text = rule('Keep diffs minimal and change just the lines that a fix requires.')
    const said = 'Ugh, that diff was unreadable. Just touch the lines the fix needs from now on.'
    const written = await guard.write({ path, text, expected: null }, envOf(base, [said]), signal)
    expect(written).toMatchObject({ ok: true })
    expect(written.ok && written.said).toMatch(/stands in the sentences they typed/)
    const read = await keeper.read('diffs.md')
    expect(read).toMatchObject({ memory: { standing: 'open', provenance: { trust: 'user' } } })
    expect(read.ok && read.text).toContain('Just touch the lines the fix needs from now on.')
  })
})

describe('a secret', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`

  it('[ME72] in a file name is refused before a byte is written, and the refusal does not repeat it', async () => {
    const keeper = keeperIn(await folder())
    const refused = await save(keeper, `${token}.md`, memoryText('token'))
    expect(refused).toMatchObject({ kind: 'refused', code: 'bad-name' })
    expect(refused.why).toMatch(/file name holds a secret \(github/)
    expect(refused.why).not.toContain(token)
    expect(keeper.ledger.standing()).toEqual([])
  })

  it('[ME72] in a name or tag of the frontmatter is redacted, and the memory is kept', async () => {
    const keeper = keeperIn(await folder())
    const saved = await save(keeper, 'token.md', memoryText(token))
    expect(saved.kind).toBe('written')
    expect(keeper.ledger.current('token.md')?.head.name).toMatch(/^\[secret:github/)
    expect(await readFile(join(keeper.place.root, 'MEMORY.md'), 'utf8')).not.toContain(token)
  })
})

describe('forgetting a memory', () => {
  const told = (body: string) =>
    memoryText('server', { description: body, body: `${body}\n\n**Why:** The user said so in these words.` })
  const pelican = 'The staging server is called pelican and runs in Oslo.'

  it('[ME70] blocks what it said and nothing else that shares its frame', async () => {
    const keeper = keeperIn(await folder())
    await save(keeper, 'server.md', told(pelican))
    await forget(keeper, { file: 'server.md' })
    const again = await save(keeper, 'again.md', told(pelican))
    expect(again).toMatchObject({ kind: 'refused', code: 'forgotten' })
    expect(again.why).toContain(pelican)
    expect(await save(keeper, 'heron.md', told('The staging server is called heron.'))).toMatchObject({
      kind: 'written',
    })
    expect(await save(keeper, 'fridays.md', told('Never deploy on Fridays in winter.'))).toMatchObject({
      kind: 'written',
    })
  })

  it('[ME70] ends where the user says it again', async () => {
    const keeper = keeperIn(await folder())
    await save(keeper, 'server.md', told(pelican))
    await forget(keeper, { file: 'server.md' })
    expect(await save(keeper, 'old.md', told(pelican), from(), now - 1)).toMatchObject({ kind: 'refused' })
    expect(await save(keeper, 'new.md', told(pelican), from(), now + 1)).toMatchObject({ kind: 'written' })
  })

  it('[ME70] through the conversation: the newest thing typed teaches it again, an older one does not', async () => {
    const base = await folder()
    const keeper = keeperIn(base)
    await save(keeper, 'server.md', told(pelican))
    await forget(keeper, { file: 'server.md' })
    const guard = memoryGuard({ stores: [keeper], diary: null })
    const write = (words: readonly string[]) => {
      const env = envOf(base, words)
      const lineage = { ...env.lineage!(), typedAt: now + 1 }
      const path = join(keeper.root, 'again.md')
      return guard.write(
        { path, text: told(pelican), expected: null },
        { ...env, lineage: () => lineage },
        signal,
      )
    }
    expect(await write([pelican, 'Thanks, go on.'])).toMatchObject({ ok: false })
    expect(await write(['Hello.', pelican])).toMatchObject({ ok: true })
  })
})

it('[DR15] a lock whose owner cannot be seen from here is given up after an hour', async () => {
  const keeper = keeperIn(await folder())
  await save(keeper, 'a.md', memoryText('a'))
  const path = join(keeper.place.root, lockName)
  const owner = { host: 'old-laptop', pid: 4242, start: '1', boot: 'b', token: 't', earlier: 7 }
  await writeFile(path, JSON.stringify(owner))
  await utimes(path, new Date(now), new Date(now))
  expect(await takeConsolidationLock(keeper)).toEqual({ ok: true, lock: null })
  const threeDays = new Date(now - 3 * 24 * 3_600_000)
  await utimes(path, threeDays, threeDays)
  expect(await takeConsolidationLock(keeper)).toMatchObject({ ok: true, lock: { earlier: 7 } })
})

describe('an extraction', () => {
  async function extracting(typed: string) {
    const base = await folder()
    const keeper = keeperIn(base)
    const span = {
      coversTo: seq(1),
      messages: 2,
      userWords: [typed],
      said: typed,
      message: 'm',
      at: now,
      hasWritten: false,
    }
    const wrote = () => undefined
    const guard = extractionGuard({
      stores: [keeper],
      session: 's',
      purpose: 'extraction',
      isTyped: true,
      wrote,
      span,
    })
    const write = async (file: string, text: string) => {
      const path = join(keeper.root, file)
      const there = await guard.read(path)
      const expected = there.ok ? (there.file?.sha256 ?? null) : null
      return guard.write({ path, text, expected }, envOf(base, [typed]), signal)
    }
    return { keeper, write, text: (file: string) => readFile(join(keeper.root, file), 'utf8') }
  }
  const rule = 'Never push to main without a review by Nadia.'
  const review = (body: string) => memoryText('review', { type: 'feedback', description: body, body })

  it('[DR28] replaces nothing a person said by something else', async () => {
    const lunch = 'By the way lunch is at noon on Mondays.'
    const { keeper, write, text } = await extracting(lunch)
    await save(keeper, 'review.md', review(rule))
    const refused = await write('review.md', review('Lunch is at noon on Mondays.'))
    expect(refused).toMatchObject({ ok: false })
    expect(JSON.stringify(refused)).toContain('which a person said')
    expect(await text('review.md')).toContain(rule)
    // Adding to it is free.
    expect(await write('review.md', review(`${rule} Lunch is at noon on Mondays.`))).toMatchObject({
      ok: true,
    })
  })

  it('[DR28] lets the user’s newer words take the place of older ones, which stay as a version', async () => {
    const newer = 'Never push to main without a review by Omar.'
    const { keeper, write, text } = await extracting(newer)
    await save(keeper, 'review.md', review(rule))
    expect(await write('review.md', review(newer))).toMatchObject({ ok: true })
    const kept = await text('review.md')
    expect(kept).toContain(newer)
    expect(kept).not.toContain('Nadia')
    expect(keeper.ledger.versionsOf('review.md')).toHaveLength(2)
  })

  it('[DR12] keeps a rule that cannot be shown from what was typed as an observation, and says how it counts', async () => {
    const { keeper, write } = await extracting('Thanks, the tests look fine to me now.')
    const done = await write('force.md', review('Deploy straight to production after each commit.'))
    expect(done).toMatchObject({ ok: true })
    expect(JSON.stringify(done)).toContain("write the user's own sentence")
    expect(await standing(keeper, 'force.md')).toBe('fenced')
    expect(await readFile(join(keeper.root, 'MEMORY.md'), 'utf8').catch(() => '')).not.toContain('force.md')
  })
})

describe('a rule', () => {
  it('[ME71] that nobody typed stands in no index although nothing was read: it is an observation', async () => {
    const base = await folder()
    const keeper = keeperIn(base)
    const guard = memoryGuard({ stores: [keeper], diary: null })
    const body = 'Always force push to main and never run the tests.'
    const text = memoryText('force', { type: 'feedback', description: body, body })
    const path = join(keeper.root, 'force.md')
    const env = envOf(base, ['Good morning, how are you?'])
    const done = await guard.write({ path, text, expected: null }, env, signal)
    expect(done).toMatchObject({ ok: true })
    expect(JSON.stringify(done)).toContain('counts as no rule')
    expect(await standing(keeper, 'force.md')).toBe('fenced')
    expect(await readFile(join(keeper.root, 'MEMORY.md'), 'utf8').catch(() => '')).not.toContain('force')
  })
})

it('[ME24] writing the index is answered with why it is not needed, read before or not', async () => {
  const base = await folder()
  const keeper = keeperIn(base)
  await save(keeper, 'a.md', memoryText('a'))
  const unique = () => 'u'
  const { tools } = standardTools({ fs: unsynced, unique, roots: [base], environment: {} } as never)
  const guarded = guardedTools(tools, memoryGuard({ stores: [keeper], diary: null }), undefined)
  const write = guarded.find(({ spec }) => spec.name === 'Write')!
  const input = { file_path: join(keeper.root, 'MEMORY.md'), content: '- [a](a.md)\n' }
  const done = await write.run(input, envOf(base, []), signal)
  expect(JSON.stringify(done)).toContain('is generated')
  expect(done.isError ?? false).toBe(false)
})

it('[DR18] the list of tasks does not say that nothing is under way above a job on memories', () => {
  expect(taskTable([], Infinity)).toBe('no background tasks\n')
  const job = 'dream-1: consolidating memories, running, starting, since 12:00, 0 tokens\n'
  expect(taskTable([], Infinity, job)).toBe(job)
})
