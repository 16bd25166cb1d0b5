// A project of its own for one run of a task, with a home of its own: real files, real git, the real `pal` as a process.
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Call, PromptOptions, Stage, Task, Turn } from './task.ts'

export interface StageOptions {
  /** The bundled command. */
  readonly pal: string
  /** Key, address and the like. */
  readonly environment: Readonly<Record<string, string>>
  readonly model?: string | undefined
  /** A text that replaces the system prompt. */
  readonly system?: string | undefined
  /** Most the run may cost, in dollars; null where the model has no price. */
  readonly cap: number
}

export interface Spent {
  readonly dollars: number
  readonly requests: number
  readonly tokens: number
  readonly calls: number
}

export interface OpenStage extends Stage {
  readonly spent: () => Spent
  /** The first prompt that did not end as it should, in words. */
  readonly trouble: () => string | null
  close(): void
}

interface Line {
  readonly type: string
  readonly id?: string
  readonly name?: string
  readonly input?: Readonly<Record<string, unknown>>
  readonly text?: string
  readonly isError?: boolean
  readonly session?: string
  readonly outcome?: string
  readonly failure?: { readonly message: string } | null
  readonly requests?: number
  readonly dollars?: number
  readonly usage?: Readonly<Record<string, number>>
  readonly background?: { readonly tokens: number; readonly dollars: number }
}

export function openStage(task: Task, options: StageOptions): OpenStage {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'pal-evals-')))
  const home = join(folder, 'home')
  const project = join(folder, 'project')
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  mkdirSync(join(home, '.palimpsest'), { recursive: true })
  mkdirSync(project)
  writeFileSync(join(home, '.palimpsest', 'settings.json'), JSON.stringify(task.settings ?? {}))
  for (const [path, text] of Object.entries(task.files)) write(path, text)
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home, LANG: 'C.UTF-8', ...options.environment }
  const shell = (command: string): string =>
    spawnSync('sh', ['-c', command], { cwd: project, env: environment, encoding: 'utf8' }).stdout
  shell(
    'git init -q -b main && git config user.name Eval && git config user.email eval@localhost && git add -A && git commit -qm begin',
  )

  const spent = { dollars: 0, requests: 0, tokens: 0, calls: 0 }
  let trouble: string | null = null
  /** What sessions before the newest one cost: the cap of a session that is continued counts all of its own. */
  let earlier = 0
  const pal = (words: readonly string[]): Promise<{ out: string; err: string; code: number | null }> =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, [options.pal, ...words], {
        cwd: project,
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let [out, err] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
      child.once('close', (code) => resolve({ out, err, code }))
    })

  return {
    project,
    shell,
    write,
    // A file that the model took away reads as nothing; the criterion then fails as it should.
    read: (path) => (existsSync(join(project, path)) ? readFileSync(join(project, path), 'utf8') : ''),
    pal: async (...words) => {
      const { out, err, code } = await pal(words)
      if (code !== 0) trouble ??= `pal ${words.join(' ')}: ${err.trim()}`
      return out
    },
    prompt: async (text: string, { continues = false, allow = [], deny = [] }: PromptOptions = {}) => {
      if (!continues) earlier = spent.dollars
      const { out, err } = await pal([
        '-p',
        '--output-format',
        'stream-json',
        '--max-cost',
        String(Math.max(0.0001, options.cap - earlier)),
        ...(continues ? ['--continue'] : []),
        ...(options.model === undefined ? [] : ['--model', options.model]),
        ...(options.system === undefined ? [] : ['--system', options.system]),
        ...(allow.length === 0 ? [] : ['--allow', allow.join(',')]),
        ...(deny.length === 0 ? [] : ['--deny', deny.join(',')]),
        '--',
        text,
      ])
      const turn = turnOf(
        out.split('\n').filter((line) => line !== ''),
        spent,
      )
      if (turn.outcome !== 'done') trouble ??= `${turn.outcome}: ${err.trim().split('\n').at(-1) ?? ''}`
      return turn
    },
    spent: () => ({ ...spent }),
    trouble: () => trouble,
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** What the lines of `--output-format stream-json` tell, counted into `spent`. */
function turnOf(
  lines: readonly string[],
  spent: { dollars: number; requests: number; tokens: number; calls: number },
): Turn {
  const answers: Call[][] = []
  const open = new Map<string, { list: Call[]; at: number }>()
  let end: Line | null = null
  for (const raw of lines) {
    const line = JSON.parse(raw) as Line
    if (line.type === 'answer-end') answers.push([])
    if (line.type === 'tool-start') {
      const list = answers.at(-1) ?? answers[answers.push([]) - 1]!
      open.set(line.id ?? '', { list, at: list.length })
      list.push({ name: line.name ?? '', input: line.input ?? {}, result: '', isError: false })
    }
    const started = line.type === 'tool-end' ? open.get(line.id ?? '') : undefined
    if (started !== undefined)
      started.list[started.at] = {
        ...started.list[started.at]!,
        result: line.text ?? '',
        isError: line.isError === true,
      }
    if (line.type === 'result') end = line
  }
  spent.calls += answers.flat().length
  spent.requests += end?.requests ?? 0
  spent.dollars += (end?.dollars ?? 0) + (end?.background?.dollars ?? 0)
  spent.tokens +=
    Object.values(end?.usage ?? {}).reduce((sum, each) => sum + each, 0) + (end?.background?.tokens ?? 0)
  return {
    text: end?.text ?? '',
    outcome: end?.outcome ?? 'no result',
    session: end?.session ?? '',
    answers: answers.filter((calls) => calls.length > 0),
  }
}
