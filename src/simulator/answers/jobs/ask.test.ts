import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import * as prompts from '../../../../test/answers/prompts.ts'
import { assistant, request, user } from '../../../../test/answers/tool-loop.ts'
import type { WireMessage } from '../../../model/wire.ts'
import { jobOf } from '../rule-model.ts'
import type { Job } from './ask.ts'
import { corpusFiles, corpusFolder, hasCorpus } from '../../../../test/shared-data.ts'

const talk: readonly WireMessage[] = [user('Mend the cart, please.'), assistant('I looked at src/cart.js.')]
const asked: Readonly<Partial<Record<Job, readonly string[]>>> = {
  summary: prompts.summaries,
  notes: [...prompts.notes(prompts.notesTemplate)],
  extract: prompts.extractions,
  consolidate: prompts.consolidations,
  progress: prompts.progresses,
}

describe('recognising what a request asks for', () => {
  for (const [job, texts] of Object.entries(asked)) {
    it.each(texts.map((text, index) => [index + 1, text] as const))(`[W9] ${job}, wording %i`, (_, text) => {
      expect(jobOf(request([...talk, user(text)]))).toBe(job)
    })
  }

  it.each(prompts.selections.map((prompt, index) => [index + 1, prompt] as const))(
    '[W9] select, wording %i',
    (_, prompt) => {
      const bare = { tools: [], ...(prompt.system === undefined ? {} : { system: prompt.system }) }
      expect(jobOf(request([user(prompt.text)], bare))).toBe('select')
      const schema = { type: 'json_schema', schema: { properties: { names: { type: 'array' } } } }
      const plain = prompt.text.replace(/JSON/u, 'such')
      expect(jobOf(request([user(plain)], { ...bare, output_config: { format: schema } }))).toBe('select')
    },
  )

  it.each(prompts.ordinary)('[W10] ordinary: %s', (text) => {
    expect(jobOf(request([user(text)]))).toBeNull()
    expect(jobOf(request([...talk, user(text)]))).toBeNull()
  })

  it('[W9] sees the question behind tool results, tags and reminders', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { file_path: 'a' } }
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'x' }
    const note = { type: 'text', text: '<system-reminder>Old results may be cleared.</system-reminder>' }
    const question = { type: 'text', text: String(prompts.summaries[0]) }
    const tag = { type: 'text', text: '[id:ab12cd]' }
    const open: readonly WireMessage[] = [...talk, user('go'), { role: 'assistant', content: [call] }]
    expect(jobOf(request([...open, { role: 'user', content: [result, question, note, tag] }]))).toBe(
      'summary',
    )
    expect(jobOf(request([...open, { role: 'user', content: [result, note] }]))).toBeNull()
  })

  it('[W9] still knows the question after the calls it led to', () => {
    const call = { type: 'tool_use', id: 'toolu_1', name: 'Edit', input: {} }
    const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'edited' }
    const question = user(prompts.notes(prompts.notesTemplate)[0] ?? '')
    const messages: readonly WireMessage[] = [
      ...talk,
      question,
      { role: 'assistant', content: [call] },
      { role: 'user', content: [result] },
    ]
    expect(jobOf(request(messages))).toBe('notes')
  })

  it('[W10] a summary spoken of in passing is not asked for', () => {
    const notes = `${prompts.notes(prompts.notesTemplate)[0]} Later these notes must give a summary of the conversation; use no tool but Edit.`
    const memory = `${prompts.extractions[0]} Do not write a summary of the conversation.`
    expect(jobOf(request([...talk, user(notes)]))).toBe('notes')
    expect(jobOf(request([...talk, user(memory)]))).toBe('extract')
  })

  it('[W10] the opening of a compacted session asks for nothing', () => {
    const sections = prompts.nineTitles
      .map((title, index) => `${index + 1}. ${title}:\n- something was done`)
      .join('\n')
    const openings = [
      `This session continues from an earlier one that ran out of room. The summary below covers it.\n\n${sections}\n\nThe full transcript is at /home/dev/t.jsonl. Go on without asking or recapping.`,
      `The conversation is being continued. These are the notes of the previous part, kept in ${prompts.notesPath}:\n\n${prompts.notesTemplate}\nPlease carry on with the task and keep the notes current.`,
    ]
    for (const opening of openings) {
      expect(jobOf(request([user(opening)]))).toBeNull()
      expect(jobOf(request([user(opening), assistant('Going on.'), user('thanks')]))).toBeNull()
      expect(
        jobOf(request([user(opening), assistant('Going on.'), user(String(prompts.summaries[1]))])),
      ).toBe('summary')
    }
  })

  it('[W10] a system prompt that speaks of summaries and memory asks for nothing while tools are offered', () => {
    const system = `You are an agent. When room runs out you will write a summary of the conversation, without tools. Memories live in ${prompts.memoryFolder}; save what future sessions should remember. Answer in three to five words where you can, or in JSON.`
    expect(jobOf(request([user('Mend the cart.')], { system }))).toBeNull()
  })
})

describe.skipIf(!hasCorpus)('ordinary requests of the corpus (skipped without recorded sessions)', () => {
  it('[W10] none is taken for a request of the engine', () => {
    const taken: string[] = []
    for (const file of corpusFiles) {
      const lines = gunzipSync(readFileSync(join(corpusFolder, file)))
        .toString('utf8')
        .trimEnd()
        .split('\n')
      const turns = lines.slice(1).map((line) => JSON.parse(line) as WireMessage)
      turns.forEach((turn, at) => {
        if (turn.role !== 'user') return
        const job = jobOf(request(turns.slice(Math.max(0, at - 3), at + 1)))
        if (job !== null) taken.push(`${file} ${at} ${job}`)
      })
    }
    expect(taken).toEqual([])
  })
})
