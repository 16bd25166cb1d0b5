import { describe, expect, it } from 'vitest'
import type { Model, ModelEvent } from '../../src/model/model.ts'
import { scriptedMessage, scriptedModel } from '../../src/model/scripted.ts'
import { modelContract, type ModelManner } from '../../src/testing/model-contract.ts'
import { simulated } from '../e2e/simulated.ts'

const call = { type: 'tool_use' as const, id: 'toolu_1', name: 'Look', input: { at: 1 } }

/** Waits until it is aborted, as a connection that says nothing does. */
const hanging: Model = {
  async *stream(_request, signal): AsyncGenerator<ModelEvent> {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    yield { type: 'failed', failure: { code: 'aborted', message: 'aborted', status: null }, partial: null }
  },
}

const makers: Readonly<Record<string, (manner: ModelManner) => Model | Promise<Model>>> = {
  scripted: (manner) => {
    if (manner === 'hangs') return hanging
    if (manner === 'refuses') return scriptedModel([])
    const message = scriptedMessage('hello there')
    return scriptedModel([manner === 'answers' ? message : { ...message, content: [call], stop: 'tool_use' }])
  },
  'the Anthropic adapter over HTTP': async (manner) => {
    const fault =
      manner === 'refuses'
        ? { kind: 'status' as const, status: 400, type: 'invalid_request_error', message: 'no such thing' }
        : manner === 'hangs'
          ? { kind: 'hang' as const }
          : null
    const steps = [manner === 'calls' ? [call] : 'hello there']
    const scene = await simulated(steps, fault === null ? {} : { faults: [{ at: 1, times: 9, fault }] })
    return scene.model
  },
}

for (const [name, make] of Object.entries(makers)) {
  describe(name, () => {
    for (const item of modelContract) it(`[${item.rule}] ${item.title}`, () => item.run(make))
  })
}

describe('the contract of models', () => {
  it('[MP1] finds a model that throws, ends twice or says something else than it answers', async () => {
    const end: ModelEvent = { type: 'end', message: scriptedMessage('so') }
    const bad: readonly Model[] = [
      {
        async *stream(): AsyncGenerator<ModelEvent> {
          yield { type: 'text-delta', text: 'so' }
          throw new Error('broke')
        },
      },
      {
        async *stream(): AsyncGenerator<ModelEvent> {
          yield end
          yield end
        },
      },
      {
        async *stream(): AsyncGenerator<ModelEvent> {
          yield { type: 'text-delta', text: 'other' }
          yield end
        },
      },
    ]
    for (const model of bad) {
      const outcomes = await Promise.allSettled(
        modelContract.slice(0, 2).map((item) => item.run(() => model)),
      )
      expect(outcomes.some(({ status }) => status === 'rejected')).toBe(true)
    }
  })
})
