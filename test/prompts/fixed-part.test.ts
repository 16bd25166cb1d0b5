// The part that every request pays for: system prompt and tools, by our own count. `npm run prompt-tokens` shows it text
// by text.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { estimateText } from '../../src/projection/tokens.ts'
import { turn } from '../e2e/simulated.ts'
import { opened, systemText } from './scene.ts'

async function fixedPart(settings: Readonly<Record<string, unknown>>): Promise<number> {
  const { preset, requests } = await opened(['hello'], { settings })
  await turn((await preset.engine.open()).send('hi'))
  const [request] = requests()
  const texts = [systemText(request!), ...(request!.tools ?? []).map((tool) => JSON.stringify(tool))]
  return texts.reduce((sum, text) => sum + estimateText(text), 0)
}

it('[Q8] takes under 3,400 tokens with everything on, and under 2,200 with agents and memory off', async () => {
  expect(await fixedPart({ teammates: true, autoMemory: true })).toBeLessThan(3400)
  expect(await fixedPart({ agents: false, memory: false })).toBeLessThan(2200)
})

it('[Q9] teammates are offered only where they are: no tool and no field of theirs otherwise', async () => {
  const without = JSON.stringify((await fixedPartTools({})) as unknown)
  const withThem = JSON.stringify((await fixedPartTools({ teammates: true })) as unknown)
  expect(without).not.toMatch(/SendMessage|teammate/u)
  expect(withThem).toMatch(/SendMessage/u)
})

async function fixedPartTools(settings: Readonly<Record<string, unknown>>): Promise<unknown> {
  const { preset, requests } = await opened(['hello'], { settings })
  await turn((await preset.engine.open()).send('hi'))
  return requests()[0]!.tools
}

it('[Q8] the command shows every text beside what it took before, and stays below the same limits', () => {
  const root = join(import.meta.dirname, '..', '..')
  const out = execFileSync(process.execPath, ['scripts/run-ts.mjs', 'scripts/prompt-tokens.ts', '--json'], {
    cwd: root,
    encoding: 'utf8',
  })
  const { before, now } = JSON.parse(out) as Record<'before' | 'now', Record<string, Record<string, number>>>
  const sum = (rows: Readonly<Record<string, number>>): number =>
    Object.values(rows).reduce((all, tokens) => all + tokens, 0)
  for (const [name, most] of [
    ['everything on', 3400],
    ['agents and memory off', 2200],
  ] as const) {
    // Each part of the prompt has a name that both sides know, or is one that came since.
    const texts = Object.keys(now[name]!).filter((text) => before[name]![text] === undefined)
    expect(texts).toEqual(['system: length of a response'])
    expect(sum(now[name]!)).toBeLessThan(most)
    expect(sum(before[name]!)).toBeGreaterThan(1500)
  }
})
