// The public names of the tools: the standard set, and each tool for those who choose. The list is made once and stays
// the same for a session, since its bytes are part of what the provider caches.
import type { FileSystem } from '../disk/fs.ts'
import { expandTool, snipTool } from './context.ts'
import { editTool } from './files/edit.ts'
import { createPathGate, type PathGateOptions } from './files/path-gate.ts'
import { readTool } from './files/read.ts'
import { writeTool } from './files/write.ts'
import { globTool } from './search/glob.ts'
import { grepTool } from './search/grep.ts'
import { findRipgrep } from './search/ripgrep.ts'
import { bashTool } from './shell/bash.ts'
import type { Environment } from './shell/environment.ts'
import type { BackgroundTasks } from './shell/background-tasks.ts'
import { createJobs, jobsTool } from './shell/jobs.ts'
import type { Sandbox } from './shell/sandbox.ts'
import { taskListTool } from './plan.ts'
import type { Tool } from './tool.ts'
import { webFetchTool } from './web/web-fetch.ts'

export interface StandardToolsOptions extends PathGateOptions {
  readonly fs: FileSystem
  /** Given to commands, without what could let them out. */
  readonly environment: Environment
  /** The second wall around commands; without it there is none. */
  readonly sandbox?: Sandbox | undefined
  /** Told of the jobs in the background. */
  readonly backgroundTasks?: BackgroundTasks | undefined
  /** Null searches without ripgrep; left out, it is looked for. */
  readonly ripgrep?: string | null | undefined
}

export interface StandardTools {
  readonly tools: readonly Tool[]
  /** Stops what still runs in the background. */
  close(): Promise<void>
}

/** The standard set over a folder; `close` stops what runs in the background. */
export function standardTools(options: StandardToolsOptions): StandardTools {
  const gate = createPathGate(options)
  const jobs = createJobs(options.backgroundTasks)
  let found: Promise<string | null> | undefined
  const ripgrep = () =>
    (found ??=
      options.ripgrep === undefined
        ? findRipgrep(options.environment['PATH'], options.roots ?? [])
        : Promise.resolve(options.ripgrep))
  const tools: readonly Tool[] = [
    readTool(gate),
    writeTool(gate),
    editTool(gate),
    bashTool({ ...options, jobs }),
    jobsTool(jobs),
    grepTool({ gate, ripgrep }),
    globTool({ gate, ripgrep }),
    expandTool(),
    webFetchTool(),
    taskListTool(),
  ]
  return { tools, close: () => jobs.close() }
}

export { tool, type SchemaOf, type ToolDefinition, type ToolReply } from './define-tool.ts'
export { failed, interrupted, succeeded } from './outcome.ts'
export { choice, flag, inputShape, list, object, optional, text, whole } from './input.ts'
export type { Field, InputOf, InputShape } from './input.ts'
export { runCalls, wasInterrupted } from './run.ts'
export type { Permit, RanCall, RunOptions } from './run.ts'
export { createReadFiles } from './files/read-files.ts'
export { createPathGate } from './files/path-gate.ts'
export type { PathGate, PathGateOptions } from './files/path-gate.ts'
export { createJobs } from './shell/jobs.ts'
export { createSandbox } from './shell/sandbox.ts'
export type { Sandbox, SandboxMode, SandboxOptions } from './shell/sandbox.ts'
export { createPermission } from './permission/permission.ts'
export type { Grants, Permission, PermissionOptions } from './permission/permission.ts'
export { safeTools } from './permission/judge.ts'
export { permissionModes } from './permission/pipeline.ts'
export type { Judge, JudgedCall, PermissionMode, Ruling, Verdict } from './permission/pipeline.ts'
export { parseRule } from './permission/rule.ts'
export type { GivenRule, RuleList, RuleSource } from '../settings/rule-list.ts'
export { subjectOf } from './permission/question.ts'
export type { Answer, AskUser, KeepRules, KeepScope, Question } from './permission/question.ts'
export type { Jobs } from './shell/jobs.ts'
export { machineFileSystem } from '../disk/fs.ts'
export {
  bashTool,
  editTool,
  expandTool,
  globTool,
  grepTool,
  jobsTool,
  readTool,
  snipTool,
  taskListTool,
  webFetchTool,
  writeTool,
  findRipgrep,
}
export type {
  ReadFile,
  ReadFiles,
  ResultPolicy,
  SpillOutcome,
  Tool,
  ToolEnv,
  ToolOutcome,
  ToolPolicy,
} from './tool.ts'
