import { describe, expect, it } from 'vitest'
import { load, sampleSources } from '../../src/lab/source.ts'
import { policyNamed } from '../../src/lab/policies/list.ts'
import { prepareReplay, replay } from '../../src/lab/replay.ts'
import { openWorkspace } from '../cli/pal.ts'

const made = async (index: number) => {
  const loaded = await load(sampleSources[index]!)
  if (!loaded.ok) throw new Error(loaded.failure.message)
  return loaded.recording
}

describe('made-up sessions', () => {
  it('[LB4] are the same each time, need what they have seen, and edit what was shown', async () => {
    const first = await made(0)
    expect(await made(0)).toEqual(first)
    expect(await made(1)).not.toEqual(first)
    const { needs, script } = prepareReplay(await made(2))
    expect(needs.steps.filter(({ atoms }) => atoms.length > 0).length).toBeGreaterThan(
      script.steps.length / 3,
    )
    expect(needs.steps.flatMap(({ replaced }) => replaced).length).toBeGreaterThan(10)
    const edits = script.steps.flatMap(({ answer }) =>
      answer.content.filter((block) => block.type === 'tool_use' && 'name' in block && block.name === 'Edit'),
    )
    expect(needs.steps.flatMap(({ replaced }) => replaced).length).toBeGreaterThan(edits.length * 0.6)
    const gaps = script.steps.map(({ at }, index) => at - (script.steps[index - 1]?.at ?? at))
    expect(gaps.some((gap) => gap > 60 * 60_000)).toBe(true)
    expect(script.steps.some(({ results }) => results.some(({ isError }) => isError))).toBe(true)
  })

  it('[LB4] play under our policy with nothing refused', async () => {
    const options = { policy: policyNamed('standard')!, window: 60_000, model: 'claude-sonnet-5' }
    const { figures, problems, edits } = await replay(prepareReplay(await made(1)), options)
    expect(problems).toEqual([])
    expect(figures['1h'].rejected).toBe(0)
    expect(Object.keys(edits).length).toBeGreaterThan(0)
  })

  it('[LB4] are what is played where no recording is named, and a bad one says so', async () => {
    const { pal } = await openWorkspace()
    const { code, out } = await pal([
      'replay',
      '--sample',
      '--policy',
      'append-only,hindsight',
      '--jobs',
      '1',
    ])
    expect([code, out]).toEqual([0, expect.stringContaining(`all sessions (${sampleSources.length})`)])
    expect(out).toMatch(/^hindsight +\d/m)
    expect((await load({ kind: 'sample', index: 99 })).ok).toBe(false)
  })
})
