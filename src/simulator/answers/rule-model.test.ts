import * as fc from 'fast-check'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  ask,
  assistant,
  callsIn,
  foreignTools,
  inputOf,
  play,
  request,
  textIn,
  user,
  workshop,
} from '../../../test/answers/tool-loop.ts'
import type { WireMessage } from '../../model/wire.ts'
import { plainText } from '../answer.ts'
import type { Variant } from './jobs/modes.ts'
import { ruleModel } from './rule-model.ts'

const files = {
  'src/cart.js':
    'export function total(items) {\n  return items.reduce((sum, item) => sum + item.price, 1)\n}\n',
  'src/tax.js': 'export const rate = 0.19\n',
  'check.mjs':
    "import { total } from './src/cart.js'\nconst sum = total([{ price: 2 }, { price: 3 }])\nif (sum !== 5) { console.error('1 failed: total is ' + sum); process.exit(1) }\nconsole.log('all passed')\n",
  'package.json': '{"type":"module"}\n',
}
const twelve = `The cart adds one too much. Please mend it and keep the API as it is.
<task name="cart">
1. list **/*.js
2. read src/cart.js
3. also read src/tax.js
4. search "reduce" in src
5. run node check.mjs
6. if passed: say Nothing to mend.
7. if failed: edit src/cart.js ", 1)" -> ", 0)"
8. run node check.mjs
9. if failed: stop It still fails.
10. edit src/tax.js "0.19" -> "0.2"
11. write CHANGES.md
<<<
The total begins at zero.
>>>
12. say The cart is right again.
</task>`

const lastText = (messages: readonly WireMessage[]): string => plainText(messages.at(-1)?.content)

const summaryPrompt = `Stop here and answer with plain text, no tools. Write a summary of this conversation inside <summary> tags, with these sections:
1. Request
2. Files
3. Errors
4. All user messages
5. Pending
6. Current work`

/** What an engine does with a summary, in words of this test. */
const compacted = (summary: string): WireMessage =>
  user(
    `This session continues from an earlier one.\n\n${summary.replace(/<analysis>[\s\S]*<\/analysis>/u, '').replace(/<\/?summary>/gu, '')}\n\nGo on with the work.`,
  )

describe('following a task', () => {
  it('[W4] plays a task of twelve steps with real tools and leaves the files as asked', async () => {
    using shop = workshop(files)
    const messages = await play(ruleModel(), shop, [user(twelve)])
    expect(lastText(messages)).toContain('The cart is right again.')
    expect(readFileSync(join(shop.folder, 'src/cart.js'), 'utf8')).toContain(', 0)')
    expect(readFileSync(join(shop.folder, 'src/tax.js'), 'utf8')).toContain('0.2')
    expect(readFileSync(join(shop.folder, 'CHANGES.md'), 'utf8')).toBe('The total begins at zero.\n')
    expect(shop.calls.map((line) => line.split(' ')[0])).toEqual([
      'Glob',
      'Read',
      'Read',
      'Grep',
      'Bash',
      'Edit',
      'Bash',
      'Edit',
      'Write',
    ])
  })

  it('[W4] takes the other branch when the check passes', async () => {
    using shop = workshop({ ...files, 'src/cart.js': files['src/cart.js'].replace(', 1)', ', 0)') })
    const messages = await play(ruleModel(), shop, [user(twelve)])
    expect(shop.calls.filter((line) => line.startsWith('Edit'))).toHaveLength(1)
    expect(JSON.stringify(messages)).toContain('Nothing to mend.')
  })

  it('[W5] uses the names and arguments of the tools it is offered', async () => {
    using shop = workshop(files)
    await play(ruleModel(), shop, [user(twelve)], { tools: foreignTools })
    expect(shop.calls[1]).toBe('read_file {"path":"src/cart.js"}')
    expect(readFileSync(join(shop.folder, 'src/cart.js'), 'utf8')).toContain(', 0)')
    expect(readFileSync(join(shop.folder, 'CHANGES.md'), 'utf8')).toBe('The total begins at zero.\n')
  })

  it('[W5] fills other required arguments and gives absolute paths where they are wanted', async () => {
    const tools = [
      {
        name: 'Read',
        input_schema: {
          properties: {
            file_path: { type: 'string', description: 'An absolute path' },
            mode: { enum: ['text', 'raw'] },
          },
          required: ['file_path', 'mode'],
        },
      },
    ]
    const system = 'You are an agent.\nWorking directory: /home/dev/shop\n'
    const answer = await ask(ruleModel(), request([user('<task>\n1. read a.js\n</task>')], { tools, system }))
    expect(inputOf(callsIn(answer)[0])).toEqual({ file_path: '/home/dev/shop/a.js', mode: 'text' })
  })

  it('[W5] says so and goes on when no tool can do a step', async () => {
    const wanted = request([user('<task name="t">\n1. edit a.js "x" -> "y"\n2. say Bye.\n</task>')], {
      tools: [],
    })
    const answer = await ask(ruleModel(), wanted)
    expect(textIn(answer)).toMatch(/skipped: no offered tool[\s\S]*Bye\./u)
    expect(answer.stop_reason).toBe('end_turn')
  })

  it('[W6] reads a file again when a tool wants it read first', async () => {
    using shop = workshop({ 'a.js': 'x\n' })
    const messages = await play(ruleModel(), shop, [
      user('<task name="t">\n1. edit a.js "x" -> "y"\n2. say Done.\n</task>'),
    ])
    expect(shop.calls.map((line) => line.split(' ')[0])).toEqual(['Edit', 'Read', 'Edit'])
    expect(readFileSync(join(shop.folder, 'a.js'), 'utf8')).toBe('y\n')
    expect(lastText(messages)).toContain('Done.')
  })

  it.each(['[no result of Glob: interrupted]', '[Glob was not run: its arguments were incomplete]'])(
    '[W6] does not take for done: %s',
    async (words) => {
      const first = await ask(ruleModel(), request([user(twelve)]))
      const call = callsIn(first)[0]
      const lost = {
        type: 'tool_result',
        tool_use_id: call?.['id'],
        content: words,
        is_error: true,
      }
      const next = await ask(
        ruleModel(),
        request([
          user(twelve),
          { role: 'assistant', content: first.content },
          { role: 'user', content: [lost] },
        ]),
      )
      expect(callsIn(next)[0]?.['name']).toBe('Glob')
      expect(callsIn(next)[0]?.['id']).not.toBe(call?.['id'])
    },
  )

  it('[W6] waits at a stop and goes on when the user says so', async () => {
    using shop = workshop({ 'a.js': 'x\n' })
    const start = [
      user('<task name="t">\n1. read a.js\n2. stop Shall I go on?\n3. run true\n4. say Done.\n</task>'),
    ]
    const paused = await play(ruleModel(), shop, start)
    expect(lastText(paused)).toContain('Shall I go on?')
    const ended = await play(ruleModel(), shop, [...paused, user('yes')])
    expect(lastText(ended)).toContain('Done.')
    expect(shop.calls).toHaveLength(2)
    const after = await ask(ruleModel(), request([...ended, user('thanks')]))
    expect(textIn(after)).toContain('nothing is left to do')
  })

  it('[W6] follows a task given as an option, and answers plainly without one', async () => {
    const model = ruleModel({ task: 'read a.js\nsay Done.' })
    expect(callsIn(await ask(model, request([user('begin')])))[0]?.['name']).toBe('Read')
    expect(textIn(await ask(ruleModel(), request([user('how are you?')])))).toContain('"how are you?"')
  })
})

describe('following a task across a compaction', () => {
  /** Plays to the cut, has the conversation summarised in a mode, and plays on from the summary alone. */
  async function acrossCut(mode: 'good' | 'lazy' | 'wrong', variant?: Variant) {
    using shop = workshop(files)
    const before = await play(ruleModel(), shop, [user(twelve)], {}, 6)
    const summary = await ask(ruleModel({ mode, variant }), request([...before, user(summaryPrompt)]))
    const opening = mode === 'good' ? [] : [user(twelve)]
    const after = await play(ruleModel(), shop, [compacted(textIn(summary)), ...opening])
    return { calls: shop.calls, repeated: shop.calls.length - new Set(shop.calls).size, end: lastText(after) }
  }

  it('[W7] goes on from a good summary without repeating a step', async () => {
    const { calls, end } = await acrossCut('good')
    expect(calls.map((line) => line.split(' ')[0])).toEqual([
      'Glob',
      'Read',
      'Read',
      'Grep',
      'Bash',
      'Edit',
      'Bash',
      'Edit',
      'Write',
    ])
    expect(end).toContain('The cart is right again.')
  })

  it('[W7] repeats work that a bad summary forgets', async () => {
    expect((await acrossCut('good')).repeated).toBe(1)
    expect((await acrossCut('wrong')).repeated).toBeGreaterThan(3)
    expect((await acrossCut('lazy', 'claim-only')).repeated).toBeGreaterThan(3)
  })

  it('[W7] understands a summary in other words when it names deeds and objects', async () => {
    const told = `This conversation continues earlier work; here is an account of what happened before.

## Files
- read src/cart.js and src/tax.js
- edited src/cart.js so that the sum begins at zero
## Commands
- listed **/*.js, then searched for reduce
- executed node check.mjs, it failed
- executed node check.mjs again, it passed
## What the user said
${twelve}`
    const answer = await ask(ruleModel(), request([user(told)]))
    expect(inputOf(callsIn(answer)[0])).toMatchObject({ file_path: 'src/tax.js', new_string: '0.2' })
  })

  it('[W7] keeps the thread through two good summaries in a row', async () => {
    using shop = workshop(files)
    const model = ruleModel()
    const first = await play(model, shop, [user(twelve)], {}, 3)
    const one = await ask(model, request([...first, user(summaryPrompt)]))
    const second = await play(model, shop, [compacted(textIn(one))], {}, 2)
    const two = await ask(model, request([...second, user(summaryPrompt)]))
    expect(textIn(two)).toContain('Please mend it and keep the API as it is.')
    const end = await play(model, shop, [compacted(textIn(two))])
    expect(lastText(end)).toContain('The cart is right again.')
    expect(shop.calls).toHaveLength(9)
  })
})

describe('the rule-based model', () => {
  it('[W8] gives the same answer to the same request, whatever marks it carries', async () => {
    const words = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string({ minLength: 1 })), {
      maxLength: 6,
    })
    await fc.assert(
      fc.asyncProperty(words, fc.boolean(), async (pairs, marked) => {
        const messages = [
          ...pairs.flatMap(([said, replied]) => [user(said), assistant(replied)]),
          user(twelve),
        ]
        const mark = (message: WireMessage): WireMessage => ({
          ...message,
          content: [{ type: 'text', text: plainText(message.content), cache_control: { type: 'ephemeral' } }],
        })
        const plain = await ask(ruleModel(), request(messages))
        expect(await ask(ruleModel(), request(marked ? messages.map(mark) : messages))).toEqual(plain)
      }),
      { numRuns: 50 },
    )
  })

  it('[W8] thinks in words only, and only when thinking is on', async () => {
    const on = await ask(ruleModel(), request([user(twelve)], { thinking: { type: 'adaptive' } }))
    expect(on.content[0]).toEqual({ type: 'thinking', thinking: expect.any(String) as string })
    for (const thinking of [undefined, { type: 'disabled' } as const]) {
      const off = await ask(ruleModel(), request([user(twelve)], thinking === undefined ? {} : { thinking }))
      expect(off.content.some((block) => block.type === 'thinking')).toBe(false)
    }
  })

  it('[W8] never issues an id twice in one conversation', async () => {
    using shop = workshop(files)
    const messages = await play(ruleModel(), shop, [user(twelve)])
    const ids = JSON.stringify(messages).match(/"id":"[^"]+"/gu) ?? []
    expect(ids).toHaveLength(9)
    expect(new Set(ids).size).toBe(9)
  })
})
