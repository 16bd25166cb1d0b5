// Frameworks of other makers against every wire of the simulator: LangChain.js and the OpenAI Agents SDK, with parallel tools, streams,
// usage and errors. Part of `npm run clients`; too heavy (255 MB) for the tests.
import { execFile } from 'node:child_process'
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { call, createSimulator, text, thinking, type Answerer } from '../src/simulator/index.ts'
import { createVerdicts, installed } from './on-demand.ts'

const verdicts = createVerdicts()
/** Against hanging, not a measure of speed. */
const mostMs = 300_000

/** Two files at once, then that both were read. */
const worker: Answerer = {
  answer: ({ request }) => {
    const last = JSON.stringify(request.messages.at(-1))
    return last.includes('content of')
      ? {
          content: [text(last.includes('content of b') ? 'Both files have been read to their end.' : 'One.')],
          stop_reason: 'end_turn',
        }
      : {
          content: [thinking('Two files.'), call('read', { path: 'a' }), call('read', { path: 'b' })],
          stop_reason: 'tool_use',
        }
  },
}

interface Seen {
  readonly name: string
  readonly failed?: string
  readonly calls?: readonly string[]
  readonly said?: string
  readonly streamed?: string
  readonly pieces?: number
  readonly usage?: number
  readonly agent?: string
  readonly refused?: string
}

const frameworks = [
  {
    label: 'LangChain.js 1.5.14',
    script: 'langchain.mjs',
    packages: [
      'langchain@1.5.14',
      '@langchain/core@1.2.13',
      '@langchain/anthropic@1.5.11',
      '@langchain/openai@1.5.8',
      '@langchain/google-genai@2.3.2',
      'zod@4.6.7',
    ],
  },
  {
    label: 'OpenAI Agents SDK 0.20.0',
    script: 'agents.mjs',
    packages: ['@openai/agents@0.20.0', 'openai@7.53.0', 'zod@4.6.7'],
  },
] as const

const SAID = 'Both files have been read to their end.'

function judge(label: string, seen: Seen): void {
  const what = `${label} on ${seen.name}`
  const detail = JSON.stringify(seen)
  if (seen.failed !== undefined) return verdicts.check(`${what}: runs`, false, seen.failed)
  verdicts.check(`${what}: parallel tools`, JSON.stringify(seen.calls) === '["a","b"]', detail)
  verdicts.check(`${what}: a loop to its end`, seen.said === SAID && seen.agent === SAID, detail)
  verdicts.check(`${what}: a stream in pieces`, seen.streamed === SAID && (seen.pieces ?? 0) > 1, detail)
  verdicts.check(`${what}: usage`, (seen.usage ?? 0) > 0, detail)
  verdicts.check(`${what}: a wrong key is refused`, /401|400|API key/u.test(seen.refused ?? ''), detail)
}

for (const { label, script, packages } of frameworks) {
  const folder = installed(script.replace('.mjs', ''), packages)
  if (folder === null) {
    verdicts.skip(label, `${packages.join(' ')} cannot be installed here`)
    continue
  }
  const simulator = createSimulator({ answerer: worker, keys: ['right'] })
  const { url } = await simulator.start()
  const program = join(folder, script)
  copyFileSync(join(import.meta.dirname, 'sdks', script), program)
  const { out, err } = await new Promise<{ out: string; err: string }>((resolve) => {
    execFile(process.execPath, [program, url], { cwd: folder, timeout: mostMs }, (_, stdout, stderr) =>
      resolve({ out: stdout, err: stderr }),
    )
  })
  rmSync(program, { force: true })
  try {
    for (const seen of JSON.parse(out) as readonly Seen[]) judge(label, seen)
  } catch {
    verdicts.check(`${label}: runs`, false, `${out}\n${err}`)
  }
  await simulator.stop()
}
process.exitCode = verdicts.exitCode()
