// Typing that was meant for the prompt, into three questions in a row. Each text begins before its question is drawn, or
// just after; its lines are what people type: a word of at least two letters, then anything.
import * as fc from 'fast-check'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server } from '../cli/pal.ts'
import { isShown, open, say, sayNext, sees } from './seen.ts'
import { keys, type SeenTerminal } from './terminal.ts'

const names = ['one.txt', 'two.txt', 'three.txt'] as const
/** The letters that answers have, and some that none has. */
const letters = fc.constantFrom('y', 's', 'a', 'e', 'n', 'u', '1', '2', '3', ' ')
const word = fc.constantFrom('yes', 'ys', 'say', 'ease', 'any', 'as', 'sea', 'no', 'use a', '12', 'eye')
const arrow = fc.constantFrom<string>(keys.up, keys.down)
const line = fc
  .tuple(word, fc.array(fc.oneof({ weight: 4, arbitrary: letters }, arrow), { maxLength: 12 }))
  .map(([begin, rest]) => [...begin.split(''), ...rest, keys.enter])
const typed = fc.array(line, { minLength: 2, maxLength: 6 }).map((lines) => lines.flat())

const wait = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))

async function typeAhead(
  seen: SeenTerminal,
  all: readonly string[],
  perSecond: number,
  most: number,
  pausesAt: number | null,
): Promise<void> {
  for (const [at, key] of all.slice(0, most).entries()) {
    seen.type(key)
    await wait(1000 / perSecond)
    // Longer than the quiet after which a question takes keys.
    if (at === pausesAt) await wait(1600)
  }
}

const paces = [
  { perSecond: 1, most: 4, pausesAt: null },
  { perSecond: 5, most: 12, pausesAt: 5 },
  { perSecond: 20, most: 40, pausesAt: null },
  { perSecond: 200, most: 120, pausesAt: 60 },
] as const

const calls = () => names.map((name) => call('Bash', { command: `touch ${name}` }))
const seed = 20_261_115

describe('typing ahead', () => {
  it('[TE26] approves nothing on the screen, at 1, 5, 20 and 200 keys a second, with pauses and without', async () => {
    let questions = 0
    const session = async ({ perSecond, most, pausesAt }: (typeof paces)[number], at: number) => {
      const { access, simulator } = await server([calls(), 'the end', 'the end', 'the end', 'the end'])
      const place = await openWorkspace(access)
      const made = (): string[] => names.filter((name) => existsSync(join(place.project, name)))
      const seen = open(place)
      await sees(seen, '/help')
      await say(seen, 'make three files')
      const texts = fc.sample(typed, { numRuns: names.length, seed: seed + at })
      for (const [round, text] of texts.entries()) {
        await typeAhead(seen, text, perSecond, most, pausesAt)
        expect(made(), `${perSecond}/s: ${JSON.stringify(text)}`).toEqual([])
        expect(await sees(seen, `Bash(touch ${names[round]})`), `question ${round + 1}, ${perSecond}/s`).toBe(
          true,
        )
        expect(made(), JSON.stringify(text)).toEqual([])
        questions++
        // A person now looks up and says no.
        seen.type(keys.tab)
        expect(await sees(seen, 'enter to confirm')).toBe(true)
        seen.type(keys.up)
        expect(await sees(seen, '→ No')).toBe(true)
        seen.type(keys.enter)
        expect(await sees(seen, 'enter to send')).toBe(true)
        seen.type(keys.enter)
      }
      expect(await sees(seen, () => seen.all().includes('the end'))).toBe(true)
      expect(made()).toEqual([])
      const told = JSON.stringify(simulator.log.requests[1]?.body)
      expect(told.split('denied this call of Bash').length - 1).toBe(names.length)
      // Whole lines that were typed went to the queue.
      const first = texts[0]!.slice(0, most)
      const whole = first.includes(keys.enter) && perSecond > 1
      if (whole && first.every((key) => !key.startsWith('\u001B')))
        expect(told).toContain(first.slice(0, first.indexOf(keys.enter)).join('').trim())
      expect(isShown(seen, 'Bash(touch')).toBe(false)
    }
    await Promise.all(paces.map(session))
    expect(questions).toBe(paces.length * names.length)
  })

  it('[TE26] what is typed while the program stands still goes to the prompt, although the quiet is over when it wakes', async () => {
    const session = async (afterMs: number): Promise<void> => {
      const { access } = await server([calls(), 'the end'])
      const place = await openWorkspace(access)
      const seen = open(place)
      await sees(seen, '/help')
      await say(seen, 'make three files')
      expect(await sees(seen, `Bash(touch ${names[0]})`)).toBe(true)
      await wait(afterMs)
      seen.kill('SIGSTOP')
      // Longer than the quiet. Where it was over before the program was stopped, nothing can be seen here.
      await wait(2000)
      if (isShown(seen, 'or a letter')) return seen.kill('SIGKILL')
      seen.type('y')
      // The terminal writes in a turn of its own: the key lies there before the program wakes.
      await wait(1000)
      seen.kill('SIGCONT')
      const isTyped = (): boolean => seen.lines().some((line) => line.trim() === 'y')
      expect(await sees(seen, () => isTyped() || isShown(seen, '→ Yes'))).toBe(true)
      expect([isTyped(), isShown(seen, '→ Yes')]).toEqual([true, false])
      return seen.kill('SIGKILL')
    }
    // A program that waits when it is stopped hears of the time first, one that still draws hears of the key first.
    await Promise.all([0, 100, 300].map(session))
  })

  it('[TE26] text closes a list that was opened, chooses nothing, and goes to the prompt', async () => {
    const { access, simulator } = await server(['one', 'two', 'three'])
    const place = await openWorkspace(access)
    const seen = open(place)
    await sees(seen, '/help')
    await say(seen, 'the first')
    expect(await sees(seen, 'one')).toBe(true)
    await sayNext(seen, '/rewind')
    expect(await sees(seen, 'before which message?')).toBe(true)
    // In one piece, as a paste without brackets or a slow program gets it.
    seen.type(`and on${keys.enter}`)
    expect(await sees(seen, 'two')).toBe(true)
    expect(isShown(seen, 'rewound')).toBe(false)
    await sayNext(seen, '/model')
    expect(await sees(seen, 'Which model?')).toBe(true)
    seen.type('\u001B[200~pasted words\u001B[201~')
    expect(await sees(seen, () => !isShown(seen, 'Which model?') && isShown(seen, 'pasted words'))).toBe(true)
    const { messages } = simulator.log.last()!.body as { messages: unknown[] }
    expect(JSON.stringify(messages)).toMatch(/the first.*and on/)
  })

  it('[TE26] approves nothing in line mode, and what is no answer is queued', async () => {
    const { access, simulator } = await server([calls(), 'the end', 'the end', 'the end'])
    const place = await openWorkspace(access)
    const made = (): string[] => names.filter((name) => existsSync(join(place.project, name)))
    const seen = open(place, ['--lines'])
    await sees(seen, '> ')
    seen.type('make three files\r')
    const texts = fc.sample(typed, { numRuns: names.length, seed })
    for (const [round, text] of texts.entries()) {
      const all = text.filter((key) => !key.startsWith('\u001B'))
      await typeAhead(seen, all, 50, Infinity, null)
      expect(await sees(seen, () => seen.all().includes(`Bash(touch ${names[round]})`))).toBe(true)
      // Behind a line that is no answer, a letter alone and an empty line are none either.
      const queued = seen.all().split('pal: queued').length
      seen.type(`and more\ry\r\r`)
      expect(await sees(seen, () => seen.all().split('pal: queued').length >= queued + 2)).toBe(true)
      expect(made()).toEqual([])
      const shown = seen.all().split('A letter selects').length
      seen.type('/answer\r')
      expect(await sees(seen, () => seen.all().split('A letter selects').length > shown)).toBe(true)
      seen.type('n not now\r')
    }
    expect(await sees(seen, () => seen.all().includes('the end'))).toBe(true)
    expect(made()).toEqual([])
    const told = JSON.stringify(simulator.log.last()?.body)
    expect(told.split('says: not now').length - 1).toBe(names.length)
    const line = texts[0]!.slice(0, texts[0]!.indexOf(keys.enter)).filter((key) => !key.startsWith('\u001B'))
    expect(told).toContain(line.join('').trim())
  })
})
