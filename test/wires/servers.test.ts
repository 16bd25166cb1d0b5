// The rows of servers that speak like OpenAI, against the simulator's dialect of each.
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkChatRequest } from '../../src/simulator/dialects/check.ts'
import type { ServerName } from '../../src/simulator/dialects/openai/quirks.ts'
import { arbitraryMoves, played } from '../../src/testing/arbitrary.ts'
import { withSidecars } from '../../src/testing/wire-subject.ts'
import { openAiChatWire } from '../../src/wires/openai-chat/wire.ts'
import { knownServers, serverNamed } from '../../src/wires/servers.ts'
import { openAiChatSubject } from './openai-chat-subject.ts'

const rows = knownServers.filter(({ wires }) => wires.includes('openai-chat'))
const modelOf = (name: string): string =>
  name === 'openai' || name === 'azure'
    ? 'gpt-6-sol'
    : name === 'deepseek'
      ? 'deepseek-reasoner'
      : 'some-model'

describe.each(rows.map((row) => [row.name, row] as const))('%s', (name, { quirks }) => {
  it('[WC7] takes the requests of random sessions as its row says, reasoning in the open included', () => {
    const model = modelOf(name)
    let seen = 0
    fc.assert(
      fc.property(arbitraryMoves(fc), (moves) => {
        const composer = openAiChatWire.createComposer({ quirks })
        played(moves, (fact, fold) => {
          const outcome = composer.compose(fold.view(), {
            model,
            maxTokens: 4000,
            bindsPrefix: false,
            lifetime: '5m',
            cacheKey: 'session-1',
            effort: name === 'ollama' ? undefined : 'low',
          })
          if (outcome.ok) {
            seen++
            const body: unknown = JSON.parse(outcome.composed.body)
            expect(openAiChatWire.check(body as never, { model, quirks })).toEqual([])
            expect(checkChatRequest(body, { server: name as ServerName })?.message ?? null).toBeNull()
          }
          const item = {
            type: 'item' as const,
            wire: 'openai-chat',
            model,
            raw: '{"reasoning_content":"hm"}',
            tokens: 3,
          }
          const made = withSidecars(openAiChatSubject, fact, model)
          return fact.content.some(({ type }) => type === 'thinking')
            ? { ...made, content: [item, ...made.content] }
            : made
        })
      }),
      { numRuns: 40 },
    )
    expect(seen).toBeGreaterThan(0)
  })
})

it('[WC7] a server that nobody has described has no row', () => {
  expect(serverNamed('ollama')?.baseUrl).toBe('http://localhost:11434/v1')
  expect(serverNamed('nobody')).toBeNull()
})
