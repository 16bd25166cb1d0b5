// Hooks: what others may say at certain moments. The port; `hook-commands` runs them as commands.
// A hook that fails is shown; where it was to judge a call it blocks it, and is ignored everywhere else.
import { errorText } from '../disk/failure.ts'
import { pass, type Judge } from '../tools/permission/pipeline.ts'
import type { Outcome } from '../transcript/fact.ts'
import type { UserBlock } from '../transcript/content.ts'
import type { CompactAsk } from './compacting/ask.ts'
import { fenced } from '../transcript/fence.ts'
import type { Emit } from './live.ts'

/** What each moment tells, beside the session it happens in. */
export interface HookPayloads {
  readonly SessionStart: { readonly source: StartSource; readonly model: string; readonly cwd: string }
  /** Looking only: nothing can be stopped or added here. */
  readonly InstructionsLoaded: {
    readonly sections: readonly { readonly name: string; readonly chars: number }[]
    readonly tools: readonly string[]
    readonly reminderChars: number
  }
  readonly UserPromptSubmit: { readonly prompt: string | readonly UserBlock[] }
  readonly PreToolUse: CalledTool & {
    /** The tool that was called, where it only hands on to `tool`. */
    readonly through?: string | undefined
  }
  readonly PostToolUse: CalledTool & { readonly output: string }
  readonly PreCompact: Compacting & {
    /** The parts of the view that would go. */ readonly ids: readonly string[]
  }
  readonly PostCompact: Compacting & {
    /** Who wrote the text that stands for what went; null where nothing needed one. */
    readonly source: 'extractive' | 'model' | 'notes' | 'user' | null
    /** The share of what later work will need that is still in sight, as far as it was judged. */
    readonly retention: number | null
    /** The place to undo it by. */
    readonly seq: number | null
  }
  readonly Stop: { readonly outcome: Outcome }
}

/** Why a session starts, or starts over. */
export type StartSource = 'startup' | 'resume' | 'fork' | 'compact'

interface CalledTool {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

interface Compacting {
  readonly trigger: CompactAsk['trigger']
  readonly tokensBefore: number
  readonly tokensAfter: number
}

export type HookName = keyof HookPayloads
export type HookPayload<Name extends HookName> = HookPayloads[Name] & { readonly session: string }

export interface HookAnswer {
  /** Text for the model, appended as an attachment. */
  readonly context: string | null
  /** The step must not be taken, and why. Only where the moment can be stopped. */
  readonly block: string | null
  /** What went wrong with the hook itself; to be shown. */
  readonly failures: readonly string[]
}

export interface Hooks {
  fire<Name extends HookName>(
    name: Name,
    payload: HookPayload<Name>,
    signal: AbortSignal,
  ): Promise<HookAnswer>
}

/** What a hook says that has nothing to say. */
export const noAnswer: HookAnswer = { context: null, block: null, failures: [] }
/** Hooks that say nothing. */
export const noHooks: Hooks = { fire: () => Promise.resolve(noAnswer) }

/** One function a moment; what it leaves out it does not say. One that throws has failed, as a command that crashes has. */
export type HookHandlers = {
  readonly [Name in HookName]?: (
    payload: HookPayload<Name>,
    signal: AbortSignal,
  ) => HookReply | Promise<HookReply>
}
export type HookReply = { readonly context?: string; readonly block?: string } | undefined | void

/** Hooks as functions of a program: `hooks({ PreToolUse: ({ tool }) => ({ block: 'not today' }) })`. */
export function hooks(handlers: HookHandlers): Hooks {
  // A judge under a name that never comes would let everything pass, and nobody would hear of it.
  const unknown = Object.keys(handlers).find((name) => !Object.hasOwn(moments, name))
  if (unknown !== undefined)
    throw new TypeError(
      `hooks: there is no moment ${JSON.stringify(unknown)}; there are ${Object.keys(moments).join(', ')}`,
    )
  return {
    async fire(name, payload, signal) {
      const handler = handlers[name]
      if (handler === undefined) return noAnswer
      try {
        const { context = null, block = null } = (await handler(payload, signal)) ?? {}
        return { context, block, failures: [] }
      } catch (error) {
        const why = `the ${name} hook failed: ${errorText(error)}`
        // It was to judge the call, so the call must not pass because the judge fell over.
        return { context: null, block: name === 'PreToolUse' ? why : null, failures: [why] }
      }
    },
  }
}

const moments: Readonly<Record<HookName, true>> = {
  SessionStart: true,
  InstructionsLoaded: true,
  UserPromptSubmit: true,
  PreToolUse: true,
  PostToolUse: true,
  PreCompact: true,
  PostCompact: true,
  Stop: true,
}

interface Fired {
  readonly options: { readonly hooks?: Hooks | undefined }
  readonly session: string
}

/** Fires one moment; what goes wrong with a hook itself is shown. */
export async function fireHooks<Name extends HookName>(
  { options: { hooks: port = noHooks }, session }: Fired,
  name: Name,
  payload: HookPayloads[Name],
  emit: Emit,
  signal: AbortSignal,
): Promise<HookAnswer> {
  const answer = await port.fire(name, { session, ...payload }, signal)
  for (const message of answer.failures) emit({ type: 'notice', code: 'hook-failed', message })
  return answer
}

/** What an agent hears of its parent's hooks: those that judge its calls. The talk they belong to is another's. */
export const toolHooks = (own: Hooks | undefined): Hooks | undefined =>
  own && {
    fire: (name, payload, signal) =>
      name === 'PreToolUse' || name === 'PostToolUse'
        ? own.fire(name, payload, signal)
        : Promise.resolve(noAnswer),
  }

/** The hooks as the first judge of a call: they may stop it, and allow nothing. */
export const hookJudge = (core: Fired, emit: Emit): Judge => ({
  name: 'hooks',
  async judge({ sent, call }, signal) {
    const through = sent.name === call.name ? {} : { through: sent.name }
    const payload = { tool: call.name, input: call.input, ...through }
    const answer = await fireHooks(core, 'PreToolUse', payload, emit, signal)
    if (answer.block === null) return pass('no hook blocks it')
    const said = fenced('hook', { name: 'PreToolUse' }, answer.block)
    return {
      kind: 'deny',
      why: `${sent.name} was denied by a hook. Go on without it, or say what you need.\n${said}`,
    }
  },
})
