// Codex and opencode with the companion, as C1 is for Claude Code.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, createSimulator, text } from '../src/simulator/index.ts'
import { blocksIn, canary, kept, times } from './companion-claude.ts'
import { runClient, slowClock, type Report, type World } from './world.ts'

const rule = `Write the parser. Never touch the ${canary} file.`

/** C9, C11: the work stands behind the summary as a developer message; the words, which Codex keeps, stand once. */
export async function codexCompacts(report: Report, program: string, world: World): Promise<void> {
  slowClock(world)
  world.ours('companion', 'install', 'codex', '--yes')
  let n = 0
  const simulator = createSimulator({
    answerer: {
      answer: () => {
        n++
        return n === 1
          ? { content: [call('exec_command', { cmd: 'npm test' }, 'c1')], stop_reason: 'tool_use' }
          : { content: [text(`Done ${n}.`)], stop_reason: 'end_turn' }
      },
    },
  })
  const { url } = await simulator.start()
  // Less than the first prompt takes, so that every turn ends with a compaction.
  const config = `model = "gpt-6-sol"\nmodel_provider = "sim"\nmodel_auto_compact_token_limit = 12650\n[model_providers.sim]\nname = "sim"\nbase_url = "${url}/v1"\nwire_api = "responses"\nenv_key = "K"\n`
  writeFileSync(join(world.home, '.codex', 'config.toml'), config)
  const run = (...args: readonly string[]) =>
    runClient(program, ['exec', '--skip-git-repo-check', '--dangerously-bypass-hook-trust', ...args], world, {
      K: 'k',
    })
  const first = await run(rule)
  const second = await run('resume', '--last', 'go on')
  const sent = simulator.log.requests
    .filter(({ path, status }) => path === '/v1/responses' && status === 200)
    .map(({ body }) => JSON.stringify(body))
  await simulator.stop()
  const after = sent.filter((body) => blocksIn(body) > 0)
  report.check(
    'C9 Codex: after its compaction the block comes as a developer message behind the summary',
    first.code === 0 &&
      second.code === 0 &&
      after.length > 0 &&
      after.every((body) => blocksIn(body) === 1) &&
      after.every((body) =>
        /"role":"developer","content":\[\{"type":"input_text","text":"<companion id=/.test(body),
      ),
    `${sent.length} requests, ${after.length} with a block; ${first.err.slice(-300)}`,
  )
  report.check(
    'C9 Codex: the words stand once, as the client keeps them; the block names the failed program',
    after.every((body) => times(body, canary) === 1 && body.includes('- npm (exit')),
  )
  const audit = kept(world, 'audit.json', 'codex')
  report.check('C9 Codex: its summary is audited from its own file', audit.includes('"words":{'), audit)
}

/** C9: the block before the first user text behind the summary, the same bytes in every request. */
export async function opencodeCompacts(report: Report, program: string, world: World): Promise<void> {
  slowClock(world)
  world.ours('companion', 'install', 'opencode', '--yes')
  let isLong = false
  const simulator = createSimulator({
    answerer: {
      answer: ({ request }) => {
        const said = JSON.stringify(request.messages)
        if (!isLong && said.includes(canary) && (request.tools ?? []).length > 0) {
          isLong = true
          return {
            content: [call('bash', { command: 'seq 1 5000; false', description: 'count' }, 'c1')],
            stop_reason: 'tool_use',
          }
        }
        return { content: [text('Done.')], stop_reason: 'end_turn' }
      },
    },
  })
  const { url } = await simulator.start()
  const folder = join(world.home, '.config', 'opencode')
  mkdirSync(folder, { recursive: true })
  // More than the prompt and the summary take, less than the prompt with one long result.
  const models = { 'claude-sonnet-4-5': { limit: { context: 11_000, output: 1000 } } }
  writeFileSync(
    join(folder, 'opencode.json'),
    JSON.stringify({ provider: { anthropic: { options: { baseURL: `${url}/v1`, apiKey: 'k' }, models } } }),
  )
  const environment = { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_AUTOUPDATE: '1' }
  const run = (...args: readonly string[]) =>
    runClient(program, ['run', '--model', 'anthropic/claude-sonnet-4-5', ...args], world, environment)
  const first = await run(rule)
  const second = await run('--continue', 'go on')
  const third = await run('--continue', 'and on')
  const sent = simulator.log.requests
    .filter(({ path, status }) => path === '/v1/messages' && status === 200)
    .map(({ body }) => JSON.stringify(body))
  await simulator.stop()
  const after = sent.filter((body) => blocksIn(body) > 0)
  const blocks = new Set(after.map((body) => /<companion id=.*?<\/companion>/.exec(body)?.[0]))
  report.check(
    'C9 opencode: after its compaction the rule stands in every request, once, in the same bytes',
    after.length >= 2 &&
      blocks.size === 1 &&
      after.every((body) => blocksIn(body) === 1 && times(body, canary) === 1),
    `${[first, second, third].map(({ code }) => code).join()}; ${sent.length} requests, ${after.length} with a block, ${blocks.size} texts`,
  )
}
