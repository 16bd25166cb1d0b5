// A model that answers "ok" and says of its prompt what a test wants it to have counted.
import type { Model, ModelEvent } from '../../src/model/model.ts'

export function countingModel(prompts: readonly number[]): Model {
  let next = 0
  return {
    async *stream(request): AsyncGenerator<ModelEvent> {
      const input = prompts[Math.min(next, prompts.length - 1)]!
      next++
      const usage = { input, cacheRead: 0, cacheWrite: 0, output: 2 }
      await Promise.resolve()
      yield {
        type: 'end',
        message: {
          messageId: `m${next}`,
          model: request.model,
          content: [{ type: 'text', text: 'ok' }],
          stop: 'end_turn',
          usage,
          appliedEdits: [],
          inputTransformations: [],
          diagnostics: null,
        },
      }
    },
  }
}
