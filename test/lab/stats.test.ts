import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { machineFileSystem } from '../../src/disk/fs.ts'
import { SessionTally } from '../../src/lab/stats/session-stats.ts'
import { statsOf } from '../../src/lab/stats/stats.ts'
import { modelTable } from '../../src/model/models.ts'
import type { Entry, Fact, Usage } from '../../src/transcript/fact.ts'
import { seq, sessionId, uuid } from '../../src/transcript/ids.ts'
import { projectOf } from '../../src/preset/project.ts'
import { openWorkspace, server } from '../cli/pal.ts'
import { memoryText, plant } from '../recall/memory-folder.ts'

const model = 'claude-sonnet-5'
const minute = 60_000

function tallyOf(facts: readonly (readonly [Fact, at?: number])[]) {
  const tally = new SessionTally(modelTable(), (at) => (at < 10 * minute ? 'monday' : 'tuesday'))
  facts.forEach(([fact, at = 0], index) => {
    const id = uuid(`00000000-0000-7000-8000-${String(index).padStart(12, '0')}`)
    const entry: Entry = { v: 1, seq: seq(index), uuid: id, parent: null, at, fact }
    tally.take(entry)
  })
  return tally.stats()
}
const start = (purpose = 'main', session = 'aaaa'): Fact => ({
  type: 'session-start',
  session: sessionId(session),
  purpose,
})
const said: Fact = { type: 'user-message', content: [{ type: 'text', text: 'go' }], origin: 'typed' }
const answer = (usage: Partial<Usage>): Fact => ({
  type: 'assistant-message',
  content: [],
  messageId: 'm',
  stop: 'end_turn',
  model,
  usage: { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, ...usage },
})
const edit = (layer: string, tokensFreed: number): Fact => ({
  type: 'view-edit',
  layer,
  asked: 'automatic',
  edits: [],
  why: 'old',
  tokensFreed,
})
const boundary = (source: 'model' | 'extractive', retention: number): Fact => ({
  type: 'boundary',
  trigger: 'auto',
  source,
  tokensBefore: 100,
  tokensAfter: 10,
  messagesSummarised: 4,
  layer: 'autocompact',
  asked: 'automatic',
  edits: [],
  why: 'full',
  tokensFreed: 90,
  audit: { retention },
})

describe('stats', () => {
  it('[LB9] add up by day, project and purpose, and a fork with its own transcript is paid once', () => {
    const main = tallyOf([
      [start()],
      [said],
      [answer({ input: 100, cacheWrite: 900 })],
      [answer({ cacheRead: 900, cacheWrite: 100, output: 1000 }), 20 * minute],
      [
        {
          type: 'fork-end',
          child: sessionId('bbbb'),
          purpose: 'notes',
          outcome: 'done',
          text: '',
          spent: { tokens: 500, dollars: 1 },
        },
      ],
      [
        {
          type: 'fork-end',
          child: sessionId('cccc'),
          purpose: 'summary',
          outcome: 'failed',
          text: '',
          spent: { tokens: 700, dollars: 2 },
        },
      ],
    ])
    const fork = tallyOf([[start('notes', 'bbbb')], [answer({ cacheRead: 1000 })]])
    const made = statsOf([
      { project: 'one', stats: main },
      { project: 'two', stats: fork },
    ])
    expect([made.sessions, made.turns, made.total.requests]).toEqual([1, 1, 3])
    expect(made.days.map(({ name, bill }) => [name, bill.requests])).toEqual([
      ['monday', 2],
      ['tuesday', 1],
    ])
    expect(made.projects.map(({ name, hitRate }) => [name, hitRate])).toEqual([
      ['one', 900 / 2000],
      ['two', 1],
    ])
    const byName = new Map(made.purposes.map((line) => [line.name, line]))
    // Two dollars a million read at a tenth; what the parent says of it is not added.
    expect(byName.get('notes')).toMatchObject({ forks: 1, wasted: 0, hitRate: 1 })
    expect(byName.get('notes')!.bill.dollars).toBeCloseTo((1000 * 0.2) / 1_000_000, 12)
    expect(byName.get('summary')).toMatchObject({ forks: 1, wasted: 1, wastedTokens: 700 })
    expect(byName.get('summary')!.bill.dollars).toBe(2)
    // One without a transcript is in every sum, and no session or request.
    for (const lines of [made.days, made.projects, made.purposes])
      expect(lines.reduce((sum, { bill }) => sum + bill.dollars, 0)).toBeCloseTo(made.total.dollars, 9)
    expect(made.total.dollars).toBeGreaterThan(2)
    expect(made.days.map(({ sessions }) => sessions)).toEqual([2, 1])
  })

  it('[LB9] answers of a simulator are marked, with what of the cost nobody paid', () => {
    const simulated = { ...(answer({ input: 1_000_000 }) as object), messageId: 'msg_sim_1' } as Fact
    const made = statsOf([
      { project: 'one', stats: tallyOf([[start()], [said], [answer({ input: 500_000 })], [simulated]]) },
    ])
    expect(made.total).toMatchObject({ requests: 2, simulated: 1, dollars: 3, unpaid: 2 })
  })

  it('[LB10] an answer that nobody counted is in the sums, marked, and made no layer write anything again', () => {
    const counted = { cacheRead: 50_000, cacheWrite: 1000 }
    const gained = (second: Partial<Usage>) =>
      tallyOf([
        [start()],
        [said],
        [answer(counted)],
        [edit('microcompact', 1000)],
        [answer(second)],
        [answer({ cacheRead: 49_000, cacheWrite: 1000 })],
      ])
    const rewritten = (usage: Partial<Usage>): number => gained(usage).layers.get('microcompact')!.rewritten
    expect(rewritten({ input: 50_000 })).toBeGreaterThan(0.01)
    // Held against the answer after it.
    expect(rewritten({ input: 50_000, estimated: true })).toBeCloseTo(1000 * 2.3e-6, 9)
    const { total } = statsOf([{ project: 'one', stats: gained({ input: 50_000, estimated: true }) }])
    expect([total.requests, total.estimated, total.input]).toEqual([3, 1, 50_000])
  })

  it('[LB10] say what a layer saved and what it made the provider write again', () => {
    const { layers } = tallyOf([
      [start()],
      [said],
      [answer({ cacheWrite: 10_000 })],
      [edit('microcompact', 4000)],
      // Of the 6,000 tokens that stayed only 1,000 were still cached.
      [answer({ cacheRead: 1000, cacheWrite: 5000 }), minute],
      [answer({ cacheRead: 6000 }), 2 * minute],
    ])
    const gain = layers.get('microcompact')!
    const [read, write] = [0.2 / 1_000_000, 2.5 / 1_000_000]
    expect(gain).toMatchObject({ edits: 1, tokensFreed: 4000 })
    expect(gain.rewritten).toBeCloseTo(5000 * (write - read), 12)
    expect(gain.saved).toBeCloseTo(2 * 4000 * read, 12)
  })

  it('[LB11] count compactions, the turns between them, what audits found, failures in a row and open breakers', () => {
    const failed: Fact = { type: 'compaction-failed', source: 'model', why: 'empty' }
    const broken = tallyOf([
      [start()],
      [said],
      [boundary('model', 0.9)],
      [said],
      [said],
      [boundary('extractive', 0.7)],
      [failed],
      [failed],
      [failed],
    ])
    const made = statsOf([{ project: 'one', stats: broken }])
    expect(made.compactions).toMatchObject({
      count: 2,
      sources: { model: 1, extractive: 1 },
      turnsBetween: 2,
      stretches: 1,
      audits: 2,
      failures: 3,
      longestRun: 3,
    })
    expect(made.compactions.retention).toBeCloseTo(1.6, 12)
    expect(made.openBreakers).toBe(1)
    const mended = tallyOf([[start()], [failed], [failed], [failed], [boundary('model', 1)]])
    expect(statsOf([{ project: 'one', stats: mended }]).openBreakers).toBe(0)
  })

  it('[LB9] come from the transcripts of every project, as a table and as JSON', async () => {
    const { access } = await server([[{ type: 'text', text: 'Hello.' }]])
    const { pal } = await openWorkspace(access)
    expect((await pal(['stats'])).out).toContain('No sessions yet')
    expect((await pal(['-p', 'hi'])).code).toBe(0)
    const table = await pal(['stats'])
    expect([table.code, table.err]).toEqual([0, ''])
    expect(table.out).toMatch(/^1 session, 1 turns, 1 requests/)
    expect(table.out.replaceAll(/\s+/g, ' ')).toMatch(
      /1 of 1 answers are simulated: nothing was paid for them, (\$\d\.\d+) of the cost/,
    )
    const json = JSON.parse((await pal(['stats', '--json'])).out) as { sessions: number; days: unknown[] }
    expect([json.sessions, json.days.length]).toEqual([1, 1])
  })

  const recalled = (...bodies: readonly string[]): Fact => ({
    type: 'memory-recall',
    files: bodies.map((_, at) => `m${at}.md`),
    text: `<recalled-memories>\npreface\n\n${bodies.map((body) => `<memory path="/m.md" saved="x">\n${body}\n</memory>`).join('\n')}\n</recalled-memories>`,
  })
  const replied = (text: string): Fact => ({
    ...(answer({}) as Extract<Fact, { type: 'assistant-message' }>),
    content: [{ type: 'text', text }],
  })
  const asked: Fact = {
    type: 'user-message',
    content: [{ type: 'text', text: 'how is billing deployed?' }],
    origin: 'typed',
  }
  const select = (outcome: 'done' | 'failed' = 'done'): Fact =>
    ({
      type: 'fork-end',
      child: sessionId('cccc'),
      purpose: 'select-memory',
      outcome,
      spent: { tokens: 100, dollars: 0.01 },
    }) as Fact

  it('[LB30] a recalled memory was used when its own words come up afterwards, not those the user had said', () => {
    const used = tallyOf([
      [start()],
      [asked],
      [recalled('billing is deployed with heronctl from pelican7.', 'Coffee is on floor twelve.')],
      [replied('Run heronctl on pelican7.')],
    ])
    expect(used.recalls).toEqual({ recalled: 2, used: 1 })
    const unused = tallyOf([
      [start()],
      [asked],
      [recalled('billing is deployed with heronctl.')],
      [replied('billing is deployed by hand, I think.')],
    ])
    expect(unused.recalls).toEqual({ recalled: 1, used: 0 })
    expect(
      statsOf([
        { project: 'one', stats: used },
        { project: 'two', stats: unused },
      ]).recalls,
    ).toEqual({ recalled: 3, used: 1 })
  })

  it('[LB30] a choice among memories that no request followed is a wasted call', () => {
    const sent = { type: 'request-sent' } as Fact
    const wastedIn = (facts: readonly Fact[]) =>
      statsOf([{ project: 'one', stats: tallyOf(facts.map((fact) => [fact] as const)) }]).purposes.find(
        ({ name }) => name === 'select-memory',
      )?.wasted
    expect(wastedIn([start(), asked, sent, select(), replied('so')])).toBe(1)
    expect(wastedIn([start(), asked, sent, select(), replied('so'), asked, sent])).toBe(0)
    expect(wastedIn([start(), asked, sent, select('failed'), asked, sent])).toBe(1)
  })

  it('[LB30] pal stats counts what became of memories', async () => {
    const at = await openWorkspace()
    const found = await projectOf(machineFileSystem, at.project)
    if (!found.ok) throw new Error(found.failure.message)
    const own = join(at.state, 'projects', found.project.slug)
    await plant({ scope: 'project', root: join(own, 'memory'), state: join(own, 'memory-state') }, [
      { file: 'a.md', text: memoryText('zephyr builds need the flag', 'Pass --no-zephyr to the linker.') },
      {
        file: 'b.md',
        text: memoryText('the old runner', 'It is jest.', {
          lines: ['doubtful: "since 2026-11-01: package.json has vitest"'],
        }),
      },
      { file: 'c.md', text: memoryText('gone soon', 'The wedding of Zacharias is in Rome.') },
    ])
    const { access } = await server(['Pass --no-zephyr to the linker.'])
    const environment = { ...access, PALIMPSEST_RECALL_MODEL: 'off' }
    expect((await at.pal(['-p', 'which flag do zephyr builds need?'], { environment })).code).toBe(0)
    expect((await at.pal(['memory', 'forget', 'c'])).code).toBe(0)
    const made = await at.pal(['stats', '--json'])
    expect(JSON.parse(made.out)).toMatchObject({
      memories: { saved: 2, held: 0, reverted: 0, forgotten: 1, doubtful: 1 },
      recalls: { recalled: 1, used: 1 },
    })
    expect((await at.pal(['stats'])).out).toMatch(
      /memories[\s\S]*saved\s+2[\s\S]*doubtful\s+1[\s\S]*recalled\s+1[\s\S]*used afterwards\s+1 \(100/u,
    )
  })
})
