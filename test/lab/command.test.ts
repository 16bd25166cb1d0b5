import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Report } from '../../src/lab/report.ts'
import { openWorkspace } from '../cli/pal.ts'
import { longWork } from './recordings.ts'
import type { Recording } from '../../src/lab/recording.ts'

const messagesOf = ({ turns }: Recording): string =>
  turns
    .map(({ role, content }) => JSON.stringify({ role, content: content.map(({ block }) => block) }))
    .join('\n')

/** On a busy machine a replay says how far it is. */
const withoutProgress = (err: string): string => err.replaceAll(/^\d+ of \d+ (?:replays|sessions)\n/gm, '')

interface Paid {
  readonly dollars: number
  readonly isPriced: boolean
}

describe('pal replay', () => {
  it('[J19] shares a folder among processes and gives the report of one', async () => {
    const { pal, project } = await openWorkspace()
    await mkdir(join(project, 'recorded', 'deep'), { recursive: true })
    for (const [index, name] of ['a', 'deep/b', 'c'].entries())
      await writeFile(join(project, 'recorded', `${name}.jsonl`), messagesOf(longWork(4 + index, 20)))
    await writeFile(join(project, 'mine.json'), '{"name":"mine","clear":{"atTokens":1000,"keepResults":1}}')
    const words = ['replay', 'recorded', '--policy', 'standard,mine.json', '--window', '60000', '--json']
    const both = await pal([...words, '--jobs', '2'])
    const one = await pal([...words, '--jobs', '1'])
    expect([both.code, withoutProgress(both.err)]).toEqual([0, ''])
    expect(both.out).toBe(one.out)
    const report = JSON.parse(both.out) as Report
    expect(report.groups[0]).toMatchObject({ name: 'all sessions', sessions: 3 })
    expect(report.groups[0]!.rows.map(({ policy }) => policy)).toEqual(['standard', 'mine'])
    expect(report.groups[0]!.rows[1]!.figures['1h'].reductions).toBeGreaterThan(0)
  })

  it('[J21] plays each recording at the prices of its own model, and says what has no price', async () => {
    const { pal, project } = await openWorkspace()
    const paidFor = async (recorded: string, asked: readonly string[]): Promise<Paid> => {
      const head = { session: 's', client: 'claude-code', model: recorded, usage_kind: 'none', tools: [] }
      const lines = [JSON.stringify(head), messagesOf(longWork(4, 20))].join('\n')
      await writeFile(join(project, 'one.jsonl'), lines)
      const words = ['replay', 'one.jsonl', '--policy', 'append-only', '--json', ...asked]
      const { code, out, err } = await pal(words)
      expect([code, withoutProgress(err)]).toEqual([0, ''])
      const { groups, unpriced } = JSON.parse(out) as Report
      const { requests, ...figures } = groups[0]!.rows[0]!.figures['1h']
      expect(Object.values(unpriced)).toEqual(figures.unpriced === 0 ? [] : [requests])
      return { dollars: figures.dollars, isPriced: figures.unpriced === 0 }
    }
    const opus = await paidFor('claude-opus-4-6', [])
    expect(opus).toEqual(await paidFor('claude-opus-4-6', ['--model', 'claude-opus-4-6']))
    expect(opus).toEqual(await paidFor('claude-opus-4-6-20260205', ['--model', 'recorded']))
    const sonnet = await paidFor('claude-opus-4-6', ['--model', 'claude-sonnet-5'])
    expect(opus.dollars).toBeGreaterThan(sonnet.dollars)
    expect(await paidFor('nobody-knows-1', [])).toEqual({ dollars: 0, isPriced: false })
  })

  it('[J19] says what is wrong with its words, and what cannot be read', async () => {
    const { pal, project } = await openWorkspace()
    await writeFile(join(project, 'x.jsonl'), 'no recording')
    const wrong = async (...words: readonly string[]) => {
      const { code, err } = await pal(['replay', ...words])
      return [code, err.trim()]
    }
    expect(await wrong('nowhere')).toEqual([2, expect.stringContaining('nowhere cannot be read')])
    expect(await wrong('x.jsonl', '--policy', 'nonesuch')).toEqual([
      2,
      expect.stringContaining('append-only'),
    ])
    expect(await wrong('x.jsonl', '--model', 'nonesuch')).toEqual([2, expect.stringContaining('nonesuch')])
    const { code, out } = await pal(['replay', 'x.jsonl'])
    expect([code, out]).toEqual([1, expect.stringContaining('x.jsonl')])
  })

  it('[J33] judges recorded compactions as a table, as JSON and side by side', async () => {
    const { pal, project } = await openWorkspace()
    const head = { session: 's', client: 'claude-code', model: 'm', usage_kind: 'none', tools: [] }
    const summary = {
      type: 'text',
      text: 'all totals were looked at. '.repeat(30),
      meta: { kind: 'compact_summary' },
    }
    const later = { type: 'tool_use', id: 'x', name: 'Edit', input: { path: 'src/part_1.ts' } }
    const lines = [
      JSON.stringify(head),
      messagesOf(longWork(4, 20)),
      JSON.stringify({ role: 'user', content: [summary] }),
      JSON.stringify({ role: 'assistant', content: [later] }),
    ]
    await writeFile(join(project, 'one.jsonl'), lines.join('\n'))
    await writeFile(join(project, 'none.jsonl'), messagesOf(longWork(2, 5)))
    const table = await pal(['replay', 'one.jsonl', '--compactions'])
    expect([table.code, withoutProgress(table.err)]).toEqual([0, ''])
    expect(table.out).toContain('its own text')
    expect(table.out).toContain('ours, 4.3K')
    const report = JSON.parse((await pal(['replay', 'one.jsonl', '--compactions', '--json'])).out) as {
      readonly rows: readonly { readonly text: string; readonly score: { readonly details: number } }[]
    }
    expect(report.rows[0]).toMatchObject({ text: 'its own text', score: { details: 3 } })
    const shown = await pal(['replay', 'one.jsonl', '--compactions', '--show', '1'])
    expect(shown.out).toContain('needed later')
    expect(shown.out).toContain('all totals were looked at.')
    expect(await pal(['replay', 'one.jsonl', '--compactions', '--show', '2'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('from 1 to 1') as string,
    })
    expect((await pal(['replay', 'none.jsonl', '--compactions'])).out).toContain('--simulated')
    expect(await pal(['replay', 'one.jsonl', '--show', '1'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--compactions') as string,
    })
    expect(await pal(['replay', '--compactions'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--sample') as string,
    })
  })
})
