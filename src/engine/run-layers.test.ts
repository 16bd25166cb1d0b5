import { describe, expect, it } from 'vitest'
import type { ModelRequest } from '../model/model.ts'
import { scriptedMessage, scriptedModel } from '../model/scripted.ts'
import type { Layer, Proposal } from '../projection/layer.ts'
import { inMemoryStore } from '../stores/index.ts'
import { countingIds, fixedClock } from '../testing/builders.ts'
import { isKnown, type Fact } from '../transcript/fact.ts'
import { seq } from '../transcript/ids.ts'
import { createEngine } from './engine.ts'

/** A session of some turns, with a layer that asks once for a text in place of the second turn. */
async function asked(text: Extract<Proposal, { kind: 'ask' }>['text']) {
  const store = inMemoryStore()
  const model = scriptedModel(
    Array.from({ length: 6 }, (_, index) => ({ body }: ModelRequest) => ({
      ...scriptedMessage(`answer ${index}: ${'a long explanation\n'.repeat(index === 1 ? 3000 : 20)}`),
      messageId: `msg_${index}`,
      usage: { input: Math.ceil(body.length / 4), cacheRead: 0, cacheWrite: 0, output: 900 },
    })),
  )
  let wanted: Proposal | null = null
  const layer: Layer = {
    name: 'my-layer',
    decide: () => {
      const now = wanted
      wanted = null
      return now
    },
  }
  const engine = createEngine({
    store,
    model,
    modelId: 'm',
    layers: [layer],
    clock: fixedClock(),
    ids: countingIds(),
  })
  const session = await engine.open()
  for (const turn of [1, 2, 3]) for await (const _ of session.send(`task ${turn}`)) void _
  // The answer of the second turn, and nothing else.
  const answers = [...session.view().messages].filter(({ role }) => role === 'assistant')
  const span = { from: answers[1]!.from, to: answers[1]!.to }
  // What shows nothing, the end of the turn, goes with what stands before it.
  const replaced = { from: span.from, to: answers[2]!.from - 3 }
  const before = [...session.view().messages].map(({ content }) => JSON.stringify(content))
  wanted = { kind: 'ask', span, text, why: 'I have seen enough of it' }
  const notices: string[] = []
  for await (const event of session.send('task 4')) if (event.type === 'notice') notices.push(event.message)
  const facts: Fact[] = []
  for await (const item of store.read(session.id))
    if (item.kind === 'entry' && isKnown(item.entry)) facts.push(item.entry.fact)
  const after = [...session.view().messages].map(({ content }) => JSON.stringify(content))
  return { replaced, facts, before, after, notices }
}

describe('what a layer asks a text for', () => {
  it('[L4] is replaced as asked: its span, under its name and with its reason', async () => {
    const { replaced, facts, before, after, notices } = await asked('archive')
    expect(notices).toEqual([])
    const edit = facts.find((fact) => fact.type === 'view-edit')
    expect(facts.some((fact) => fact.type === 'boundary')).toBe(false)
    expect(edit).toMatchObject({
      layer: 'my-layer',
      asked: 'automatic',
      edits: [{ kind: 'summary', ...replaced }],
    })
    expect(edit?.type === 'view-edit' && edit.why).toContain('I have seen enough of it')
    // What it did not name stands as it stood.
    expect(after[0]).toBe(before[0])
    expect(after[1]).toBe(before[1])
    expect(after.join()).toContain(before.at(-1))
    expect(after.join()).not.toContain(JSON.stringify(before[3]).slice(1, 200))
  })

  it('[L4] is a boundary where a summary is asked for, of the same span', async () => {
    const { replaced, facts } = await asked('summary')
    const boundary = facts.find((fact) => fact.type === 'boundary')
    expect(boundary).toMatchObject({ layer: 'my-layer', edits: [{ kind: 'summary', ...replaced }] })
    expect(boundary?.type === 'boundary' && boundary.why).toContain('I have seen enough of it')
  })

  it('[L4] and cannot be had is said, and the session is as it was', async () => {
    const store = inMemoryStore()
    const far = { from: seq(900), to: seq(901) }
    const layer: Layer = {
      name: 'far',
      decide: () => ({ kind: 'ask', span: far, text: 'archive', why: 'why not' }),
    }
    const model = scriptedModel([scriptedMessage('one')])
    const session = await createEngine({ store, model, modelId: 'm', layers: [layer] }).open()
    const notices: string[] = []
    for await (const event of session.send('hello')) if (event.type === 'notice') notices.push(event.code)
    expect(notices).toEqual(['not-compacted'])
    expect(session.view().messages.length).toBe(2)
  })
})
