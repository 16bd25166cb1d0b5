// What the words of the command line are made of: a command of its own, and the arguments read and checked.
import { type Command, InvalidArgumentError } from 'commander'
import { splitRules } from '../../settings/rule-list.ts'
import { check, keys, type Settings } from '../../settings/schema.ts'
import type { Exit } from '../exit-codes.ts'

/** Runs a command and keeps its exit code. */
export type Ends = (run: () => Promise<Exit>) => Promise<void>

/** What every command that looks at a project takes. */
export interface LookFlags {
  readonly json?: boolean
  readonly all?: boolean
  readonly cwd?: string
}

export function child(program: Command, name: string, about: string): Command {
  return program.command(name).description(about).allowExcessArguments(false)
}

export const looking = (program: Command, name: string, about: string): Command =>
  child(program, name, about).option('--json', 'as JSON').option('--cwd <folder>', 'the project')

export function wholeNumber(text: string): number {
  const value = Number(text)
  if (Number.isInteger(value) && value > 0) return value
  throw new InvalidArgumentError('It must be a whole number above 0.')
}

export const ruleTexts = (text: string, before: readonly string[] | undefined): readonly string[] => [
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
