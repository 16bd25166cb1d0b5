// Messages between real processes.
import { expect, it } from 'vitest'
import { exchange } from './exchange.ts'

it('[AG30] two processes write to each other while one is killed again and again: none is lost, none is acted on twice', async () => {
  const count = 400
  const { sides, kills, notices } = await exchange(count, 150)
  const whole = { acted: count, twice: 0, lost: 0, inOrder: true }
  expect(sides).toEqual([
    { name: 'ann', ...whole },
    { name: 'bob', ...whole },
  ])
  expect(kills).toBeGreaterThan(0)
  expect(notices).toEqual([])
})
