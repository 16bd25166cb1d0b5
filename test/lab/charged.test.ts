// The same walk charged at the prices of another model.
import { expect, it } from 'vitest'
import { policyNamed } from '../../src/lab/policies/list.ts'
import { prepareReplay, replay } from '../../src/lab/replay.ts'
import { sampleSession } from '../../src/lab/sample/session.ts'
import { lookUp, modelTable } from '../../src/model/models.ts'

const prepared = prepareReplay(sampleSession(0, { requests: 12, files: 4, lines: 60 }))
const model = 'claude-sonnet-4-6'
const figuresAt = async (name: string | null) => {
  const charged = name === null ? undefined : (lookUp(modelTable(), name) ?? undefined)
  const policy = policyNamed('append-only')!
  return (await replay(prepared, { policy, window: 200_000, model, charged })).figures['5m']
}

it('[LB31] tokens stay, money is the other model’s; where writing costs nothing extra it costs plain input', async () => {
  const [own, sol, argon] = [
    await figuresAt(null),
    await figuresAt('gpt-6-sol'),
    await figuresAt('gemini-4-argon'),
  ]
  const tokens = ({ fresh, read, written5m }: typeof own) => ({ fresh, read, written5m })
  expect(tokens(sol)).toEqual(tokens(own))
  expect(tokens(argon)).toEqual(tokens(own))
  const input = (figures: typeof own, read: number, write: number, fresh: number) =>
    (figures.read * read + figures.written5m * write + figures.fresh * fresh) / 1_000_000
  expect(sol.read).toBeGreaterThan(0)
  expect(sol.dollars - input(sol, 0.2, 2.5, 2)).toBeCloseTo(argon.dollars - input(argon, 0.1, 2, 2), 6)
  expect(own.dollars).toBeGreaterThan(sol.dollars)
})
