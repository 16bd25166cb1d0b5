// Hooks: what others may say at certain moments (SPEC 14.3). The port; `hook-commands` runs them as commands.
// A hook that fails is shown and ignored.

export type HookName =
  | 'SessionStart'
  | 'InstructionsLoaded'
  | 'UserPromptSubmit'
  | 'PreToolUse'
  | 'PostToolUse'
  | 'PreCompact'
  | 'PostCompact'
  | 'Stop'

export interface HookAnswer {
  /** Text for the model, appended as an attachment. */
  readonly context: string | null
  /** The step must not be taken, and why. Only where the moment can be stopped. */
  readonly block: string | null
  /** What went wrong with the hook itself; to be shown. */
  readonly failures: readonly string[]
}

export interface Hooks {
  fire(name: HookName, payload: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<HookAnswer>
}

export const noAnswer: HookAnswer = { context: null, block: null, failures: [] }
export const noHooks: Hooks = { fire: () => Promise.resolve(noAnswer) }

/** What an agent hears of its parent's hooks: those that judge its calls. The talk they belong to is another's. */
export const toolHooks = (hooks: Hooks | undefined): Hooks | undefined =>
  hooks && {
    fire: (name, payload, signal) =>
      name === 'PreToolUse' || name === 'PostToolUse'
        ? hooks.fire(name, payload, signal)
        : Promise.resolve(noAnswer),
  }
