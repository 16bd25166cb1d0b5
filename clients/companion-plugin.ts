// What the plugin brings to Claude Code besides its hooks, and a person at its terminal: the status line, the command for
// the audit, the memory server.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call } from '../src/simulator/index.ts'
import { keys, runInTerminal } from '../test/screen/terminal.ts'
import { until } from '../test/until.ts'
import { blocksIn, canary, claudeSession, installed, times } from './companion-claude.ts'
import type { Report, World } from './world.ts'

/** Whoever starts it for the first time is asked for a theme, the key and trust; that is not looked at here. */
function answeredBefore({ home, project }: World): void {
  writeFileSync(
    join(home, '.claude.json'),
    JSON.stringify({
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: ['k'], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    }),
  )
}

/** C1 at a terminal: typed, compacted by hand, gone on; the status line tells of it. */
export async function claudeTerminal(report: Report, program: string, world: World): Promise<void> {
  installed(world)
  answeredBefore(world)
  const session = await claudeSession(program, world)
  const seen = runInTerminal(program, ['--model', 'claude-opus-5'], {
    cwd: world.project,
    environment: { ...world.environment, ...session.environment },
  })
  const shows = (what: string | RegExp): Promise<void> =>
    until(() => seen.lines().join('\n').search(what) >= 0, String(what))
  const asked = (): number => session.simulator.log.requests.filter(({ status }) => status === 200).length
  const say = async (words: string): Promise<void> => {
    const before = asked()
    seen.type(words)
    await shows(words)
    seen.type(keys.enter)
    await until(() => asked() > before, `a request for "${words}"`)
  }
  try {
    await shows('❯')
    await say(`Write it. Never touch the ${canary} file.`)
    await shows('● Done.')
    await say('/compact')
    await shows('Compacted')
    await say('go on')
    const last = JSON.stringify(session.simulator.log.last()?.body)
    report.check(
      'C1 Claude Code at a terminal, /compact: the rule stands in the next request, once',
      times(last, canary) === 1 && blocksIn(last) === 1,
      `${times(last, canary)} times, ${blocksIn(last)} blocks`,
    )
    await shows(/\$\d+\.\d\d · cache warm \d:\d\d · compacted 1×, 1 rule put back/)
    report.check('the status line tells cost, cache and what was put back', true)
  } finally {
    seen.kill('SIGKILL')
    await session.end()
  }
}

const messagesIn = (sent = '{}'): string =>
  JSON.stringify((JSON.parse(sent) as { messages?: unknown }).messages ?? '')

/** What the tool answered. */
const resultIn = (messages: string): string =>
  (JSON.parse(messages) as { content: unknown }[])
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter((block: { type?: string }) => block.type === 'tool_result')
    .map((block) => JSON.stringify(block))
    .join('\n')

/** `/pal:audit` behind a compaction, and the memory server: saved in one session, found in the next. */
export async function claudePlugin(report: Report, program: string, world: World): Promise<void> {
  installed(world)
  let wanted: ReturnType<typeof call> | null = null
  const session = await claudeSession(program, world, {
    next: () => {
      const asked = wanted
      wanted = null
      return asked === null ? null : { content: [asked], stop_reason: 'tool_use' }
    },
  })
  await session.run('-p', `Write it. Never touch the ${canary} file.`)
  await session.run('-p', '--continue', '/compact')
  const audit = await session.run('-p', '--continue', '/pal:audit')
  const said = messagesIn(audit.sent.at(-1))
  report.check(
    '/pal:audit brings the report of this session to the model',
    audit.code === 0 && /Compaction 1 lost[^]*CANARY-7Q4/.test(said),
    `${audit.code} ${audit.out} ${audit.err}`,
  )
  const names = [...new Set(audit.sent.join('').match(/mcp__\w*memory\w*/g) ?? [])]
  report.check('the memory server of the plugin is offered', names.length > 0, names.join(' '))
  const save = names.find((name) => name.endsWith('remember')) ?? ''
  const search = names.find((name) => name.endsWith('search')) ?? ''
  const use = async (name: string, input: Readonly<Record<string, unknown>>): Promise<string> => {
    wanted = call(name, input, `toolu_${name.length}`)
    const { sent } = await session.run('-p', 'Use your memory.', '--allowedTools', name)
    return messagesIn(sent.at(-1))
  }
  const saved = await use(save, {
    name: 'parser-choice',
    description: 'which parser this project uses',
    text: 'This project parses with the LARK-17 parser.',
    type: 'project',
  })
  report.check('a memory is saved through it', /saved|kept/i.test(resultIn(saved)), resultIn(saved))
  const found = await use(search, { query: 'which parser does this project use' })
  report.check('and found by the next session', /LARK-17/.test(resultIn(found)), resultIn(found))
  await session.end()
}
