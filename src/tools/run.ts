// Runs the calls of one response. Read-only calls that stand side by side run at the same time; any other call waits for
// those before it and holds back those behind it, so that a read after a write sees what was written. Every call gets
// exactly one result, whatever happens (law E1), and every result is redacted here, before anyone sees it.
import { setMaxListeners } from 'node:events'
import { errorText } from '../disk/failure.ts'
import { redact } from '../disk/redact.ts'
import { defaults } from '../settings/defaults.ts'
import type { ToolUseBlock, UserBlock } from '../transcript/content.ts'
import type { Fact } from '../transcript/fact.ts'
import { interruptedMark } from '../transcript/markers.ts'
import { failed, interrupted, outcomeFrom } from './outcome.ts'
import type { ReadOnlyRun, ShownFile, Tool, ToolEnv, ToolOutcome } from './tool.ts'

/** The facts are written before the call runs, or instead of it; the notice is for the person at the screen. */
export type Permit = (
  | {
      readonly ok: true
      readonly notice?: string | undefined
      /** The call was let run because it is read-only, and must run as one. */
      readonly readOnly?: ReadOnlyRun | undefined
      /** The file as it was shown to the person who agreed. */
      readonly shown?: ShownFile | undefined
    }
  /** `stops`: the person does not want the turn to go on. */
  | { readonly ok: false; readonly why: string; readonly stops?: boolean | undefined }
) & { readonly facts?: readonly Fact[] | undefined }

export interface RunOptions {
  readonly tools: readonly Tool[]
  readonly env: (call: ToolUseBlock) => ToolEnv
  readonly signal: AbortSignal
  /** Asked once for each call whose input fits, in order. Without it everything may run. */
  readonly mayRun?: ((call: ToolUseBlock, tool: Tool, signal: AbortSignal) => Promise<Permit>) | undefined
  readonly parallel?: number | undefined
  readonly abortGraceMs?: number | undefined
}

export interface RanCall {
  readonly call: ToolUseBlock
  readonly outcome: ToolOutcome
}

/** The results, each as it ends. */
export async function* runCalls(
  calls: readonly ToolUseBlock[],
  options: RunOptions,
): AsyncGenerator<RanCall, void> {
  const stopped = new AbortController()
  const signal = AbortSignal.any([options.signal, stopped.signal])
  // Every call that runs listens for the end. Many at once are no leak, and Node would warn the user of one.
  setMaxListeners(0, signal)
  const tools = new Map(options.tools.map((tool) => [tool.spec.name, tool]))
  try {
    for (const batch of batchesOf(calls, tools)) yield* runBatch(batch, tools, { ...options, signal })
  } finally {
    // Whoever stops listening has no use for what still runs.
    stopped.abort()
  }
}

function batchesOf(calls: readonly ToolUseBlock[], tools: ReadonlyMap<string, Tool>): ToolUseBlock[][] {
  const batches: ToolUseBlock[][] = []
  let together = false
  for (const call of calls) {
    const readOnly = tools.get(call.name)?.policy.readOnly ?? true
    if (readOnly && together) batches.at(-1)!.push(call)
    else batches.push([call])
    together = readOnly
  }
  return batches
}

async function* runBatch(
  batch: readonly ToolUseBlock[],
  tools: ReadonlyMap<string, Tool>,
  options: RunOptions,
): AsyncGenerator<RanCall, void> {
  const parallel = options.parallel ?? defaults.tools.parallel
  const running = new Map<number, Promise<{ readonly at: number; readonly outcome: ToolOutcome }>>()
  let next = 0
  let asked: Promise<unknown> = Promise.resolve()
  while (next < batch.length || running.size > 0) {
    while (next < batch.length && running.size < parallel) {
      const at = next++
      const permit = asked.then(() => permitFor(batch[at]!, tools, options))
      asked = permit
      running.set(
        at,
        permit.then((answer) => runOne(batch[at]!, answer, options)).then((outcome) => ({ at, outcome })),
      )
    }
    const { at, outcome } = await Promise.race(running.values())
    running.delete(at)
    yield { call: batch[at]!, outcome: clean(outcome) }
  }
}

type Ready =
  | {
      readonly ok: true
      readonly tool: Tool
      readonly input: Record<string, unknown>
      readonly permit: Pick<Permit & { ok: true }, 'readOnly' | 'shown'>
    }
  | { readonly ok: false; readonly outcome: ToolOutcome }

async function permitFor(
  call: ToolUseBlock,
  tools: ReadonlyMap<string, Tool>,
  options: RunOptions,
): Promise<Ready> {
  const refuse = (why: string): Ready => ({ ok: false, outcome: failed(why) })
  if (options.signal.aborted) return { ok: false, outcome: interrupted('The call was not started.') }
  const tool = tools.get(call.name)
  if (tool === undefined)
    return refuse(
      `There is no tool ${JSON.stringify(call.name)}. The tools are: ${[...tools.keys()].join(', ')}.`,
    )
  if (call.broken !== undefined)
    return refuse(
      `The arguments of this call to ${call.name} were not whole JSON, so it was not run. Send the call again.`,
    )
  try {
    const parsed = tool.parse(call.input)
    if (!parsed.ok) return refuse(`Invalid input for ${call.name}: ${parsed.why}. Send the call again.`)
    const permit = await untilAborted(
      options.mayRun?.(call, tool, options.signal) ?? Promise.resolve<Permit>({ ok: true }),
      options.signal,
      0,
    )
    if (permit === null) return { ok: false, outcome: interrupted('The call was not started.') }
    if (!permit.ok && permit.stops === true) return { ok: false, outcome: interrupted(permit.why) }
    if (!permit.ok) return refuse(permit.why)
    return { ok: true, tool, input: parsed.input, permit }
  } catch (error) {
    return refuse(`Whether ${call.name} may run could not be found out: ${errorText(error)}`)
  }
}

async function runOne(call: ToolUseBlock, ready: Ready, options: RunOptions): Promise<ToolOutcome> {
  if (!ready.ok) return ready.outcome
  if (options.signal.aborted) return interrupted('The call was not started.')
  const graceMs = options.abortGraceMs ?? defaults.tools.abortGraceMs
  try {
    const env = { ...options.env(call), readOnly: ready.permit.readOnly, shown: ready.permit.shown }
    const work = ready.tool.run(ready.input, env, options.signal)
    const outcome = await untilAborted(work, options.signal, graceMs)
    if (outcome === null)
      return interrupted('The call was told to stop and did not answer; it may still take effect.')
    // A tool that was written without our types may give anything.
    const given = outcomeFrom(outcome)
    return given.ok ? given.outcome : failed(`${call.name} gave no result: ${given.why}`)
  } catch (error) {
    return failed(`${call.name} broke off, which is a fault of the tool: ${errorText(error)}`)
  }
}

/** What the work gives, or null when it was not there this long after the abort. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal, graceMs: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  let onAbort: (() => void) | undefined
  const late = new Promise<null>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => resolve(null), graceMs)
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
    if (onAbort !== undefined) signal.removeEventListener('abort', onAbort)
  }
}

const noOutput: UserBlock = { type: 'text', text: '(no output)' }

/** Without secrets, and never empty: an empty result says nothing to a model. */
function clean(outcome: ToolOutcome): ToolOutcome {
  const content = outcome.content
    .map((block): UserBlock => (block.type === 'text' ? { ...block, text: redact(block.text).text } : block))
    .filter((block) => block.type !== 'text' || block.text !== '')
  return { ...outcome, content: content.length === 0 ? [noOutput] : content, ...cleanChange(outcome) }
}

const cleanChange = ({ change }: ToolOutcome): Pick<ToolOutcome, 'change'> =>
  change === undefined
    ? {}
    : { change: { ...change, before: redact(change.before).text, after: redact(change.after).text } }

/** Whether a result says that its call was cut short. */
export const wasInterrupted = (outcome: ToolOutcome): boolean => {
  const first = outcome.content[0]
  return outcome.isError && first?.type === 'text' && first.text.startsWith(interruptedMark)
}
