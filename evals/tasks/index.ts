import type { Task } from '../task.ts'
import * as code from './code.ts'
import { agentSearch, clearedFact, german, midTasks, nothingLasting, oldRule, remember } from './context.ts'
import * as safety from './safety.ts'

/** Twenty tasks; the one about compaction is played with each kind of summary: extracted, a model's, and notes. */
export const tasks: readonly Task[] = [
  ...Object.values(code),
  ...Object.values(safety),
  clearedFact,
  ...midTasks,
  oldRule,
  german,
  remember,
  nothingLasting,
  agentSearch,
]
