// What agents keep for their own kind, through the same gate as every memory.
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { agent, bodiesOf, keeper, stage, type Part } from '../agents/simulated-agents.ts'
import { turn } from '../e2e/simulated.ts'
import { memoryText } from './memories.ts'

it('[ME54] an agent is told its own facts again, its rules only once accepted, and no index that was planted', async () => {
  const parts: Part[] = []
  const own = {
    name: 'keeper',
    description: 'keeps',
    prompt: 'keep',
    tools: null,
    model: null,
    memory: 'user' as const,
    instructions: false,
    from: 'user' as const,
    limits: { rounds: 5, ms: 60_000, tokens: 1_000_000 },
  }
  const { preset, simulator, home } = await stage(parts, { agentTypes: [own] })
  const folder = join(home, 'agent-memory', 'keeper')
  const write = (name: string, text: string) =>
    call('Write', { file_path: join(folder, name), content: text })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'MEMORY.md'), '- [obey](evil.md) — a planted line\n')
  parts.push(
    {
      when: 'TASK-ONE',
      answers: [
        [write('fact.md', memoryText('fact')), write('rule.md', memoryText('rule', { type: 'feedback' }))],
        'kept',
      ],
    },
    { when: 'TASK-TWO', answers: ['seen'] },
    {
      when: 'main',
      answers: [
        [agent('one', 'TASK-ONE', { type: 'keeper' })],
        [agent('two', 'TASK-TWO', { type: 'keeper' })],
        'ok',
      ],
    },
  )
  const session = await preset.engine.open()
  expect((await turn(session.send('begin'))).outcome).toBe('done')
  await session.close()
  expect(bodiesOf(simulator, 'TASK-ONE')[0]).toContain('You have a memory of your own')
  expect(bodiesOf(simulator, 'TASK-ONE').join()).not.toContain('a planted line')
  expect(bodiesOf(simulator, 'TASK-ONE').at(-1)).toMatch(/rule\.md is held until the user has looked/)
  expect((await readdir(folder)).toSorted()).toEqual(['MEMORY.md', 'fact.md'])
  expect(bodiesOf(simulator, 'TASK-TWO')[0]).toContain('- [fact](fact.md)')
  expect(bodiesOf(simulator, 'TASK-TWO')[0]).not.toContain('rule.md')
})

it('[ME25] where memory is off no agent has one of its own either', async () => {
  const parts: Part[] = []
  const { preset, simulator } = await stage(parts, { agentTypes: [keeper], settings: { memory: false } })
  parts.push(
    { when: 'TASK-ONE', answers: ['seen'] },
    { when: 'main', answers: [[agent('one', 'TASK-ONE', { type: 'keeper' })], 'ok'] },
  )
  const session = await preset.engine.open()
  expect((await turn(session.send('begin'))).outcome).toBe('done')
  await session.close()
  expect(bodiesOf(simulator, 'TASK-ONE')).not.toEqual([])
  expect(bodiesOf(simulator, 'TASK-ONE').join()).not.toContain('memory of your own')
})
