import { chmod, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openWorkspace, server } from './pal.ts'

/** Three turns of some size, so that there is something to put away. */
async function talked() {
  const answers = Array.from(
    { length: 8 },
    (_, n) => `We decided to use option ${n} because it is smaller. ${'word '.repeat(9000)}`,
  )
  const { access, simulator } = await server(answers)
  const at = await openWorkspace({ ...access, PALIMPSEST_WINDOW: '200000' })
  await at.pal(['-p', 'build the parser'])
  for (const wish of ['now the printer', 'now the tests']) await at.pal(['-p', '--continue', wish])
  const json = async (...words: string[]) =>
    JSON.parse((await at.pal([...words, '--json'])).out) as Record<string, unknown>
  const edits = async () => (await json('edits'))['edits'] as { readonly seq: number }[]
  const { out } = await at.pal(['messages', '--json'])
  const rows = JSON.parse(out) as { readonly at: number; readonly words: string }[]
  const placeOf = (word: string) => String(rows.find(({ words }) => words.includes(word))?.at)
  const [printer, tests] = [placeOf('printer'), placeOf('tests')]
  return { ...at, simulator, json, edits, printer, tests }
}

describe('compacting by hand', () => {
  it('[RS17] a preview says what would go, stay and cost, and what the audit found', async () => {
    const { pal, edits, tests } = await talked()
    const { out, code } = await pal(['compact', '--preview', '--up-to', tests])
    expect(code).toBe(0)
    expect(out).toMatch(/^replaces {2}\d+ parts \(#\d+ to #\d+\), [\d,. ]+ tokens$/mu)
    expect(out).toMatch(/^ +#\d+ {2}you: build the parser$/mu)
    expect(out).toMatch(/^keeps {5}\d+ parts/mu)
    expect(out).toMatch(/^costs {5}the next request \$[\d.]+ (?:more|less) .* \$[\d.]+ less$/mu)
    expect(out).toMatch(/^audit {5}[\d.]+%/mu)
    expect(await edits()).toEqual([])
  })

  it('[RS17] what stays before the place is still cached, and its price says so', async () => {
    const { pal, tests } = await talked()
    const moreAt = async (side: string): Promise<number> => {
      const { out } = await pal(['compact', '--preview', side, tests])
      const [, dollars, way] = /the next request \$([\d.]+) (more|less)/u.exec(out)!
      return way === 'more' ? Number(dollars) : -Number(dollars)
    }
    // More stays with --from, but nothing of it is written again.
    expect(await moreAt('--from')).toBeLessThan(await moreAt('--up-to'))
  })

  it('[RS17] the text goes to a file, is changed there and comes back, all without a terminal', async () => {
    const { pal, json, edits, project, simulator, tests } = await talked()
    const file = join(project, 'summary.md')
    expect((await pal(['compact', '--up-to', tests, '--write-summary', file])).code).toBe(0)
    expect(await edits()).toEqual([])
    const text = await readFile(file, 'utf8')
    expect(text).toContain('## ')
    expect(text).not.toContain('This session continues')
    await writeFile(file, `${text}\nREMEMBER: the printer is green.\n`)
    const made = await json('compact', '--up-to', tests, '--summary-file', file)
    expect(made['source']).toBe('user')
    await pal(['-p', '--continue', 'and?'])
    const body = JSON.stringify(simulator.log.last()?.body)
    expect(body).toContain('REMEMBER: the printer is green.')
    expect(body).toContain('build the parser')
    await pal(['undo', String(made['seq'])])
    await pal(['-p', '--continue', 'and now?'])
    expect(JSON.stringify(simulator.log.last()?.body)).not.toContain('REMEMBER')
  })

  it('[RS17] in a terminal the text is changed in the editor before it counts', async () => {
    const { pal, edits, project } = await talked()
    const editor = join(project, 'editor.sh')
    await writeFile(editor, '#!/bin/sh\necho "REMEMBER: written in the editor." >> "$1"\n')
    await chmod(editor, 0o755)
    const environment = { EDITOR: editor, VISUAL: editor }
    expect((await pal(['compact', '--edit'])).code).toBe(2)
    const { code } = await pal(['compact', '--edit'], { inTerminal: true, environment })
    expect(code).toBe(0)
    expect((await edits()).length).toBe(1)
    const failing = { EDITOR: '/bin/false', VISUAL: '/bin/false' }
    await pal(['-p', '--continue', 'more'])
    expect((await pal(['compact', '--edit'], { inTerminal: true, environment: failing })).code).toBe(1)
    expect((await edits()).length).toBe(1)
  })

  it('[RS17] from a message on, or up to one; a place or a file that is none is said', async () => {
    const { pal, json, simulator, printer } = await talked()
    const from = await json('compact', '--preview', '--from', printer, '--instructions', 'keep the names')
    const upTo = await json('compact', '--preview', '--up-to', printer)
    expect((from['span'] as { from: number }).from).toBe(Number(printer))
    expect((upTo['span'] as { to: number }).to).toBeLessThan(Number(printer))
    expect((await pal(['compact', '--from', 'there'])).code).toBe(2)
    expect((await pal(['compact', '--summary-file', '/nowhere'])).code).toBe(2)
    const asked = simulator.log.requests.slice(3).map(({ body }) => JSON.stringify(body))
    // A preview asks as the compaction would.
    expect(asked.length).toBeGreaterThan(0)
  })

  it('[O40] pal edits N --why says which lines stayed and which did not, and refuses what is no compaction', async () => {
    const names = Array.from(
      { length: 300 },
      (_, n) => `the value of total_row_${n} is ${1000 + n} this month`,
    ).join('\n')
    const { access } = await server(
      Array.from(
        { length: 8 },
        (_, n) => `Part ${n} done.\n${names.replaceAll('total_', `total${n}_`)}\n${'word '.repeat(6000)}`,
      ),
    )
    const at = await openWorkspace({ ...access, PALIMPSEST_WINDOW: '200000', PALIMPSEST_MODEL_SUMMARY: '0' })
    await at.pal(['-p', 'build the parser'])
    for (const wish of ['now the printer', 'now the tests']) await at.pal(['-p', '--continue', wish])
    expect((await at.pal(['compact'])).code).toBe(0)
    const { edits } = JSON.parse((await at.pal(['edits', '--json'])).out) as { edits: { seq: number }[] }
    const number = String(edits.at(-1)!.seq)
    const why = JSON.parse((await at.pal(['edits', number, '--why', '--json'])).out) as {
      kept: object[]
      left: { name: string; because: object[] }[]
      pieces: { kept: { because: object[] }[]; left: object[] }
    }
    expect(why.left.length + why.kept.length).toBeGreaterThan(0)
    expect(why.pieces.kept[0]!.because.length).toBeGreaterThan(0)
    const shown = await at.pal(['edits', `#${number}`, '--why'])
    expect([shown.code, shown.err]).toEqual([0, ''])
    expect(shown.out).toContain('Weights: npm run fit')
    expect(shown.out).toContain(`Pieces kept (${why.pieces.kept.length})`)
    expect(await at.pal(['edits', '1', '--why'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('no compaction') as string,
    })
    expect(await at.pal(['edits', '99999', '--why'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('has no #99999') as string,
    })
    expect(await at.pal(['edits', '--why'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('pal edits N --why') as string,
    })
  })
})
