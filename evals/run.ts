// Plays tasks and counts: each several times, passed when two of three runs pass (or the same share of another number).
import {
  createSimulator,
  jobOf,
  ruleModel,
  scripted,
  type Answerer,
  type ScriptStep,
} from '../src/simulator/index.ts'
import { openStage, type Spent, type StageOptions } from './stage.ts'
import type { Criterion, Stage, Task } from './task.ts'

export interface Run {
  readonly passed: boolean
  readonly criteria: readonly Criterion[]
  /** Why it could not be played to its end, or null. */
  readonly trouble: string | null
  readonly spent: Spent
}

export interface Row {
  readonly task: string
  readonly wants: string
  readonly runs: readonly Run[]
  readonly passed: boolean
}

/** Two of three must pass. */
export const passMark = (runs: number): number => Math.ceil((runs * 2) / 3)

export type Side = 'good' | 'bad'

export interface PlayOptions extends Omit<StageOptions, 'cap' | 'environment'> {
  readonly environment: Readonly<Record<string, string>>
  readonly runs: number
  /** Most one run may cost, in dollars. */
  readonly runCap: number
  /** Most all of them may cost. */
  readonly cap: number
  /** The simulator answers with the task's own script. */
  readonly simulate?: Side | undefined
  readonly onRun?: (task: string, run: number, result: Run) => void
}

export interface Played {
  readonly rows: readonly Row[]
  /** Tasks that were not played because the cap was reached. */
  readonly left: readonly string[]
}

export async function play(tasks: readonly Task[], options: PlayOptions): Promise<Played> {
  const rows: Row[] = []
  let dollars = 0
  for (const [index, task] of tasks.entries()) {
    const runs: Run[] = []
    for (let run = 1; run <= options.runs; run++) {
      if (dollars >= options.cap) return { rows, left: tasks.slice(index).map(({ name }) => name) }
      const result = await playOnce(task, {
        ...options,
        cap: Math.min(options.runCap, options.cap - dollars),
      })
      dollars += result.spent.dollars
      runs.push(result)
      options.onRun?.(task.name, run, result)
    }
    const passed = runs.filter((run) => run.passed).length >= passMark(options.runs)
    rows.push({ task: task.name, wants: task.wants, runs, passed })
  }
  return { rows, left: [] }
}

async function playOnce(task: Task, options: PlayOptions): Promise<Run> {
  if (options.simulate === undefined) return onStage(task, options, options.environment)
  // The script may name paths of the project, which are only known once it is there.
  let steps: Answerer | null = null
  const jobs = ruleModel()
  const simulator = createSimulator({
    answerer: {
      answer: (context) => (jobOf(context.request) === null && steps !== null ? steps : jobs).answer(context),
    },
  })
  const { url } = await simulator.start()
  try {
    const side = options.simulate
    return await onStage(
      task,
      options,
      { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'simulated' },
      (stage) => {
        steps = scripted(stepsOf(task, side, stage))
      },
    )
  } finally {
    await simulator.stop()
  }
}

const stepsOf = (task: Task, side: Side, stage: Stage): readonly ScriptStep[] => task[side](stage)

async function onStage(
  task: Task,
  options: PlayOptions,
  environment: Readonly<Record<string, string>>,
  begin: (stage: Stage) => void = () => {},
): Promise<Run> {
  const stage = openStage(task, { ...options, environment })
  try {
    begin(stage)
    const turns = await task.play(stage)
    const criteria = await task.judge(stage, turns)
    const trouble = stage.trouble()
    return {
      passed: trouble === null && criteria.every(({ holds }) => holds),
      criteria,
      trouble,
      spent: stage.spent(),
    }
  } finally {
    stage.close()
  }
}
