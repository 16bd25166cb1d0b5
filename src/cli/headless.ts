// `pal -p`: one turn for a script. Ctrl-C ends the turn as an outcome and leaves the transcript whole; a second one ends
// the process. Whatever happens, the session is given free and what the tools started is stopped.
import { machineFileSystem } from '../disk/fs.ts'
import { modelOf, tableOf, unknownOf } from '../preset/model-choice.ts'
import { findProgram } from '../disk/programs.ts'
import type { Input } from '../engine/api.ts'
import type { LiveEvent } from '../engine/live.ts'
import { EngineError, type Session } from '../engine/session.ts'
import type { AgentRegistry } from '../forks/agents/index.ts'
import { lookUp } from '../model/models.ts'
import { createPreset, type Preset, type PresetOptions } from '../preset.ts'
import type { Settings } from '../settings/schema.ts'
import { noBash } from '../tools/shell/bash.ts'
import { fenced } from '../transcript/fence.ts'
import type { Failure } from '../transcript/store.ts'
import { hearWishes } from './conversation/wishes.ts'
import { complain, exitFor, exits, fail, refuse, sayingOf, type Exit, type Refusal } from './exit-codes.ts'
import { loadExtensions, typesFor, type LoadedExtensions } from './extensions/load.ts'
import { createReporter, writeResult, type Format, type PromptResult } from './output.ts'
import { findSession, newestSession } from './session-lookup.ts'
import { telemetryFor } from './telemetry/start.ts'
import { badBytes, type Io } from './terminal/io.ts'
import { switchNotice } from './terminal/event-text.ts'
import { safeLine } from './terminal/safe-text.ts'
import { noAccess, scriptedNotice, startEmbedded } from './workplace/access.ts'
import { unsavedOf, type Unsaved } from './workplace/unsaved.ts'
import { keptRules } from './workplace/kept-rules.ts'
import { unknownTool, unknownToolsIn } from './workplace/rule-problems.ts'
import {
  instructionRefusal,
  openWorkplace,
  sayLeftOut,
  showProblems,
  uniqueText,
  type Workplace,
} from './workplace/workplace.ts'

/** What a conversation needs, in one turn or in many. */
export interface ConversationOptions {
  readonly isVerbose: boolean
  readonly continue: boolean
  readonly resume?: string | undefined
  readonly forkSession: boolean
  readonly system?: string | undefined
  readonly cwd?: string | undefined
  readonly trust?: boolean | undefined
  /** Ends with a failure where something of the folder would be left out. */
  readonly requireTrust?: boolean | undefined
  /** The session that is gone on with takes tools and instructions as they are now. */
  readonly renew?: boolean | undefined
  /** A scripted model answers on this machine, whatever key there is; null in a command that does not take it. */
  readonly offline?: boolean | null | undefined
  /** Nothing of it is kept; or where an unsaved conversation lies that is opened anew. */
  readonly unsaved?: boolean | Unsaved | undefined
  readonly settings: Settings
}

export interface PromptOptions extends ConversationOptions {
  /** The arguments that are no options; the prompt is all of them, and what is piped in. */
  readonly texts: readonly string[]
  readonly format: Format
}

export async function runPrompt(io: Io, options: PromptOptions): Promise<Exit> {
  const prompt = await promptText(io, options.texts)
  if ('exit' in prompt) return complain(io, prompt)
  return withPreset(io, options, {}, (opened) => converse(io, opened, prompt, options))
}

export type PresetMore = Pick<PresetOptions, 'listen' | 'askUser' | 'interactive' | 'store'>

/** The engine at a place, with everything that was loaded for it. */
export interface OpenedPreset {
  readonly place: Workplace
  readonly preset: Preset
  readonly loaded: LoadedExtensions
  /** Where what is not saved lies; null where everything is. */
  readonly unsaved: Unsaved | null
  close(): Promise<void>
}

/** Opens the engine for this place, does the work, and stops all of it afterwards. */
export async function withPreset(
  io: Io,
  options: ConversationOptions,
  more: PresetMore,
  work: (opened: OpenedPreset) => Promise<Exit>,
): Promise<Exit> {
  const opened = await openPreset(io, options, more)
  if (typeof opened === 'number') return opened
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

/** The engine for this place; or how `pal` ends without it. */
export async function openPreset(
  io: Io,
  options: ConversationOptions,
  more: PresetMore,
): Promise<OpenedPreset | Exit> {
  const found = await openWorkplace(io, options)
  if (!found.ok) return complain(io, found)
  const place = options.offline === true ? { ...found, access: null } : found
  // A rule of this call that says nothing is a mistake, and ends it.
  const [unknown] = unknownToolsIn(place.loaded.rules)
  if (unknown !== undefined) return complain(io, refuse(exits.usage, unknownTool(unknown)))
  showProblems(place)
  // A name that nobody can be asked by comes before the key that nobody has for it.
  const unusable = options.offline === true ? null : unknownOf(place.settings)
  if (unusable !== null) return fail(io, exits.usage, `${await misspelt(place.settings)}${unusable}`)
  // An answer that no model gave must be asked for: a script whose key is missing would take it for one.
  if (place.access === null && options.offline !== true)
    return fail(io, exits.failed, noAccess(options.offline !== null, place.accessMissing))
  if (options.requireTrust === true) {
    const missing = await (await import('./trust/deciding.ts')).untrusted(place)
    if (missing !== null) return fail(io, exits.failed, missing)
  }
  const unsaved = await unsavedOf(place, options.unsaved, more.interactive === true)
  if (unsaved !== null && 'exit' in unsaved) return complain(io, unsaved)
  if (findProgram('bash', io.environment['PATH'], [place.project.root]) === null)
    io.err(`pal: the agent cannot run commands: ${noBash}\n`)
  const embedded = place.access === null ? await startEmbedded() : null
  if (embedded !== null) io.err(`pal: ${scriptedNotice}\n`)
  const loaded = await loadExtensions(place, { interactive: more.interactive })
  for (const problem of loaded.problems) io.err(`pal: ${safeLine(problem)}\n`)
  const agents = await typesFor(place)
  for (const problem of agents.problems) io.err(`pal: ${safeLine(problem)}\n`)
  // A person at the screen is asked about it instead.
  if (more.interactive !== true) sayLeftOut(place)
  const telemetry = await telemetryFor(place, more.listen)
  const preset = createPreset({
    ...place,
    ...unsaved,
    observe: telemetry?.observe,
    settings: unsaved === null ? place.settings : { ...place.settings, memory: false },
    agentTypes: agents.types,
    environment: io.environment,
    userHome: io.userHome,
    model: place.access ?? embedded!.access,
    system: options.system,
    extensions: loaded.extensions,
    rules: place.loaded.rules,
    keep: keptRules(
      machineFileSystem,
      {
        home: unsaved?.home ?? place.home,
        project: place.trusted ? place.project.root : null,
        trust: { gate: place.gate, place: place.trustPlace },
      },
      uniqueText,
    ),
    instructionRefusal: instructionRefusal(place),
    ...more,
  })
  const close = async (): Promise<void> => {
    await preset.close()
    await loaded.close()
    await embedded?.close()
    await telemetry?.close()
    if (unsaved !== null) return
    for (const line of await (await import('./commands/sessions-prune.ts')).keepHouse(place))
      io.err(`pal: ${safeLine(line)}\n`)
  }
  const shown = unsaved === null ? place : { ...place, home: unsaved.home }
  return { place: shown, preset, loaded, unsaved, close }
}

/** Who asks for "sonnet" is helped by a name, not by a row for the settings. */
async function misspelt(settings: Settings): Promise<string> {
  const { meantModel } = await import('./commands/models.ts')
  const [name, models] = [modelOf(settings), tableOf(settings)]
  const meant = lookUp(models, name) === null ? meantModel(models, name) : null
  return meant === null
    ? ''
    : `unknown model ${safeLine(name)}. Did you mean ${meant}? pal models lists them. If it is right: `
}

async function converse(
  io: Io,
  { place, preset, unsaved }: OpenedPreset,
  prompt: Prompt,
  options: PromptOptions,
): Promise<Exit> {
  const abort = new AbortController()
  let interrupts = 0
  const stopListening = io.onInterrupt(() => {
    if (++interrupts > 1) io.exitNow(exits.interrupted)
    io.err('pal: stopping; Ctrl-C again ends at once\n')
    abort.abort()
  })
  try {
    const session = await openSession(preset, options, io)
    if ('exit' in session) return complain(io, session)
    const reporter = createReporter({
      io,
      format: options.format,
      isVerbose: options.isVerbose || io.errIsTerminal,
      session: session.id,
      model: preset.modelId,
      scripted: place.access === null,
    })
    hearWishes(place, () => session)
    const before = session.spent()
    const inputsBefore = inputsIn(session)
    for await (const event of session.send(prompt.input, abort.signal)) reporter.event(event)
    // A failure is the outcome: only a turn that is done is followed by what its agents bring.
    if (reporter.result().outcome === 'done')
      for await (const event of agentTurns(preset.agents, session, abort.signal)) reporter.event(event)
    const unclosed = await closeSession(session)
    for (const event of session.takeUnheard())
      if (event.type === 'notice' || event.type === 'memory') reporter.event(event)
    const { forkTokens, forkDollars } = session.spent()
    const background = { tokens: forkTokens - before.forkTokens, dollars: forkDollars - before.forkDollars }
    const leftOut = place.gate.leftOut().map(({ kind, path, why }) => ({ kind, path, why }))
    const result = { ...reporter.result(), background, leftOut, ...(unclosed === null ? {} : { unclosed }) }
    writeResult(io, options.format, result)
    if (unclosed !== null) fail(io, exits.failed, unclosedText(unclosed))
    // What was piped in is nowhere else: whoever ran it is told where it is.
    if (prompt.isPiped && result.outcome === 'failed' && unsaved === null)
      io.err(
        inputsIn(session) > inputsBefore
          ? `pal: what was piped in is kept, unanswered, in session ${session.id}; ask again with pal -p --resume ${session.id} "go on"\n`
          : `pal: what was piped in is not kept; pipe it in again\n`,
      )
    if (unsaved === null && (options.isVerbose || io.errIsTerminal))
      io.err(`pal: session ${session.id}; continue with pal -p --continue\n`)
    return unclosed !== null && result.outcome === 'done' ? exits.failed : exitOf(result)
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    return fail(io, exitFor(error.code), sayingOf(error))
  } finally {
    stopListening()
  }
}

/** How many messages of the user the session shows. */
const inputsIn = (session: Session): number =>
  [...session.view().messages].flatMap(({ parts }) => parts.filter(({ kind }) => kind === 'input')).length

/** Why it could not be closed, or null. What was answered is there all the same. */
async function closeSession(session: Session): Promise<Failure | null> {
  try {
    await session.close()
    return null
  } catch (error) {
    if (error instanceof EngineError) return { code: error.code, message: error.message }
    throw error
  }
}

const unclosedText = ({ message }: Failure): string =>
  `the turn is finished and saved, but the session could not be closed: ${message}. Reopen it with --continue`

/** After a turn: waits for agents that end by themselves, and lets the model take what they bring, until none is left. */
async function* agentTurns(
  agents: AgentRegistry,
  session: Session,
  signal: AbortSignal,
): AsyncGenerator<LiveEvent> {
  for (;;) {
    await agents.settled(session.id, signal)
    if (signal.aborted || !session.unfinished()) return
    let outcome = 'failed'
    for await (const event of session.goOn(signal)) {
      if (event.type === 'turn-end') ({ outcome } = event)
      yield event
    }
    if (outcome !== 'done') return
  }
}

export function exitOf({ outcome, failure }: Pick<PromptResult, 'outcome' | 'failure'>): Exit {
  if (outcome === 'done') return exits.done
  return outcome === 'aborted' ? exits.interrupted : exitFor(failure?.code ?? '')
}

export async function openSession(
  preset: Preset,
  options: ConversationOptions,
  io: Io,
): Promise<Session | Refusal> {
  const { engine, store } = preset
  if (options.resume === undefined && !options.continue) return engine.open()
  const found =
    options.resume === undefined ? await newestSession(store) : await findSession(store, options.resume)
  if (!found.ok) return found
  const how = options.forkSession ? { branch: true } : { renew: options.renew === true }
  const { session, damage } = await engine.openWith(found.session, how)
  if (damage.length > 0)
    io.err(`pal: session ${found.session} is damaged; it continues without what was lost\n`)
  for (const { where, what, done } of damage) io.err(`pal: ${safeLine(`${where}: ${what}; ${done}`)}\n`)
  // A model that is asked for holds, whatever was chosen in the session before.
  const { model } = options.settings
  if (model !== undefined && model !== session.modelId) await session.setModel(model)
  const price = switchNotice(session)
  if (price !== null) io.err(`pal: ${price}\n`)
  return session
}

interface Prompt {
  readonly input: Input
  readonly isPiped: boolean
}

/**
 * The arguments of the command line, and after them what is piped in. Alone that is the request; beside one it is what the
 * request is about, and a page in it does not speak for the user.
 */
async function promptText(io: Io, texts: readonly string[]): Promise<Prompt | Refusal> {
  const piped = await io.piped()
  if (!piped.ok) return refuse(exits.usage, piped.why)
  if (piped.notice !== undefined) io.err(`pal: ${piped.notice}\n`)
  // The system hands over arguments as text; bytes that are none come as this character.
  if (texts.some((one) => one.includes('\uFFFD'))) io.err(`pal: ${badBytes}\n`)
  const [typed, material] = [texts.join(' '), piped.text ?? '']
  const [isTyped, isPiped] = [typed.trim() !== '', material.trim() !== '']
  if (!isTyped && !isPiped)
    return refuse(exits.usage, 'no prompt: write one after -p, or pipe it in. pal --help shows how')
  if (!isTyped || !isPiped) return { input: isTyped ? typed : material, isPiped }
  const blocks = [typed, fenced('piped-input', {}, material)]
  return { input: blocks.map((text) => ({ type: 'text', text })), isPiped }
}
