// What an evaluation is: a project, prompts to a real `pal -p` in it, and criteria that a program can judge. Nothing here
// asks a model whether another one did well.
import type { ScriptStep } from '../src/simulator/index.ts'

export interface Call {
  readonly name: string
  readonly input: Readonly<Record<string, unknown>>
  /** What came back, once it has. */
  readonly result: string
  readonly isError: boolean
}

/** One `pal -p`, from prompt to answer. */
export interface Turn {
  readonly text: string
  readonly outcome: string
  readonly session: string
  /** The calls of each answer: what stands in one list was asked for at once. */
  readonly answers: readonly (readonly Call[])[]
}

export const callsOf = (turns: readonly Turn[]): readonly Call[] =>
  turns.flatMap(({ answers }) => answers.flat())

/** The text of a field of a call's input, or an empty one. */
export function field(call: Call, name: string): string {
  const value = call.input[name]
  return typeof value === 'string' ? value : ''
}

export interface PromptOptions {
  /** Goes on with the newest session. */
  readonly continues?: boolean
  readonly allow?: readonly string[]
  readonly deny?: readonly string[]
}

export interface Stage {
  readonly project: string
  prompt(text: string, options?: PromptOptions): Promise<Turn>
  /** Another command of `pal`, its standard output. */
  pal(...words: readonly string[]): Promise<string>
  shell(command: string): string
  read(path: string): string
  write(path: string, text: string): void
}

export interface Criterion {
  readonly says: string
  readonly holds: boolean
}

export interface Task {
  readonly name: string
  /** What must come out, in one line. */
  readonly wants: string
  /** The project's files; all of them are committed before it begins. */
  readonly files: Readonly<Record<string, string>>
  /** The user's settings. */
  readonly settings?: Readonly<Record<string, unknown>>
  play(stage: Stage): Promise<readonly Turn[]>
  judge(stage: Stage, turns: readonly Turn[]): readonly Criterion[] | Promise<readonly Criterion[]>
  /**
   * Answers for the simulator: of a model that does well, and of one that fails at just what the task is about. They show
   * that the criteria tell the two apart.
   */
  good(stage: Stage): readonly ScriptStep[]
  bad(stage: Stage): readonly ScriptStep[]
}

export const all = (
  ...criteria: readonly (readonly [says: string, holds: boolean])[]
): readonly Criterion[] => criteria.map(([says, holds]) => ({ says, holds }))

/** How many lines of a tracked file were added or removed since the last commit. */
export const changedLines = (stage: Stage): number =>
  stage
    .shell('git diff HEAD')
    .split('\n')
    .filter((line) => /^[+-](?![+-]{2})/.test(line)).length

export const changedFiles = (stage: Stage): readonly string[] =>
  stage
    .shell('git status --porcelain')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(3))

export const passes = (stage: Stage, command: string): boolean =>
  stage.shell(`${command} >/dev/null 2>&1 && echo yes || echo no`).trim() === 'yes'

/** Whether a call can change something: what reads, lists and plans cannot. */
export const acts = ({ name }: Call): boolean => ['Edit', 'Write', 'Bash', 'Snip'].includes(name)

/** A page that is long enough for a compaction to be worth it. */
export const longPage = Array.from(
  { length: 1500 },
  (_, line) => `${line}: the ${((line * 7919) % 9973).toString(36)} of this line is not needed for anything`,
).join('\n')
