import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { tool, type SchemaOf } from './define-tool.ts'
import { createReadFiles } from './files/read-files.ts'
import type { ToolEnv } from './tool.ts'

const env: ToolEnv = {
  cwd: '.',
  callId: 'c1',
  readFiles: createReadFiles(),
  spill: null,
  expand: () => Promise.resolve({ ok: false, why: 'nothing is kept here' }),
  isShown: () => true,
  report: () => {},
  now: () => 0,
}
const { signal } = new AbortController()

const weather = tool({
  name: 'weather',
  description: 'The weather of a city.',
  input: z.object({ city: z.string().describe('Its name'), days: z.number().int().optional() }),
  run: ({ city, days = 1 }) => `${city}: sun for ${days}`,
})

describe('tool', () => {
  it('[EM1] what the model is shown and what checks its input come from one schema', async () => {
    expect(weather.spec).toEqual({
      name: 'weather',
      description: 'The weather of a city.',
      input_schema: expect.objectContaining({
        type: 'object',
        required: ['city'],
        properties: expect.objectContaining({ city: { type: 'string', description: 'Its name' } }) as unknown,
      }) as unknown,
    })
    expect(weather.spec.input_schema).not.toHaveProperty('$schema')
    expect(weather.parse({ city: 'Bonn' })).toEqual({ ok: true, input: { city: 'Bonn' } })
    expect(weather.parse({ days: 'three' })).toMatchObject({
      ok: false,
      why: expect.stringMatching(/`city`: .*`days`: /) as unknown,
    })
    expect(await weather.run({ city: 'Bonn', days: 2 }, env, signal)).toEqual({
      content: [{ type: 'text', text: 'Bonn: sun for 2' }],
      isError: false,
    })
  })

  it('[EM1] is careful where nothing is said: one call at a time, results may be cleared', () => {
    expect(weather.policy).toMatchObject({ readOnly: false, results: 'clear' })
    const lookup = tool({ ...base, readOnly: true, results: 'keep', maxResultChars: 10 })
    expect(lookup.policy).toEqual({ readOnly: true, results: 'keep', maxResultChars: 10 })
  })

  it('[EM1] what is thrown becomes a result; blocks and outcomes go through', async () => {
    const reply = (run: () => never | string | object) =>
      tool({ ...base, run: run as () => string }).run({}, env, signal)
    expect(
      await reply(() => {
        throw new Error('no such city')
      }),
    ).toEqual({ content: [{ type: 'text', text: 'no such city' }], isError: true })
    const content = [{ type: 'text', text: 'a' }]
    expect(await reply(() => content)).toEqual({ content, isError: false })
    expect(await reply(() => ({ content, isError: true }))).toEqual({ content, isError: true })
  })

  it('[EM1] a schema of another library will do, with its JSON Schema beside it where it cannot write one', () => {
    const other: SchemaOf<{ n: number }> = {
      '~standard': {
        vendor: 'other',
        validate: (value) =>
          typeof (value as { n?: unknown }).n === 'number'
            ? { value: value as { n: number } }
            : { issues: [{ message: 'must be a number', path: [{ key: 'n' }] }] },
      },
    }
    const made = tool({ ...base, input: other, jsonSchema: { type: 'object' }, run: ({ n }) => `${n}` })
    expect(made.parse({ n: 'x' })).toEqual({ ok: false, why: '`n`: must be a number' })
    expect(() => tool({ ...base, input: other, run: () => '' })).toThrow(/other cannot write JSON Schema/)
    const waiting = { '~standard': { ...other['~standard'], validate: async () => ({ value: { n: 1 } }) } }
    expect(
      tool({ ...base, input: waiting, jsonSchema: { type: 'object' }, run: () => '' }).parse({}),
    ).toMatchObject({ ok: false, why: expect.stringContaining('asynchronously') as unknown })
  })

  it.each([
    [{ name: 'two words' }, /name must be/],
    [{ description: ' ' }, /needs a description/],
    [{ input: z.string() }, /input must be an object/],
    [{ input: { type: 'object' } }, /Standard Schema/],
    [{ run: undefined }, /function `run`/],
  ])('[EM1] a definition that cannot work is refused at once: %j', (wrong, why) => {
    expect(() => tool({ ...base, ...wrong } as typeof base)).toThrow(why)
  })
})

const base = { name: 'look', description: 'Looks.', input: z.object({}), run: () => 'seen' }
