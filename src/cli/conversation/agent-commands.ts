// `/agents` and `/tasks`: show, follow, message, stop and merge. The functions take text and write lines, so that a screen
// can use them as they are.
import { forOthers } from '../../disk/redact.ts'
import type { Session } from '../../engine/session.ts'
import { gitIn, mergeBranch, type Worker } from '../../forks/agents/index.ts'
import type { JobLook } from '../../forks/memory/memory-jobs.ts'
import { commandEnvironment } from '../../tools/shell/environment.ts'
import { agentTable, tasksOf, taskTable, typeTable, withSpent } from '../commands/agents.ts'
import { exits, fail, type Exit } from '../exit-codes.ts'
import { shortId } from '../session-lookup.ts'
import { safeLine, safeText } from '../terminal/safe-text.ts'
import { moment } from '../terminal/tables.ts'
import { withSession, type CommandContext } from './context.ts'

export const agentsUsage = '/agents [follow|stop|merge|approve ID | tell|reject ID TEXT]'

export async function agentsCommand(context: CommandContext, rest: string): Promise<Exit> {
  const [, action = '', word = '', text = ''] = /^(\S*)\s*(\S*)\s*([\s\S]*)$/.exec(rest) ?? []
  return withSession(context, async (session) => {
    if (action === '') return show(context, session)
    const act = Object.hasOwn(actions, action) ? actions[action] : undefined
    if (act === undefined && action !== 'merge')
      return wrong(context, `there is no /agents ${safeLine(action)}; write ${agentsUsage}`)
    if (word === '') return wrong(context, `usage: /agents ${action} ID; /agents lists the ids`)
    if (act === undefined) return merge(context, session, word)
    const worker = context.preset.agents.find(session.id, word)
    if (worker === null) return wrong(context, `no agent ${safeLine(word)} is running; /agents lists them`)
    return act(context, worker, text)
  })
}

/** What is under way: agents, commands in the background, jobs on memories, and what waits in the mailbox. */
export async function tasksCommand(context: CommandContext, rest: string): Promise<Exit> {
  const [, id] = /^stop\s+(\S+)$/u.exec(rest) ?? []
  const { preset, place } = context
  if (id !== undefined) return (await stopJob(context, id)) ? exits.done : stopMemoryJob(context, id)
  return withSession(context, async (session) => {
    const rows = (each: string) => preset.backgroundTasks.rows(each)
    const agents = await withSpent(place, preset.store, session.agents())
    const onMemories = preset.memoryJobs.list.looks().map(jobText).join('')
    const tasks = tasksOf(session.id, agents, rows, phrasesOf(context, session))
    place.io.out(taskTable(tasks, place.io.columns, onMemories))
    if (await preset.agents.hasMail(session.id)) place.io.out('new messages arrive with the next turn\n')
    return exits.done
  })
}

/** A command in the background, of the session or of one of its agents. */
async function stopJob(context: CommandContext, id: string): Promise<boolean> {
  const session = context.begun()
  if (session === null) return false
  for (const each of [session.id, ...session.agents().map(({ child }) => child)]) {
    if (!(await context.preset.backgroundTasks.stop(each, id))) continue
    context.place.io.out(`${safeLine(id)} is stopped\n`)
    return true
  }
  return false
}

type Act = (context: CommandContext, worker: Worker, text: string) => Promise<Exit>

const actions: Readonly<Record<string, Act>> = {
  follow,
  stop: async (context, worker) => {
    await context.preset.agents.stop(worker, 'the user stopped it')
    context.place.io.out(`${worker.child} is stopped; its results so far arrive with the next turn\n`)
    return exits.done
  },
  tell: (context, worker, text) => tell(context, worker, text, { kind: 'message' }),
  approve: async (context, worker) => {
    const about = { kind: 'plan-approval-response', approve: true } as const
    const exit = await tell(context, worker, 'The user approved your plan.', about)
    if (exit === exits.done) worker.awaitsPlan = false
    return exit
  },
  reject: (context, worker, text) =>
    tell(context, worker, text, { kind: 'plan-approval-response', approve: false }),
}
const summaryChars = 80

async function tell(
  context: CommandContext,
  worker: Worker,
  text: string,
  kind: { readonly kind: 'message' | 'plan-approval-response'; readonly approve?: boolean },
): Promise<Exit> {
  if (text.trim() === '') return wrong(context, `write ${agentsUsage}`)
  const about = { summary: text.replace(/\s+/g, ' ').slice(0, summaryChars), text, ...kind }
  const sent = await context.preset.agents.send(worker.parent.id, `session:${worker.child}`, about)
  if (!sent.ok) return wrong(context, sent.why)
  context.place.io.out(
    `sent to ${safeLine(worker.about.name ?? worker.about.label)}; it arrives at its next step\n`,
  )
  return exits.done
}

async function show(context: CommandContext, session: Session): Promise<Exit> {
  const { agents, store } = context.preset
  const rows = await withSpent(context.place, store, session.agents())
  const { io } = context.place
  const list = agentTable(rows, io.columns, phrasesOf(context, session))
  io.out(`${list}\n${typeTable(agents.options.types, io.columns)}`)
  return exits.done
}

/** What it did last and does now, until it ends or the next line is typed. */
async function follow(context: CommandContext, worker: Worker): Promise<Exit> {
  const { io } = context.place
  const stop = new AbortController()
  const stopListening = io.onInterrupt(() => stop.abort())
  try {
    for await (const event of worker.follow(stop.signal)) {
      if (event.type === 'tool-start')
        io.out(`${event.name} ${safeLine(forOthers(JSON.stringify(event.input)))}\n`)
      if (event.type === 'text-delta') io.out(safeText(event.text, { colours: false }))
      if (event.type === 'answer-end') io.out('\n')
    }
  } finally {
    stopListening()
  }
  return exits.done
}

async function merge(context: CommandContext, session: Session, word: string): Promise<Exit> {
  const row = session
    .agents()
    .find(({ child, label, name }) => [child, shortId(child), label, name].includes(word))
  if (row?.worktree === undefined)
    return wrong(context, `${safeLine(word)} is not an agent with a worktree; /agents lists them`)
  if (row.state === 'running') return wrong(context, `${safeLine(word)} is still running`)
  const git = gitIn(commandEnvironment(context.place.io.environment), [
    context.place.project.root,
    context.place.project.cwd,
  ])
  const merged = await mergeBranch(git, context.place.project.root, row.worktree.branch)
  if (!merged.ok) {
    const where = merged.conflicts.length === 0 ? '' : ` Both changed ${merged.conflicts.join(', ')}.`
    return wrong(
      context,
      `${safeLine(row.worktree.branch)} was not merged, and nothing was changed:${where} ${safeLine(merged.why)}`,
    )
  }
  const stays =
    merged.branchStays === undefined ? '' : `; the branch ${row.worktree.branch} stays: ${merged.branchStays}`
  context.place.io.out(`merged ${merged.files.length} files: ${safeLine(merged.files.join(', ') + stays)}\n`)
  return exits.done
}

const phrasesOf = ({ preset }: CommandContext, { id }: Session): ReadonlyMap<string, string> =>
  new Map(
    preset.agents.looks(id).flatMap(({ child, phrase, isIdle, awaitsPlan }) => {
      if (isIdle) return [[child, awaitsPlan ? 'waits for its plan to be approved' : 'waits for messages']]
      return phrase === null ? [] : [[child, phrase]]
    }) as readonly (readonly [string, string])[],
  )

const wrong = ({ place }: CommandContext, message: string): Exit => fail(place.io, exits.usage, message)

// ---- memory jobs ----

const jobNames = { extraction: 'saving memories', dream: 'consolidating memories' } as const

/** What it is and does, what it called, what it changed, and what it said last. */
function jobText({
  id,
  kind,
  since,
  state,
  phase,
  tools,
  refused,
  files,
  report,
  turns,
  tokens,
}: JobLook): string {
  const calls = Object.entries(tools).map(([name, count]) => `${name} ${count}`)
  const now = state === 'running' ? `running, ${phase}` : state
  return [
    `${id}: ${jobNames[kind]}, ${now}, since ${moment(since)}, ${tokens} tokens`,
    ...(calls.length === 0
      ? []
      : [`  calls: ${calls.join(', ')}${refused.length === 0 ? '' : `; ${refused.length} refused`}`]),
    ...(files.length === 0 ? [] : [`  files: ${files.join(', ')}`]),
    ...report.map((line) => `  ${line}`),
    ...turns.slice(-1).flatMap((said) => (said === '' ? [] : [`  said: ${said}`])),
  ]
    .map((line) => `${safeLine(line)}\n`)
    .join('')
}

function stopMemoryJob(context: CommandContext, id: string): Exit {
  const { place, preset } = context
  if (!preset.memoryJobs.list.stop(id))
    return wrong(context, `no job ${safeLine(id)} is running; /tasks lists them`)
  place.io.out(`${safeLine(id)} is stopping; it writes nothing more\n`)
  return exits.done
}
