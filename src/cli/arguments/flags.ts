// What the arguments of every command are made of: a subcommand, and the values of options, read and checked.
import { InvalidArgumentError, type Command } from 'commander'
import { splitRules } from '../../settings/rule-list.ts'
import { check, keys, type Settings } from '../../settings/schema.ts'
import type { Exit } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'

/** Carries a command out: it gets its arguments as they were declared, then its options with those of the commands above it. */
type Work = (io: Io, ...given: never[]) => Exit | Promise<Exit>

/** The action of a command: what carries it out is loaded when it is asked for, and its exit code kept. */
export type RunCommand = (load: () => Promise<Work>) => (...given: unknown[]) => Promise<void>

export function subcommand(program: Command, name: string, about: string): Command {
  const made = program.command(name).description(about).allowExcessArguments(false)
  const group = Object.entries(groups).find(([, names]) => names.includes(name))?.[0]
  return group === undefined || program.parent !== null ? made : made.helpGroup(`${group}:`)
}

/** Where a command stands in `pal --help`. */
const groups: Readonly<Record<string, readonly string[]>> = {
  Sessions: ['sessions', 'messages', 'rewind', 'import', 'agents', 'tasks'],
  'Context and cost': [
    'context',
    'cost',
    'stats',
    'usage',
    'edits',
    'undo',
    'release',
    'compact',
    'pin',
    'inspect',
  ],
  Memory: ['memory', 'consolidate'],
  Setup: [
    'config',
    'models',
    'mcp',
    'permissions',
    'trust',
    'untrust',
    'login',
    'logout',
    'doctor',
    'completion',
  ],
  'Other agents': ['companion', 'gateway'],
  'A team': ['fleet'],
  'Try it offline': ['demo', 'start', 'simulate', 'replay'],
}

/** A command about a project. */
export const projectCommand = (program: Command, name: string, about: string): Command =>
  subcommand(program, name, about).option('--json', 'as JSON').option('--cwd <folder>', 'the project')

/** A command about one session of it. */
export const sessionCommand = (program: Command, name: string, about: string): Command =>
  projectCommand(program, name, about).argument('[id]', 'the session; default: the newest')

export function wholeNumber(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new InvalidArgumentError('It must be a whole number above 0.')
}

export const ruleTexts = (text: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  ...splitRules(text),
]

/** A flag that is a setting fits where the setting would. */
export const setting =
  <Value>(key: 'maxCost' | 'maxTokens' | 'model', read: (text: string) => Value) =>
  (text: string): Value => {
    const value = read(text)
    if (!check(key, value).ok) throw new InvalidArgumentError(`It must be ${keys[key].expected}.`)
    return value
  }

export function thresholdIn(text: string): Settings['threshold'] {
  const checked = check('threshold', /^\d+$/.test(text) ? Number(text) : text)
  if (checked.ok) return checked.value
  throw new InvalidArgumentError(`It must be ${keys.threshold.expected}.`)
}

const mostPort = 65_535
export function port(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value >= 0 && value <= mostPort) return value
  throw new InvalidArgumentError(`It must be a number from 0 to ${mostPort}.`)
}
