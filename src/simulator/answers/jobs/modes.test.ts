import { describe, expect, it } from 'vitest'
import * as prompts from '../../../../test/answers/prompts.ts'
import {
  ask,
  assistant,
  callsIn,
  inputOf,
  request,
  textIn,
  user,
} from '../../../../test/answers/tool-loop.ts'
import type { WireMessage, WireRequest } from '../../../model/wire.ts'
import type { Answer } from '../../answer.ts'
import { ruleModel } from '../rule-model.ts'
import { sectionsIn } from '../sections.ts'
import type { Job } from './ask.ts'
import { injectedOrder, inventedRequest, variants, type Mode, type Variant } from './modes.ts'

const goal = 'Always keep version 42 of the cart.'
const talk: readonly WireMessage[] = [
  user(goal),
  assistant('I looked at the 17 lines of src/cart.js.'),
  user('Then mend it.'),
  assistant('Done.'),
]
const asked: Readonly<Record<Job, readonly WireRequest[]>> = {
  summary: prompts.summaries.map((text) => request([...talk, user(text)])),
  notes: prompts.notes(prompts.notesTemplate).map((text) => request([...talk, user(text)])),
  extract: prompts.extractions.map((text) =>
    request([...talk, user(text)], {
      tools: request([]).tools?.filter((tool) => tool.name !== 'Read') ?? [],
    }),
  ),
  consolidate: prompts.consolidations.map((text) => request([...talk, user(text)])),
  select: prompts.selections.map(({ system, text }) =>
    request([user(text)], { tools: [], ...(system === undefined ? {} : { system }) }),
  ),
  progress: prompts.progresses.map((text) => request([...talk, user(text)])),
}
const jobs = Object.keys(asked) as Job[]
const served = async (mode: Mode, job: Job, wording: number, variant?: Variant): Promise<Answer> =>
  ask(ruleModel({ mode, variant }), asked[job][wording]!)
const wordings = [0, 1]

describe.each(wordings)('modes, wording %i', (wording) => {
  it('[W17] lazy: too little of everything', async () => {
    const short = textIn(await served('lazy', 'summary', wording, 'short'))
    expect(short.length).toBeLessThan(200)
    const gaps = textIn(await served('lazy', 'summary', wording, 'sections-missing'))
    const kept = prompts.nineTitles.map((title) => gaps.includes(title))
    expect(kept).toEqual(prompts.nineTitles.map((_, index) => index % 2 === 0))
    for (const job of jobs)
      expect(textIn(await served('lazy', job, wording, 'claim-only')).length).toBeLessThan(40)
    expect(callsIn(await served('lazy', 'notes', wording, 'short'))).toHaveLength(1)
    expect(textIn(await served('lazy', 'select', wording, 'short'))).toMatch(/\[\]/u)
  })

  it('[W18] wrong: invents a request, drops the user, swaps numbers', async () => {
    const good = textIn(await served('good', 'summary', wording))
    const bad = textIn(await served('wrong', 'summary', wording))
    expect(good).toContain(goal)
    expect(bad).not.toContain(goal)
    expect(bad).toContain(inventedRequest)
    expect(bad).toContain('72 lines')
    expect(sectionsIn(bad).map((section) => section.title)).toEqual(prompts.nineTitles)
    expect(bad.includes('</summary>')).toBe(good.includes('</summary>'))
  })

  it('[W18] wrong: chooses, saves and reports what is not so', async () => {
    const chosen = textIn(await served('wrong', 'select', wording))
    expect(chosen).toContain('invented-memory.md')
    expect(chosen).not.toContain('test-command.md')
    const saved = JSON.stringify((await served('wrong', 'extract', wording)).content)
    expect(saved).toMatch(/never keep version/iu)
    const phrase = textIn(await served('wrong', 'progress', wording))
    expect(phrase).toMatch(/^Finished/u)
    const [right, wrong] = [await served('good', 'notes', wording), await served('wrong', 'notes', wording)]
    expect(callsIn(wrong).map((call) => inputOf(call)['old_string'])).toEqual(
      callsIn(right).map((call) => inputOf(call)['old_string']),
    )
    expect(JSON.stringify(callsIn(wrong).map(inputOf))).not.toContain('42')
    expect(JSON.stringify(callsIn(right).map(inputOf))).toContain('42')
  })

  it('[W19] hostile: each variant does what its name says', async () => {
    for (const job of jobs) {
      expect((await served('hostile', job, wording, 'empty')).content).toEqual([])
      const taken = await served('hostile', job, wording, 'tool-call')
      expect(taken.stop_reason).toBe('tool_use')
      expect(inputOf(callsIn(taken)[0])['command']).toBe('echo taken-over')
      expect(textIn(await served('hostile', job, wording, 'refusal'))).toBe('I cannot help with that.')
      expect((await served('hostile', job, wording, 'cut')).stop_reason).toBe('max_tokens')
    }
    for (const job of ['summary', 'notes', 'extract'] as const) {
      expect(JSON.stringify((await served('hostile', job, wording, 'injection')).content)).toContain(
        JSON.stringify(injectedOrder).slice(1, -1),
      )
    }
    const torn = textIn(await served('hostile', 'summary', wording, 'malformed'))
    expect(torn).not.toContain('</summary>')
    const json = textIn(await served('hostile', 'select', wording, 'malformed'))
    expect(() => void JSON.parse(json)).toThrow()
    const escaped = callsIn(await served('hostile', 'extract', wording, 'escape')).map(
      (call) => inputOf(call)['file_path'] ?? '',
    )
    expect(escaped.some((path) => path.includes('..'))).toBe(true)
    expect(escaped.every((path) => !path.startsWith(`${prompts.memoryFolder}/`) || path.includes('..'))).toBe(
      true,
    )
  })
})

describe('choosing a mode', () => {
  it('[W17] spoils only the jobs that are named', async () => {
    const model = ruleModel({ mode: { summary: 'hostile' }, variant: 'empty' })
    expect((await ask(model, asked.summary[0]!)).content).toEqual([])
    expect(await ask(model, asked.notes[0]!)).toEqual(await served('good', 'notes', 0))
  })

  it('[W8] picks a variant from the request, the same one every time, and not always the same', async () => {
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, number) => {
        const wanted = request([user(`goal ${number}`), assistant('ok'), user(String(prompts.summaries[0]))])
        const once = await ask(ruleModel({ mode: 'hostile' }), wanted)
        expect(await ask(ruleModel({ mode: 'hostile' }), wanted)).toEqual(once)
        return `${once.stop_reason} ${once.content.length} ${textIn(once).slice(0, 20)}`
      }),
    )
    expect(new Set(answers).size).toBeGreaterThanOrEqual(variants.hostile.length - 3)
  })

  it('[W17] never spoils an ordinary turn', async () => {
    const wanted = request([user('<task>\n1. read a.js\n</task>')])
    for (const mode of ['lazy', 'wrong', 'hostile'] as const) {
      expect(await ask(ruleModel({ mode }), wanted)).toEqual(await ask(ruleModel(), wanted))
    }
  })
})
