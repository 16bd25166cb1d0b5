// What the door says and writes by itself.
import type { Fact } from '../../transcript/fact.ts'
import { notRun, type OpenCall } from '../../transcript/grammar.ts'
import type { Failure } from '../../transcript/store.ts'

export const nothingWaits: Failure = {
  code: 'nothing-waits',
  message: 'nothing waits for an answer; say something',
}
export const cutShort = (call: OpenCall): Fact => ({
  type: 'tool-result',
  call: call.id,
  content: [{ type: 'text', text: notRun(call.name) }],
  isError: true,
})

export const faultText = (error: unknown): string =>
  `something the engine was given broke off: ${error instanceof Error ? error.message : String(error)}`

export const attachment = (kind: string, text: string, source: string): Fact => ({
  type: 'attachment',
  kind,
  content: [{ type: 'text', text }],
  source,
})
