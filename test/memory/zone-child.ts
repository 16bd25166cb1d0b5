// Prints what a text with days means at a moment, in the zone of the environment, and what a model is told of the day then.
import { absoluteDates } from '../../src/memory/format/dates.ts'
import { localDay } from '../../src/memory/format/day.ts'
import { recalledText } from '../../src/memory/recall/recall-text.ts'
import { modeBlock } from '../../src/preset/permission.ts'
import { sectionDefinitions } from '../../src/preset/sections.ts'

const at = Number(process.argv[2])
const hour = 60 * 60 * 1000
const facts = { isGit: false, system: 'Linux', shell: null, git: null, maxOutputTokens: 1, guidance: '' }
const environment = sectionDefinitions({ ...facts, now: at }).find(({ name }) => name === 'environment')
const memory = { file: 'a.md', modifiedMs: at - 12 * hour, type: null, name: 'a', description: 'a' }
const recalled = recalledText([{ memory, path: 'a.md', text: 'a' } as never], at)
const mode = modeBlock({ mode: 'ask', canAnswer: true, cwd: '/', modelId: 'm', now: at } as never)
process.stdout.write(
  JSON.stringify({
    day: localDay(at),
    text: absoluteDates('due tomorrow, said yesterday, or next Friday', at).text,
    began: /Session began: (.*)/.exec(String(environment?.compute()))?.[1],
    mode: /date="([^"]*)"/.exec(mode)?.[1],
    saved: /saved="([^"]*)"/.exec(recalled)?.[1],
  }),
)
