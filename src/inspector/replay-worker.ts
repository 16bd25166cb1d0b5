// One replay, in the thread that was started for it.
import { parentPort, workerData } from 'node:worker_threads'
import { rulesFor, windowOf } from '../lab/batch.ts'
import { importBytes } from '../lab/importers/import-file.ts'
import { sharesOf } from '../lab/measures.ts'
import { policyNamed } from '../lab/policies/list.ts'
import { prepareReplay, replay } from '../lab/replay.ts'
import { lookUp, modelTable } from '../model/models.ts'
import type { ReplayMoment, Totals } from './protocol.ts'
import type { ReplayMade, ReplayTask } from './replays.ts'

async function playTask(task: ReplayTask): Promise<ReplayMade> {
  const policy = policyNamed(task.policy)
  if (policy === undefined) return { ok: false, problem: `there is no policy ${task.policy}` }
  const imported = importBytes(task.name, Buffer.from(task.lines))
  if (!imported.ok) return { ok: false, problem: imported.failure.message }
  const { recording } = imported
  if (!recording.turns.some(({ role }) => role === 'assistant'))
    return { ok: false, problem: 'the session has no answer yet: there is nothing to replay' }
  const own = recording.model
  const model = rulesFor(own)
  const window = task.window ?? lookUp(modelTable(), own)?.window ?? windowOf(model)
  const played = await replay(prepareReplay(recording), { policy, window, model, own, timeline: true })
  const moments = (played.timeline ?? []).map(
    ({ at, held, fresh, read, written, output, dollars, lost, changes }): ReplayMoment => ({
      at,
      held,
      input: fresh,
      read,
      written,
      output,
      dollars,
      lost,
      changes,
    }),
  )
  return {
    ok: true,
    replay: {
      transcript: '',
      policyHash: '',
      head: 0,
      totals: totalsOf(moments),
      needsInSight: sharesOf(played.figures['1h']).retention,
      edits: played.edits,
      problems: played.problems,
      moments,
    },
  }
}

const totalsOf = (moments: readonly ReplayMoment[]): Totals => {
  const totals = { requests: 0, input: 0, read: 0, written: 0, output: 0, dollars: 0, unpriced: 0 }
  for (const { input, read, written, output, dollars } of moments) {
    totals.requests++
    totals.input += input
    totals.read += read
    totals.written += written
    totals.output += output
    totals.dollars += dollars ?? 0
    totals.unpriced += dollars === null ? 1 : 0
  }
  return totals
}

parentPort?.postMessage(await playTask(workerData as ReplayTask), [])
