// The hook as it is installed: the real bundle in a folder of its own, started as a client starts it.
import { spawn } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Metafile } from 'esbuild'

const scripts = join(dirname(dirname(import.meta.dirname)), 'scripts', 'bundle.mjs')

/** Bundles the hook into a folder; says what is in it. */
export async function bundledHook(folder: string): Promise<Metafile> {
  const { bundleHooks } = (await import(pathToFileURL(scripts).href)) as {
    bundleHooks: (folder: string) => Promise<{ readonly hook: Metafile }>
  }
  return (await bundleHooks(folder)).hook
}

export interface HookRunResult {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface HookHome {
  readonly root: string
  readonly work: string
  readonly transcript: string
  readonly bundle: Metafile
  /** The fields every event of the session has. */
  readonly base: Readonly<Record<string, unknown>>
  event(name: string, fields?: object, session?: string): Promise<HookRunResult>
  run(stdin: string | Buffer | null, how?: RunOptions): Promise<HookRunResult>
  lines(...lines: readonly object[]): void
  options(options: object): void
  /** Every file the hook keeps, by its path below the folder. */
  kept(): ReadonlyMap<string, string>
  clear(): void
  remove(): void
}

export interface RunOptions {
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
}

/** Against hanging, not a measure of speed: a busy machine must not make a hook silent. */
const slowMachine = { clockMs: 60_000 }

export async function makeHookHome(): Promise<HookHome> {
  const base = mkdtempSync(join(tmpdir(), 'pal-hook-'))
  const [root, work, built] = [join(base, 'companion'), join(base, 'work'), join(base, 'built')]
  for (const folder of [root, work, built]) mkdirSync(folder, { mode: 0o700 })
  const bundle = await bundledHook(built)
  const hook = join(root, 'hook.cjs')
  const transcript = join(base, 'session.jsonl')
  const fields = { session_id: 's1', transcript_path: transcript, cwd: work }
  const options = (value: object): void =>
    writeFileSync(join(root, 'options.json'), JSON.stringify({ ...slowMachine, ...value }))
  const clear = (): void => {
    rmSync(root, { recursive: true, force: true })
    mkdirSync(root, { mode: 0o700 })
    copyFileSync(join(built, 'companion-hook.cjs'), hook)
    options({})
    writeFileSync(transcript, '')
  }
  clear()
  const run = (stdin: string | Buffer | null, how: RunOptions = {}): Promise<HookRunResult> =>
    runProgram([process.execPath, hook, ...(how.args ?? ['claude'])], stdin, { cwd: work, ...how })
  return {
    root,
    work,
    transcript,
    bundle,
    base: fields,
    run,
    event: (name, more = {}, session = 's1') =>
      run(JSON.stringify({ ...fields, session_id: session, hook_event_name: name, ...more })),
    lines: (...lines) =>
      writeFileSync(transcript, lines.map((line) => `${JSON.stringify(line)}\n`).join(''), { flag: 'a' }),
    options,
    kept: () => filesBelow(root),
    clear,
    remove: () => {
      chmodSync(root, 0o700)
      rmSync(base, { recursive: true, force: true })
    },
  }
}

/** Runs a program to its end; `null` leaves its stdin open. */
export function runProgram(
  [program, ...args]: readonly string[],
  stdin: string | Buffer | null,
  { cwd, env = {} }: RunOptions,
): Promise<HookRunResult> {
  return new Promise((resolve) => {
    const child = spawn(program!, args, { cwd, env: { PATH: process.env['PATH'], ...env } })
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    child.stdout.on('data', (part: Buffer) => void out.push(part))
    child.stderr.on('data', (part: Buffer) => void err.push(part))
    // A hook that ends before all is written to it closes the pipe.
    child.stdin.on('error', () => {})
    child.on('close', (code) =>
      resolve({ code, out: Buffer.concat(out).toString('utf8'), err: Buffer.concat(err).toString('utf8') }),
    )
    if (stdin !== null) child.stdin.end(stdin)
    else child.stdin.write('{"hook_event_name":"SessionStart"')
  })
}

function filesBelow(folder: string, under = ''): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const shown = join(under, name)
    if (statSync(path).isDirectory()) for (const [key, text] of filesBelow(path, shown)) found.set(key, text)
    else if (name !== 'hook.cjs' && name !== 'options.json') found.set(shown, readFileSync(path, 'utf8'))
  }
  return found
}

/** What a hook said to the model. */
export const contextIn = ({ out }: HookRunResult): string =>
  out === ''
    ? ''
    : ((JSON.parse(out) as { hookSpecificOutput?: { additionalContext?: string } }).hookSpecificOutput
        ?.additionalContext ?? '')

// ---- lines of a client's file ----

export const asked = (text: string): object => ({
  parentUuid: 'p',
  isSidechain: false,
  type: 'user',
  message: { role: 'user', content: text },
  uuid: 'u',
})

export const called = (id: string, name: string, input: object, cwd: string): object => ({
  parentUuid: 'p',
  isSidechain: false,
  cwd,
  message: { role: 'assistant', content: [{ type: 'tool_use', id, name, input }] },
  type: 'assistant',
  uuid: id,
})

export const resulted = (id: string, content: string, isError = false): object => ({
  parentUuid: 'p',
  isSidechain: false,
  type: 'user',
  message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] },
  uuid: `${id}-result`,
})
