// One golden transcript a layer, as reading matter (test/golden/*.md): facts in, request text out. Made by the real
// engine over HTTP; `GOLDEN=write npx vitest run test/golden.test.ts` writes them anew.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { call, text, type ScriptStep } from '../src/simulator/index.ts'
import { snipTool } from '../src/tools/context.ts'
import { smallModel } from './compaction/sessions.ts'
import { refusals } from './e2e/simulated.ts'
import { factLines, requestText } from './golden/print.ts'
import { lines, minute } from './layers/scribe.ts'
import { stage, toolOf, type Stage } from './layers/stage.ts'

const folder = join(import.meta.dirname, 'golden')
const mostLines = 120
const bash = toolOf('Bash', (input) => lines(120, `line of run ${String(input['n'])}`))
const round = (name: string): ScriptStep => [call('Bash', { n: name }, name)]

interface Golden {
  readonly title: string
  /** The fact that the page is about. */
  readonly shows: string
  readonly play: () => Promise<Stage>
  /** Texts of up to so many lines are shown whole. */
  readonly whole?: number
}

const goldens: Readonly<Record<string, Golden>> = {
  'tool-result-budget': {
    shows: 'view-edit         tool-result-budget',
    title:
      'Tool-result budget: results that come at once and take too much together are written out, the largest first',
    play: async () => {
      const step = ['a', 'b', 'c'].map((name) => call('Bash', { n: name }, name))
      const sizes: Record<string, number> = { a: 900, b: 40, c: 700 }
      const tools = [toolOf('Bash', ({ n }) => lines(sizes[String(n)]!, `line of run ${String(n)}`))]
      const play = await stage([step, 'seen'], { layers: { messageChars: 20_000 }, engine: { tools } })
      await play.say('run all three')
      return play
    },
  },
  snip: {
    shows: 'view-edit         snip',
    title: 'Snip: the model removes a finished turn by the tag of its input',
    play: async () => {
      const steps = [
        round('a'),
        'The first task is done.',
        [
          text('The first task is not needed any more.'),
          call('Snip', { ids: ['000004'], reason: 'solved' }, 'snip'),
        ],
        'Now the second one.',
      ]
      const play = await stage(steps, { engine: { tools: [bash, snipTool()] } })
      await play.say('the first task')
      await play.say('the second task')
      return play
    },
  },
  microcompact: {
    shows: 'view-edit         microcompact',
    title:
      'Microcompact: after an hour the cache is gone anyway, and all but the newest results become stubs',
    play: async () => {
      const names = ['a', 'b', 'c', 'd', 'e']
      const play = await stage([...names.map(round), 'done', 'here again'], {
        layers: { keepResults: 2 },
        engine: { tools: [bash] },
      })
      await play.say('work')
      play.clock.advance(61 * minute)
      await play.say('back again')
      return play
    },
  },
  autocompact: {
    shows: 'boundary          autocompact',
    title: 'Autocompact: at the threshold an extracted summary replaces the older messages',
    whole: 20,
    play: async () => {
      const window = 12_000
      const names = ['a', 'b', 'c', 'd', 'e']
      const long = toolOf('Bash', ({ n }) => lines(500, `line of run ${String(n)}`))
      const play = await stage([...names.map(round), 'all runs are through', 'we go on'], {
        layers: { microcompact: false },
        simulator: { models: smallModel(window) },
        engine: { tools: [long], window },
      })
      await play.say('Run all of them. Never skip one.')
      await play.say('and what next?')
      return play
    },
  },
  undo: {
    shows: 'undo              of',
    title: 'Undo: what a layer removed is in the next request again, and layers leave it alone from then on',
    play: async () => {
      const names = ['a', 'b', 'c', 'd']
      const play = await stage([...names.map(round), 'done', 'here again', 'and again'], {
        layers: { keepResults: 2 },
        engine: { tools: [bash] },
      })
      await play.say('work')
      play.clock.advance(61 * minute)
      await play.say('back again')
      const [row] = await play.session.edits()
      await play.session.undo(row!.seq)
      play.clock.advance(61 * minute)
      await play.say('and now?')
      return play
    },
  },
}

async function pageOf({ title, shows, play, whole = 6 }: Golden): Promise<string> {
  const played = await play()
  expect(refusals(played.scene)).toEqual([])
  const facts = factLines(await played.facts())
  expect(facts).toContain(shows)
  const request = requestText(played.requests().at(-1)!, whole)
  return `# ${title}\n\n## Facts\n\n\`\`\`text\n${facts}\n\`\`\`\n\n## The last request\n\n\`\`\`text\n${request}\n\`\`\`\n`
}

describe('golden transcripts', () => {
  for (const [name, golden] of Object.entries(goldens)) {
    it(`[Z23] ${name}: the page in test/golden is what the engine does`, async () => {
      const file = join(folder, `${name}.md`)
      const page = await pageOf(golden)
      if (process.env['GOLDEN'] === 'write') await writeFile(file, page)
      expect(page).toBe(await readFile(file, 'utf8'))
      expect(page.split('\n').length).toBeLessThanOrEqual(mostLines)
    })
  }
})
