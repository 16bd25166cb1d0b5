// Agents at this place: which types there are, and how a run that ends by itself waits for those it has started.
import { machineFileSystem } from '../../disk/fs.ts'
import type { LiveEvent } from '../../engine/live.ts'
import type { Session } from '../../engine/session.ts'
import type { Office } from '../../forks/agents/index.ts'
import { loadTypes, type LoadedTypes } from '../../forks/agents/type-files.ts'
import type { Workplace } from './workplace.ts'

/** A project's own types count where their content is approved. */
export const typesFor = ({
  home,
  project,
  gate,
}: Pick<Workplace, 'home' | 'project' | 'gate'>): Promise<LoadedTypes> =>
  loadTypes(machineFileSystem, {
    home,
    project: project.root,
    mayAct: (path, bytes) => gate.refusal('agent type', path, bytes) === null,
  })

/** After a turn: waits for agents that end by themselves, and lets the model take what they bring, until none is left. */
export async function* turnsBeside(
  office: Office,
  session: Session,
  signal: AbortSignal,
): AsyncGenerator<LiveEvent> {
  for (;;) {
    await office.settled(session.id, signal)
    if (signal.aborted || !session.unfinished()) return
    let outcome = 'failed'
    for await (const event of session.goOn(signal)) {
      if (event.type === 'turn-end') ({ outcome } = event)
      yield event
    }
    if (outcome !== 'done') return
  }
}
