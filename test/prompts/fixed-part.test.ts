// The part that every request pays for: system prompt and tools, by our own count.
import { expect, it } from 'vitest'
import { estimateText } from '../../src/projection/tokens.ts'
import { turn } from '../e2e/simulated.ts'
import { opened, systemText } from './scene.ts'

async function fixedPart(
  settings: Readonly<Record<string, unknown>>,
): Promise<{ total: number; rows: [string, number][] }> {
  const { preset, requests } = await opened(['hello'], { settings })
  await turn((await preset.engine.open()).send('hi'))
  const [request] = requests()
  const rows: [string, number][] = [
    ['system', estimateText(systemText(request!))],
    ...(request!.tools ?? []).map((tool): [string, number] => [
      tool.name,
      estimateText(JSON.stringify(tool)),
    ]),
  ]
  return { total: rows.reduce((sum, [, tokens]) => sum + tokens, 0), rows }
}

it('[Q8] takes under 3,400 tokens with everything on, and under 2,200 with agents and memory off', async () => {
  const all = await fixedPart({ teammates: true, autoMemory: true })
  const bare = await fixedPart({ agents: false, memory: false })
  if (process.env['PROMPT_TOKENS'] !== undefined)
    for (const { total, rows } of [all, bare])
      process.stdout.write(
        `${[...rows, ['all', total] as const].map(([name, tokens]) => `${String(tokens).padStart(6)}  ${name}`).join('\n')}\n\n`,
      )
  expect(all.total).toBeLessThan(3400)
  expect(bare.total).toBeLessThan(2200)
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
