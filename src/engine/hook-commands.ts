// Hooks as commands. A command gets the moment as JSON on its standard input and may answer on its standard
// output: {"context": "text for the model", "block": "why not"}, or plain text, which is context. Code 2 blocks, with the
// reason on standard error. One that fails, says nonsense or takes too long is shown, and where it was to judge a call
// the call is blocked (PM53); its whole process group is ended. What it says passes the limits of a
// tool result and loses its secrets, as tool results do.
import { objectIn } from '../transcript/json.ts'
import { spawn, type ChildProcess } from 'node:child_process'
import { redact } from '../disk/redact.ts'
import { defaults } from '../settings/defaults.ts'
import type { HookSettings } from '../settings/schema.ts'
import { headOf } from '../tools/outcome.ts'
import { pass, type Judge } from '../tools/permission/pipeline.ts'
import { drained, type Reading } from '../tools/shell/group.ts'
import { noHooks, type HookAnswer, type HookName, type Hooks } from './hooks.ts'

export interface HookCommandOptions {
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly timeoutMs?: number | undefined
}

export function commandHooks(settings: HookSettings, options: HookCommandOptions): Hooks {
  if (Object.values(settings).every((list) => list === undefined || list.length === 0)) return noHooks
  return {
    async fire(name, payload, signal) {
      const commands = commandsFor(settings, name, payload)
      const answers: HookAnswer[] = []
      // One after the other: what one does, the next may rely on; and the first that blocks has decided.
      for (const { command } of commands) {
        const answer = await ask(name, command, payload, options, signal)
        answers.push(answer)
        if (answer.block !== null) break
      }
      return joined(answers)
    },
  }
}

const commandsFor = (
  settings: HookSettings,
  name: HookName,
  payload: object,
): readonly { readonly command: string }[] =>
  (settings[name] ?? []).filter(
    ({ tools }) => tools === undefined || named(payload).some((tool) => tools.includes(tool)),
  )

const named = (payload: object): readonly string[] =>
  ['tool', 'through'].flatMap((field) => {
    const name: unknown = Reflect.get(payload, field)
    return typeof name === 'string' ? [name] : []
  })

/** The hooks as one who explains a call sees them: named, not run. */
export const hookPreview = (settings: HookSettings): Judge => ({
  name: 'hooks',
  judge({ sent, call }) {
    const commands = commandsFor(settings, 'PreToolUse', { tool: call.name, through: sent.name })
    const names = commands.map(({ command }) => command).join('; ')
    return Promise.resolve(
      pass(commands.length === 0 ? 'no hook is set for it' : `would be run first and may block it: ${names}`),
    )
  },
})

function joined(answers: readonly HookAnswer[]): HookAnswer {
  const contexts = answers.flatMap(({ context }) => (context === null ? [] : [context]))
  return {
    context: contexts.length === 0 ? null : contexts.join('\n'),
    block: answers.find(({ block }) => block !== null)?.block ?? null,
    failures: answers.flatMap(({ failures }) => failures),
  }
}

async function ask(
  name: HookName,
  command: string,
  payload: object,
  options: HookCommandOptions,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const ended = await run(command, JSON.stringify({ hook: name, ...payload }), options, signal)
  if (ended.ok) return answerIn(ended.text, name, command)
  if (ended.complaint !== null && stoppable.has(name))
    return { context: null, block: ended.complaint, failures: [] }
  return broken(name, command, ended.why)
}

/** Moments that a hook can stop; everywhere else there is nothing to block. */
const stoppable: ReadonlySet<HookName> = new Set<HookName>(['PreToolUse', 'UserPromptSubmit', 'PreCompact'])

/** A hook that should have judged a call and did not is a no: whoever set it up wants nothing to pass it by. */
function broken(name: HookName, command: string, why: string): HookAnswer {
  const said = `the hook ${name} (${command}) ${why}`
  if (name !== 'PreToolUse') return { context: null, block: null, failures: [`${said}; it was ignored`] }
  return {
    context: null,
    block: `This call was not run: ${said}, and a call that such a hook could not judge is blocked. Only the user can repair the hook.`,
    failures: [`${said}; the call was blocked`],
  }
}

function answerIn(text: string, name: HookName, command: string): HookAnswer {
  const said = bounded(text.trim())
  if (said === '') return { context: null, block: null, failures: [] }
  if (!said.startsWith('{')) return { context: said, block: null, failures: [] }
  const value = objectIn(said)
  if (value === null)
    return name === 'PreToolUse'
      ? broken(name, command, 'answered with JSON that cannot be read')
      : { context: said, block: null, failures: [] }
  const { context, block } = value
  const isStrange = [context, block].some(
    (field) => field !== undefined && field !== null && typeof field !== 'string',
  )
  if (isStrange) return broken(name, command, 'answered with a context or block that is no text')
  const isForeign = context === undefined && block === undefined && Object.keys(value).length > 0
  if (isForeign && name === 'PreToolUse')
    return broken(name, command, 'answered with JSON that holds neither "block" nor "context"')
  return { context: textIn(context), block: textIn(block), failures: [] }
}

const textIn = (field: unknown): string | null => (typeof field === 'string' && field !== '' ? field : null)

/** A hook has no place beside the session to keep the rest, so it is cut, and that is said. */
function bounded(text: string): string {
  const clean = redact(text).text
  const limit = defaults.results.maxChars
  if (clean.length <= limit) return clean
  const head = headOf(clean, limit)
  return `${head}\n[cut here: ${clean.length - head.length} more characters of the hook's output]`
}

type Ended =
  | { readonly ok: true; readonly text: string }
  /** `complaint`: why it blocks, where it ended with the code that says so. */
  | { readonly ok: false; readonly why: string; readonly complaint: string | null }

async function run(
  command: string,
  input: string,
  options: HookCommandOptions,
  signal: AbortSignal,
): Promise<Ended> {
  const child = spawn('/bin/sh', ['-c', command], {
    cwd: options.cwd,
    env: options.environment,
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const timeoutMs = options.timeoutMs ?? defaults.engine.hookMs
  let stopped: string | null = null
  const stop = (why: string): void => {
    stopped ??= why
    killGroup(child)
  }
  const timer = setTimeout(() => stop(`took longer than ${timeoutMs} ms`), timeoutMs)
  const onAbort = (): void => stop('was interrupted')
  signal.addEventListener('abort', onAbort, { once: true })
  if (signal.aborted) onAbort()
  const reading: Reading = { pieces: 0, busy: false }
  const [output, errors] = [collect(child.stdout, reading), collect(child.stderr, reading)]
  // A hook that does not care for its input closes the pipe; that is its right.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const end = await new Promise<{ readonly code: number | null; readonly why: string | null }>((resolve) => {
    child.once('error', (error) => resolve({ code: null, why: `could not be started (${error.message})` }))
    child.once('exit', (code, name) =>
      resolve({ code, why: code === 0 ? null : `ended with ${name ?? `code ${code}`}` }),
    )
  })
  // What the command left running must not hold the answer open.
  killGroup(child)
  // Nor may what has left its group and still holds the pipes.
  await drained([child.stdout, child.stderr], reading)
  child.stdout.destroy()
  child.stderr.destroy()
  const text = await output.text()
  const complaint = redact(headOf((await errors.text()).trim(), complaintChars)).text
  clearTimeout(timer)
  signal.removeEventListener('abort', onAbort)
  if (stopped !== null) return { ok: false, why: stopped, complaint: null }
  if (end.why === null) return { ok: true, text }
  return {
    ok: false,
    why: complaint === '' ? end.why : `${end.why}: ${complaint}`,
    complaint: end.code === blockingCode ? complaint || 'a hook of the user blocks it' : null,
  }
}
/** As with other agents: the hook says no, and why on its standard error. */
const blockingCode = 2
const complaintChars = 2000

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // Nothing of the group runs any more, which is what was wanted.
  }
}

/** Keeps the beginning, in bounded memory; the rest is read and dropped so that the writer does not block. */
function collect(stream: NodeJS.ReadableStream, reading: Reading): { text(): Promise<string> } {
  const decoder = new TextDecoder()
  let text = ''
  const done = new Promise<void>((resolve) => {
    stream.on('data', (piece: Uint8Array) => {
      reading.pieces++
      if (text.length <= 2 * defaults.results.maxChars) text += decoder.decode(piece, { stream: true })
    })
    stream.on('close', resolve)
    stream.on('error', () => resolve())
  })
  return { text: () => done.then(() => text) }
}
