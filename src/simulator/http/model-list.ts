// What GET /v1/models says about a model: the limits and capabilities a client should prefer to its own table.
import type { SimulatedModel } from '../models.ts'

const CREATED_AT = '2026-01-01T00:00:00Z'

export interface ModelRecord {
  readonly type: 'model'
  readonly id: string
  readonly display_name: string
  readonly created_at: string
  readonly max_input_tokens: number
  readonly max_tokens: number
  readonly capabilities: Readonly<Record<string, unknown>>
}

export function modelRecord(model: SimulatedModel): ModelRecord {
  return {
    type: 'model',
    id: model.id,
    display_name: model.id,
    created_at: CREATED_AT,
    max_input_tokens: model.window,
    max_tokens: model.maxOutput,
    capabilities: {
      thinking: {
        supported: true,
        types: Object.fromEntries(model.thinking.map((each) => [each, { supported: true }])),
      },
      context_management: {
        supported: true,
        clear_tool_uses_20250919: { supported: true },
        clear_thinking_20251015: { supported: true },
      },
    },
  }
}
