// What a session is, as data: what each kind may do, and what it takes over from the session that made it. Nothing else in
// the engine asks who made whom. An option that is not in a list is not inherited, so a new one leaks into no child.
import { toolHooks } from './hooks.ts'
import type { EngineOptions, Ready } from './options.ts'

export interface Role {
  readonly name: 'main' | 'agent' | 'fork' | 'forked agent'
  /** It is the conversation with the user: layers may act on how long that rests. */
  readonly isMain: boolean
  /** Memories are recalled for what is said in it. */
  readonly recalls: boolean
  /** Its finished turns are looked through for what should outlive it. */
  readonly isWatched: boolean
  readonly keepsNotes: boolean
  /** Results of agents and messages of others are delivered to it. */
  readonly hearsOthers: boolean
  readonly mayFork: boolean
  readonly mayStartAgents: boolean
  /** Whose part of its view it compacts: all of it, what it did itself, or nothing. */
  readonly compacts: 'all' | 'own' | 'none'
  /** A summary may be prepared for it ahead. */
  readonly preparesSummaries: boolean
  /** What stands before its first message is read again behind a boundary; of a fork it is part of the shared prefix. */
  readonly renewsReminder: boolean
  /** What to do when it no longer fits the window. */
  readonly overflowAdvice: string
  /** Options it takes over from the session that made it. */
  readonly inherits: readonly (keyof EngineOptions)[]
}

/** What any session made by another needs to work at all. */
const ground = [
  'store',
  'modelId',
  'wire',
  'model',
  'system',
  'reminder',
  'tools',
  'formerTools',
  'automaticRemoval',
  'restoration',
  'toolPolicies',
  'listen',
  'nativeClearing',
  'cacheDiagnostics',
  'keepResults',
  'cwd',
  'models',
  'window',
  'threshold',
  'thrift',
  'pressureClearing',
  'maxOutputTokens',
  'thinking',
  'effort',
  'cacheLifetime',
  'clock',
  'ids',
] as const

export const main: Role = {
  name: 'main',
  isMain: true,
  recalls: true,
  isWatched: true,
  keepsNotes: true,
  hearsOthers: true,
  mayFork: true,
  mayStartAgents: true,
  compacts: 'all',
  preparesSummaries: true,
  renewsReminder: true,
  overflowAdvice: 'Compact it, drop turns, or choose a model with a larger window.',
  inherits: [],
}

/** An agent with a transcript of its own: what it learns comes to the one that started it. */
export const agent: Role = {
  ...main,
  name: 'agent',
  isMain: false,
  recalls: false,
  isWatched: false,
  mayStartAgents: false,
  inherits: [
    ...ground,
    'layers',
    'summariser',
    'notesAsSummary',
    'prepare',
    'companion',
    'hooks',
    'folderInstructions',
    'judges',
    'maxRounds',
  ],
}

/** On the prefix of another: it works there and changes nothing of it. */
export const fork: Role = {
  name: 'fork',
  isMain: false,
  recalls: false,
  isWatched: false,
  keepsNotes: false,
  hearsOthers: false,
  mayFork: false,
  mayStartAgents: false,
  compacts: 'none',
  preparesSummaries: false,
  renewsReminder: false,
  overflowAdvice:
    'It is a fork, and the conversation it began with leaves no room for more; a fresh agent has the whole window',
  inherits: ground,
}

/** An agent that begins with the conversation of the other, and may work for long. */
export const forkedAgent: Role = {
  ...fork,
  name: 'forked agent',
  compacts: 'own',
  inherits: [...ground, 'layers', 'hooks', 'folderInstructions', 'judges'],
}

/** The options of a session as a child of this role begins with them. Of hooks it hears those that judge its calls. */
export function inherited(options: Ready, { inherits }: Role): Ready {
  const named = new Set<string>(inherits)
  const own = Object.fromEntries(
    Object.entries(options).filter(([name]) => named.has(name)),
  ) as Partial<Ready>
  const { store, modelId, wire, tools, cwd, models, cacheLifetime, clock, ids } = options
  const ground = { store, modelId, wire, tools, cwd, models, cacheLifetime, clock, ids }
  return { layers: [], caps: {}, ...own, ...ground, hooks: toolHooks(own.hooks) }
}
