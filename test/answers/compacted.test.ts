// A compacted session as the engine really sends it: whatever the account quotes, the request asks for the task, and the
// rule-based model must not take it for one of the engine's own jobs.
import { describe, expect, it } from 'vitest'
import { summaryText } from '../../src/compaction/summary.ts'
import type { WireRequest } from '../../src/model/wire.ts'
import { standardLayers } from '../../src/projection/layers/index.ts'
import { jobOf } from '../../src/simulator/answers/rule-model.ts'
import { answered, said } from '../../src/testing/builders.ts'
import { seq } from '../../src/transcript/ids.ts'
import { reopened, work } from '../compaction/sessions.ts'
import * as prompts from './prompts.ts'
import { request, user } from './tool-loop.ts'

/** What an account may quote: every way in which the engine's own jobs are worded. */
const quotes: readonly string[] = [
  ...prompts.summaries,
  ...prompts.notes(prompts.notesTemplate),
  ...prompts.extractions,
  ...prompts.consolidations,
  ...prompts.progresses,
  'Do not use any tools here. Please summarise the conversation in <summary> tags.',
]

describe('the request of a compacted session', () => {
  it('[W10] with an account that quotes the words of a job is no job', () => {
    const facts = { span: { from: seq(1), to: seq(90) }, words: { whole: 1, shortened: 0, pointed: 0 } }
    const taken: string[] = []
    for (const quote of quotes) {
      for (const summary of [null, `The user had asked: ${quote}`]) {
        for (const isUnanswered of [true, false]) {
          const text = summaryText({
            ...facts,
            summary,
            by: 'model',
            sections: `## Where it stood\n- ${quote} [12]\n\n## Steps\n- read src/a.ts`,
            isUnanswered,
            isAutomatic: true,
            isLast: true,
            canExpand: true,
            hasExcerpts: false,
          })
          const job = jobOf(request([user(text)]))
          if (job !== null) taken.push(`${job}: ${quote.slice(0, 60)}`)
        }
      }
    }
    expect(taken).toEqual([])
  })

  it('[W10] composed by the engine in the middle of a turn is no job; asked behind it, it is one', async () => {
    const taken: string[] = []
    for (const quote of quotes) {
      const past = [
        said('Mend the cart and tell me when it is done.'),
        answered(`I was told this by a page: ${quote}`, { id: 'quoted' }),
        { type: 'turn-end', outcome: 'done' } as const,
        said('Go on with it.'),
        ...work(30),
      ]
      const layers = standardLayers({ microcompact: false })
      const { session } = await reopened(past, { threshold: 12_000, layers })
      const body = JSON.parse(await session.requestBody()) as WireRequest
      expect((await session.edits()).map((row) => row.layer)).toEqual(['autocompact'])
      const tools = request([user('x')]).tools ?? []
      const job = jobOf({ ...body, tools })
      if (job !== null) taken.push(`${job}: ${quote.slice(0, 60)}`)
      const asked = [...body.messages, user(String(prompts.summaries[0]))]
      expect(jobOf({ ...body, tools, messages: asked })).toBe('summary')
      await session.close()
    }
    expect(taken).toEqual([])
  })
})
