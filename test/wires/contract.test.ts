// Every wire under the same contract. More runs for a long look: PROPERTY_RUNS=10000 npx vitest run test/wires
import * as fc from 'fast-check'
import { describe, it } from 'vitest'
import { wireContract } from '../../src/testing/wire-contract.ts'
import type { WireSubject } from '../../src/testing/wire-subject.ts'
import { anthropicSubject } from './anthropic-subject.ts'
import { geminiSubject } from './gemini-subject.ts'
import { openAiChatSubject } from './openai-chat-subject.ts'
import { openAiResponsesSubject } from './openai-responses-subject.ts'

const runs = Number(process.env['PROPERTY_RUNS'] ?? 60)
const subjects: readonly WireSubject[] = [
  anthropicSubject,
  openAiChatSubject,
  openAiResponsesSubject,
  geminiSubject,
]
const long = 3_600_000

describe.each(subjects.map((subject) => [subject.wire.name, subject] as const))('%s', (_, subject) => {
  it.each(wireContract.map((item) => [item.rule, item.title, item] as const))(
    '[%s] %s',
    (_rule, _title, item) => item.run({ ...subject, runs }, fc),
    long,
  )
})
