// Types of agents: the two that are built in, and those of files. Such a file is `~/.palimpsest/agents/*.md` or, in a trusted project,
// `.palimpsest/agents/*.md`, which wins over the user's and both over what is built in:
//
//   ---
//   name: reviewer
//   description: when to use it, in one line
//   tools: [Read, Grep]          left out: those of its parent
//   model: claude-haiku-4-5      left out: its parent's
//   memory: project              user, project or local; left out: none
//   instructions: false          without the project's instruction files
//   rounds: 20                   limits; also minutes, tokens, dollars
//   ---
//   its prompt
//
// A type can narrow what its parent may do and never widen it: tools it names must be its parent's, and each call is
// asked of the parent's permission. A file that cannot be followed is said and left out, whole.
import { defaults } from '../../settings/defaults.ts'
import type { AgentAbout } from '../../engine/background/agent-rows.ts'
import type { AgentMode } from '../../transcript/fact.ts'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { attempt, systemCode, type FileSystem, type OrWhy } from '../../disk/fs.ts'
import { minute } from '../../settings/units.ts'
import { readUnder } from '../../disk/under-root.ts'

export type MemoryScope = 'user' | 'project' | 'local'

export interface AgentLimits {
  readonly rounds: number
  readonly ms: number
  readonly tokens: number
  readonly dollars?: number | undefined
}

export interface AgentType {
  readonly name: string
  readonly description: string
  readonly prompt: string
  /** Null: those of its parent. */
  readonly tools: readonly string[] | null
  readonly model: string | null
  readonly memory: MemoryScope | null
  readonly instructions: boolean
  readonly limits: AgentLimits
  readonly from: 'built-in' | 'user' | 'project'
}

const { rounds, ms, tokens } = defaults.agents
/** Where a type says nothing else. */
export const usual: AgentLimits = { rounds, ms, tokens }
const plain = { model: null, memory: null, instructions: true, limits: usual, from: 'built-in' } as const

/** The types of agents that are always there. */
export const builtInTypes: readonly AgentType[] = [
  {
    ...plain,
    name: 'general',
    description: 'any task of several steps; it has your tools',
    prompt: 'Do the task, all of it, and verify it.',
    tools: null,
  },
  {
    ...plain,
    name: 'explore',
    description: 'read-only search and research',
    prompt:
      'Find out what is asked. Read what matters, not everything. Cite path:line, and say what you did not find.',
    tools: ['Read', 'Grep', 'Glob', 'Expand', 'WebFetch'],
  },
]

/** What is asked for when an agent is started. */
export interface AgentAsk {
  readonly label: string
  readonly task: string
  readonly type: string
  readonly mode: AgentMode
  /** It begins with the conversation of its parent. */
  readonly forked: boolean
  readonly worktree: boolean
  /** Of a teammate: it changes nothing until its plan is approved. */
  readonly plans?: boolean | undefined
  readonly name?: string | undefined
}

/** What of it the session writes down. */
export function aboutOf(
  { label, type, mode, forked, name }: AgentAsk,
  worktree?: AgentAbout['worktree'],
): AgentAbout {
  return {
    label,
    agent: type,
    mode,
    ...(forked ? { forked } : {}),
    ...(name === undefined ? {} : { name }),
    ...(worktree === undefined ? {} : { worktree }),
  }
}

/** Of an agent that nobody waits for: it ends by its limits, by its parent's end, or when it is told to. */
export const neverAborted = (): AbortSignal => new AbortController().signal

const positive = z.number().check(z.positive())
const shape = z.strictObject({
  name: z.string().check(z.regex(/^[a-z][a-z0-9:_-]{0,39}$/)),
  description: z.string().check(z.minLength(1), z.maxLength(500)),
  tools: z.optional(z.array(z.string().check(z.minLength(1)))),
  model: z.optional(z.string().check(z.minLength(1))),
  memory: z.optional(z.enum(['user', 'project', 'local'])),
  instructions: z.optional(z.boolean()),
  rounds: z.optional(positive),
  minutes: z.optional(positive),
  tokens: z.optional(positive),
  dollars: z.optional(positive),
})

type ReadType = OrWhy<{ readonly type: AgentType }>

export async function readType(text: string, from: AgentType['from']): Promise<ReadType> {
  const [, front, prompt] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*\r?\n([\s\S]*)$/.exec(text) ?? []
  if (front === undefined || prompt === undefined)
    return no('it must begin with --- and its fields, and --- before the prompt')
  const values = await yamlOf(front)
  if (!values.ok) return values
  const parsed = shape.safeParse(values.value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    return no(`${issue?.path.join('.') || 'its fields'}: ${issue?.message ?? 'does not fit'}`)
  }
  if (prompt.trim() === '') return no('it has no prompt')
  const { name, description, tools = null, model = null, memory = null, instructions = true } = parsed.data
  const { rounds = usual.rounds, minutes, tokens = usual.tokens, dollars } = parsed.data
  const limits = { rounds, ms: minutes === undefined ? usual.ms : minutes * minute, tokens, dollars }
  return {
    ok: true,
    type: { name, description, prompt: prompt.trim(), tools, model, memory, instructions, limits, from },
  }
}

type Yaml = OrWhy<{ readonly value: unknown }>

/** No aliases: a few lines could otherwise stand for millions. */
async function yamlOf(text: string): Promise<Yaml> {
  // The reader of YAML is large: whoever has no such file does not load it.
  const { parse } = await import('../../disk/yaml.ts')
  try {
    return { ok: true, value: parse(text, { maxAliasCount: 0, logLevel: 'silent' }) as unknown }
  } catch (error) {
    return no(error instanceof Error ? error.message.split('\n')[0]! : 'it is not valid YAML')
  }
}

interface TypePlaces {
  /** The user's folder of this program. */
  readonly home: string
  /** The project, or null where it is not trusted. */
  readonly project: string | null
  /** Whether these bytes of a project's file may act; left out, all of a trusted project may. */
  readonly mayAct?: ((path: string, bytes: Uint8Array) => boolean) | undefined
}

export interface LoadedTypes {
  readonly types: readonly AgentType[]
  /** What was left out and why. */
  readonly problems: readonly string[]
}

export async function loadTypes(fs: FileSystem, places: TypePlaces): Promise<LoadedTypes> {
  const found = new Map(builtInTypes.map((type) => [type.name, type]))
  const problems: string[] = []
  const folders = [
    { root: places.home, below: 'agents', from: 'user' as const },
    ...(places.project === null
      ? []
      : [{ root: places.project, below: join('.palimpsest', 'agents'), from: 'project' as const }]),
  ]
  for (const { root, below, from } of folders) {
    const listed = await attempt(`listing ${join(root, below)}`, async () => ({
      names: await namesIn(fs, join(root, below)),
    }))
    if (!listed.ok) {
      problems.push(listed.failure.message)
      continue
    }
    for (const name of listed.names) {
      const read = await textIn(fs, root, join(below, name))
      if (read.ok && from === 'project' && places.mayAct?.(join(root, below, name), read.bytes) === false)
        continue
      const type = read.ok ? await readType(read.text, from) : read
      if (type.ok) found.set(type.type.name, type.type)
      else problems.push(`${join(root, below, name)} declares no agent: ${type.why}`)
    }
  }
  return { types: [...found.values()], problems }
}

async function namesIn(fs: FileSystem, folder: string): Promise<readonly string[]> {
  try {
    const names = (await fs.names(folder)).filter((name) => name.endsWith('.md') && !name.startsWith('.'))
    return names.toSorted().slice(0, defaults.agents.types)
  } catch (error) {
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ENOTDIR') return []
    throw error
  }
}

type ReadText = OrWhy<{ readonly text: string; readonly bytes: Uint8Array }>

/** A small text file that lies under a root, also through every link. */
export async function textIn(
  fs: FileSystem,
  root: string,
  name: string,
  most: number = defaults.agents.typeBytes,
): Promise<ReadText> {
  const read = await readUnder(fs, root, name, most + 1)
  if (!read.ok) return no(read.failure.message)
  const { bytes, stat } = read
  if (bytes.byteLength > most) return no(`it has ${stat.bytes} bytes, and at most ${most} are read`)
  return { ok: true, text: bytes.toString('utf8'), bytes }
}

const no = (why: string) => ({ ok: false, why }) as const
