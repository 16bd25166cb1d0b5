// `/agents` and `/tasks` in a talk: show, follow, message, stop and merge. The functions take words and give lines, so
// that a screen can use them as they are.
import { forOthers } from '../../disk/redact.ts'
import type { Session } from '../../engine/session.ts'
import { gitIn, mergeBranch, type Worker } from '../../forks/agents/index.ts'
import { commandEnvironment } from '../../tools/shell/environment.ts'
import { agentTable, typeTable, withSpent } from '../commands/agents.ts'
import { tasksOf, taskTable } from '../commands/tasks.ts'
import { memoryJobTable, stopMemoryJob } from './memory-jobs.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { safeLine, safeText } from '../terminal/safe-text.ts'
import { looking, type Scene } from './context.ts'

export const agentsUsage = '/agents [follow|stop|merge|approve ID | tell|reject ID TEXT]'

export async function agentsCommand(scene: Scene, rest: string): Promise<Exit> {
  const [, action = '', word = '', text = ''] = /^(\S*)\s*(\S*)\s*([\s\S]*)$/.exec(rest) ?? []
  return looking(scene, async (session) => {
    if (action === '') return show(scene, session)
    if (action === 'merge') return merge(scene, session, word)
    const worker = scene.preset.agents.find(session.id, word)
    const act = Object.hasOwn(actions, action) ? actions[action] : undefined
    if (act === undefined)
      return wrong(scene, `there is no /agents ${safeLine(action)}; write ${agentsUsage}`)
    if (worker === null) return wrong(scene, `no agent ${safeLine(word)} is running; /agents lists them`)
    return act(scene, worker, text)
  })
}

/** What is under way: agents, commands in the background, jobs on memories, and what waits in the mailbox. */
export async function tasksCommand(scene: Scene, rest: string): Promise<Exit> {
  const [, id] = /^stop\s+(\S+)$/u.exec(rest) ?? []
  const { preset, place } = scene
  if (id !== undefined) return (await stopJob(scene, id)) ? exits.done : stopMemoryJob(scene, id)
  return looking(scene, async (session) => {
    const rows = (each: string) => preset.board.rows(each)
    const agents = await withSpent(place, preset.store, session.agents())
    place.io.out(taskTable(tasksOf(session.id, agents, rows, phrasesOf(scene, session))))
    place.io.out(memoryJobTable(preset.memoryJobs.board.looks()))
    if (await preset.agents.hasMail(session.id)) place.io.out('messages wait for the next turn\n')
    return exits.done
  })
}

/** A command in the background, of the session or of one of its agents. */
async function stopJob(scene: Scene, id: string): Promise<boolean> {
  const session = scene.begun()
  if (session === null) return false
  for (const each of [session.id, ...session.agents().map(({ child }) => child)]) {
    if (!(await scene.preset.board.stop(each, id))) continue
    scene.place.io.out(`${safeLine(id)} is stopped\n`)
    return true
  }
  return false
}

type Act = (scene: Scene, worker: Worker, text: string) => Promise<Exit>

const actions: Readonly<Record<string, Act>> = {
  follow,
  stop: async (scene, worker) => {
    await scene.preset.agents.stop(worker, 'the user stopped it')
    scene.place.io.out(`${worker.child} is stopped; what it had is handed on with the next turn\n`)
    return exits.done
  },
  tell: (scene, worker, text) => tell(scene, worker, text, { kind: 'message' }),
  approve: async (scene, worker) => {
    const about = { kind: 'plan-approval-response', approve: true } as const
    const exit = await tell(scene, worker, 'The user approved your plan.', about)
    if (exit === exits.done) worker.awaitsPlan = false
    return exit
  },
  reject: (scene, worker, text) =>
    tell(scene, worker, text, { kind: 'plan-approval-response', approve: false }),
}
const summaryChars = 80

async function tell(
  scene: Scene,
  worker: Worker,
  text: string,
  kind: { readonly kind: 'message' | 'plan-approval-response'; readonly approve?: boolean },
): Promise<Exit> {
  if (text.trim() === '') return wrong(scene, `write ${agentsUsage}`)
  const about = { summary: text.replace(/\s+/g, ' ').slice(0, summaryChars), text, ...kind }
  const sent = await scene.preset.agents.send(worker.parent.id, `session:${worker.child}`, about)
  if (!sent.ok) return wrong(scene, sent.why)
  scene.place.io.out(
    `sent to ${safeLine(worker.about.name ?? worker.about.label)}; it comes at its next round\n`,
  )
  return exits.done
}

async function show(scene: Scene, session: Session): Promise<Exit> {
  const { agents, store } = scene.preset
  const rows = await withSpent(scene.place, store, session.agents())
  scene.place.io.out(`${agentTable(rows, phrasesOf(scene, session))}\n${typeTable(agents.options.types)}`)
  return exits.done
}

/** What it did last and does now, until it ends or the next line is typed. */
async function follow(scene: Scene, worker: Worker): Promise<Exit> {
  const { io } = scene.place
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

async function merge(scene: Scene, session: Session, word: string): Promise<Exit> {
  const row = session.agents().find(({ child, label, name }) => [child, label, name].includes(word))
  if (row?.worktree === undefined)
    return wrong(scene, `${safeLine(word)} is no agent with a worktree; /agents lists them`)
  if (row.state === 'running') return wrong(scene, `${safeLine(word)} is still running`)
  const git = gitIn(commandEnvironment(scene.place.io.environment), [
    scene.place.project.root,
    scene.place.project.cwd,
  ])
  const merged = await mergeBranch(git, scene.place.project.root, row.worktree.branch)
  if (!merged.ok) {
    const where = merged.conflicts.length === 0 ? '' : ` Both changed ${merged.conflicts.join(', ')}.`
    return wrong(
      scene,
      `${safeLine(row.worktree.branch)} was not merged, and nothing was changed:${where} ${safeLine(merged.why)}`,
    )
  }
  scene.place.io.out(`merged ${merged.files.length} files: ${safeLine(merged.files.join(', '))}\n`)
  return exits.done
}

const phrasesOf = ({ preset }: Scene, { id }: Session): ReadonlyMap<string, string> =>
  new Map(
    preset.agents.looks(id).flatMap(({ child, phrase, isIdle, awaitsPlan }) => {
      if (isIdle) return [[child, awaitsPlan ? 'waits for its plan to be approved' : 'waits for messages']]
      return phrase === null ? [] : [[child, phrase]]
    }) as readonly (readonly [string, string])[],
  )

function wrong(scene: Scene, message: string): Exit {
  scene.place.io.err(`pal: ${message}\n`)
  return exits.usage
}
