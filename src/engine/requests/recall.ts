// When memories are asked for and written down. Asked for once a message of the user, real ones only, by the
// main thread only. What the quick look brings in time goes into the same request; the choice starts when the request is
// ready, or without a person when tools are called, and is written down before a later one, which follows tool results or
// the next message. It ends with the turn that is aborted, and with the session.
import { defaults } from '../../settings/defaults.ts'
import type { Part } from '../../projection/view.ts'
import type { Failure } from '../../transcript/store.ts'
import type { Core, Slice } from '../core.ts'
import type { Emit } from '../live.ts'
import type { Choice, RecallAsk, RecallOutcome } from '../ports.ts'
import { textIn } from '../../transcript/content.ts'

/** Before a request is settled: what was chosen meanwhile, then the quick look for a new message. */
export async function recallMemories(core: Core, emit: Emit): Promise<Failure | null> {
  const { recall } = core.options
  if (recall === undefined || !core.role.recalls) return null
  const { recalling } = core
  if (recall.choosesDuringTools === true && recalling.choice !== null)
    await inTime(recalling.choice.made, recall.patienceMs ?? defaults.recall.localMs)
  const ready = recalling.choice?.outcome ?? null
  if (ready !== null) {
    recalling.choice = null
    const unwritten = await write(core, ready, emit)
    if (unwritten !== null) return unwritten
  }
  const newest = newestInput(core)
  if (newest === null || newest.from === recalling.asked) return null
  recalling.asked = newest.from
  recalling.toChoose = true
  recalling.choice?.stop.abort()
  recalling.choice = null
  const { patienceMs } = recall
  const quick = await inTime(recall.quick(askOf(core), signalOf(core)), patienceMs ?? defaults.recall.localMs)
  if (quick !== null) return write(core, quick, emit)
  if (patienceMs !== undefined)
    emit({
      type: 'notice',
      code: 'recall-late',
      message: `memories could not be searched within ${patienceMs} ms; the request is sent without them`,
    })
  return null
}

/**
 * The choice runs beside the request that is ready. Where one request may be all there is, it runs beside the first calls of
 * tools instead: only then there is a later request that can bring it.
 */
export function chooseMemories(core: Core, during: 'request' | 'tools'): void {
  const { recall } = core.options
  const { recalling } = core
  if (recall === undefined || !recalling.toChoose) return
  if ((recall.choosesDuringTools === true ? 'tools' : 'request') !== during) return
  recalling.toChoose = false
  const stop = new AbortController()
  const signal = AbortSignal.any([stop.signal, signalOf(core)])
  const choice: Choice = {
    stop,
    outcome: null,
    made: recall.choose(askOf(core), signal).then((outcome) => {
      if (!signal.aborted) choice.outcome = outcome
    }),
  }
  recalling.choice = choice
}

const signalOf = (core: Slice<'background'>): AbortSignal =>
  core.background.turnSignal === null
    ? core.background.ending.signal
    : AbortSignal.any([core.background.turnSignal, core.background.ending.signal])

async function write(
  core: Slice<'append'>,
  { recalled, problem }: RecallOutcome,
  emit: Emit,
): Promise<Failure | null> {
  if (problem !== null) emit({ type: 'notice', code: 'recall', message: problem })
  if (recalled === null) return null
  const written = await core.append([{ type: 'memory-recall', ...recalled }])
  if (!written.ok) return written.failure
  emit({ type: 'memory', did: 'recalled', files: recalled.files })
  return null
}

/** From the end: it is looked for before each request. */
function newestInput(core: Slice<'view'>): Part | null {
  const { messages } = core.view()
  for (let back = 1; back <= messages.length; back++) {
    const found = messages.at(-back)?.parts.findLast((part) => part.kind === 'input')
    if (found !== undefined) return found
  }
  return null
}

function askOf(core: Slice<'jobContext' | 'readFiles' | 'state'>): RecallAsk {
  const said: string[] = []
  const surfaced = new Set<string>()
  const tools: string[] = []
  let visibleBytes = 0
  for (const part of core.state.fold.parts()) {
    if (part.kind === 'input') said.push(textOf(part))
    if (part.tool !== undefined) tools.push(part.tool)
    if (part.memories === undefined || part.by !== null) continue
    for (const name of part.memories) surfaced.add(name)
    visibleBytes += Buffer.byteLength(textOf(part))
  }
  const [message = '', ...earlier] = said.toReversed()
  return {
    message,
    earlier,
    surfaced,
    visibleBytes,
    read: new Set(core.readFiles.entries().map(([path]) => path)),
    recentTools: [...new Set(tools.toReversed())].slice(0, defaults.recall.recentTools),
    jobContext: core.jobContext,
  }
}

const textOf = ({ blocks }: Part): string => textIn(blocks)

/** What a promise gives within a time, else null. */
async function inTime<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
