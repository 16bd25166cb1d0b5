import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server, until } from './pal.ts'

/** Three turns of some size, so that there is something to put away. */
async function talked() {
  const { access, simulator } = await server(Array.from({ length: 8 }, () => 'word '.repeat(9000)))
  const at = await openWorkspace({ ...access, PALIMPSEST_WINDOW: '200000' })
  await at.pal(['-p', 'build the parser'])
  for (const wish of ['now the printer', 'now the tests']) await at.pal(['-p', '--continue', wish])
  const json = async (...words: string[]) =>
    JSON.parse((await at.pal([...words, '--json'])).out) as Record<string, unknown>
  const edits = async () => (await json('edits'))['edits'] as { seq: number; state: string; layer: string }[]
  return { ...at, simulator, json, edits }
}

describe('changing what is shown', () => {
  it('[G29] compact shows before it does, and undo gives everything back until it is released', async () => {
    const { pal, json, edits, simulator } = await talked()
    // Where a summary by the model is wanted a preview asks it too; it knows none here.
    const preview = await pal(['compact', '--preview'], { environment: { PALIMPSEST_MODEL_SUMMARY: 'on' } })
    expect(preview).toMatchObject({
      code: 0,
      err: expect.stringContaining("the model's summary was not used"),
    })
    expect(preview.out).toMatch(/tokens would become/)
    expect(await edits()).toEqual([])
    const made = await json('compact', '--instructions', 'keep the names of the files')
    expect(Number(made['tokensAfter'])).toBeLessThan(Number(made['tokensBefore']))
    expect(await edits()).toMatchObject([{ seq: made['seq'], state: 'live', layer: 'autocompact' }])
    const undone = await json('undo', String(made['seq']))
    expect(undone).toMatchObject({ undone: made['seq'] })
    // With it goes what it had restored.
    expect(await edits()).toMatchObject([{ state: 'undone' }, { layer: 'restoration' }])
    await pal(['-p', '--continue', 'and?'])
    const body = JSON.stringify(simulator.log.last()?.body)
    expect(body.split('word '.repeat(9000)).length - 1).toBe(3)
    // What was undone, and what is pinned, is listed with the number that lets it go again.
    const twice = await pal(['undo', String(made['seq'])])
    expect([twice.code, twice.err]).toEqual([1, expect.stringContaining('is undone already')])
    expect((await pal(['edits'])).out).toContain(`stays until #${undone['hold'] as number} is released`)
    expect((await pal(['release', String(undone['hold'])])).code).toBe(0)
    expect((await pal(['edits'])).out).not.toContain('is released')
  })

  it('[G29] a message is pinned once, and listed with the number that releases it', async () => {
    const { pal, json } = await talked()
    const [first] = JSON.parse((await pal(['messages', '--json'])).out) as { at: number }[]
    const pinned = await json('pin', String(first!.at))
    expect(await json('pin', String(first!.at))).toEqual(pinned)
    const release = pinned['release'] as number
    expect((await pal(['messages'])).out).toContain(`pinned until #${release} is released`)
    const lists = /pal edits lists what undos restored, pal messages what is pinned/
    expect((await pal(['release', '3'])).err).toMatch(lists)
    expect((await pal(['release', String(release)])).code).toBe(0)
    expect((await pal(['messages'])).out).not.toContain('pinned')
  })

  it('[Z35] a result that was too large when it came is in the list, and undo sends it whole', async () => {
    const { access, simulator } = await server([
      [call('Bash', { command: 'seq 1 20000' }, 'big')],
      'counted',
      'again',
    ])
    const { pal } = await openWorkspace(access)
    expect((await pal(['-p', '--allow', 'Bash', 'count'])).code).toBe(0)
    const rows = JSON.parse((await pal(['edits', '--json'])).out) as { edits: { seq: number }[] }
    expect(rows.edits).toMatchObject([{ layer: 'result-limit', state: 'live', does: [{ kind: 'spill' }] }])
    expect((await pal(['edits'])).out).toMatch(/result-limit[\s\S]*moved to a file/)
    const place = String(rows.edits[0]!.seq)
    expect(await pal(['undo', place])).toMatchObject({ code: 0, out: expect.stringContaining('is undone') })
    expect(await pal(['undo', place])).toMatchObject({
      code: 1,
      err: expect.stringContaining('whole already'),
    })
    await pal(['-p', '--continue', 'and?'])
    expect(JSON.stringify(simulator.log.last()?.body)).toContain('9999\\n10000\\n10001')
  })

  it('[G29] what cannot be done is said with its reason and an exit code', async () => {
    const { pal } = await talked()
    expect(await pal(['undo', 'last'])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/pal edits/) as string,
    })
    expect((await pal(['undo', '3'])).code).toBe(1)
    expect((await pal(['undo', '3', 'ffff'])).code).toBe(4)
    expect((await pal(['release', '3'])).code).toBe(1)
    expect((await pal(['compact', 'ffff'])).code).toBe(4)
  })

  it('[G29] a session that another process writes is left alone', async () => {
    const { access } = await server([[call('Bash', { command: 'echo > here.txt; sleep 600' })]])
    const at = await openWorkspace(access)
    const { child, ended } = await at.start(['-p', '--allow', 'Bash', 'sleep'])
    await until(() => existsSync(join(at.project, 'here.txt')), 'the command to run')
    expect((await at.pal(['compact'])).code).toBe(4)
    expect((await at.pal(['edits'])).code).toBe(0)
    child.kill('SIGTERM')
    await ended
  })
})
