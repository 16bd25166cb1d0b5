// One replay, in the thread that was started for it.
import { parentPort, workerData } from 'node:worker_threads'
import { rulesFor, windowOf } from '../lab/batch.ts'
import { importBytes } from '../lab/importers/import-file.ts'
import { sharesOf } from '../lab/measures.ts'
import { policyNamed } from '../lab/policies/list.ts'
import { prepareReplay, replay } from '../lab/replay.ts'
import { lookUp, modelTable } from '../model/models.ts'
import { shownCompaction } from '../lab/compactions/report.ts'
import type { Recording } from '../lab/recording.ts'
import { estimateText } from '../projection/tokens.ts'
import { decode } from '../transcript/codec.ts'
import { isKnown } from '../transcript/fact.ts'
import type { RecordedCompaction, ReplayMoment, Totals } from './protocol.ts'
import type { Made, PlayedReplay, ReplayTask } from './replays.ts'

async function runTask({ name, lines, wanted }: ReplayTask): Promise<Made<unknown>> {
  const imported = importBytes(name, Buffer.from(lines))
  if (!imported.ok) return { ok: false, problem: imported.failure.message }
  const { recording } = imported
  return wanted.kind === 'replay'
    ? play(recording, wanted.policy, wanted.window)
    : againstOurs(recording, momentAt(lines, wanted.at))
}

/** Which of the recorded compactions stands at a place; a turn has one, however many texts a client wrote there. */
function momentAt(lines: string, at: number): number {
  let entries: { readonly seq: number; readonly kind: string }[] = []
  for (const line of lines.split('\n')) {
    const decoded = decode(line)
    if (!decoded.ok || !isKnown(decoded.entry)) continue
    const { seq, fact } = decoded.entry
    if (fact.type === 'rewind') entries = entries.filter((entry) => entry.seq <= fact.to)
    else entries.push({ seq, kind: fact.type })
  }
  let moment = -1
  let isNew = true
  for (const { seq, kind } of entries) {
    if (kind === 'assistant-message') isNew = true
    if (kind !== 'compaction-recorded') continue
    if (isNew) moment++
    isNew = false
    if (seq === at) return moment
  }
  return -1
}

/** Our own instructions, which the session was given when it was imported, were no part of what the other program had. */
function againstOurs(recording: Recording, moment: number): Made<RecordedCompaction> {
  const shown = shownCompaction({ ...recording, system: null }, moment)
  if (shown === null) return { ok: false, problem: 'no compaction is recorded there' }
  const { vendor, ours, needed, words } = shown
  const [vendorTokens, oursTokens] = [estimateText(vendor ?? ''), estimateText(ours)]
  return { ok: true, made: { vendor, ours, vendorTokens, oursTokens, needed, words } }
}

async function play(recording: Recording, name: string, asked: number | null): Promise<Made<PlayedReplay>> {
  const policy = policyNamed(name)
  if (policy === undefined) return { ok: false, problem: `there is no policy ${name}` }
  if (!recording.turns.some(({ role }) => role === 'assistant'))
    return { ok: false, problem: 'the session has no answer yet: there is nothing to replay' }
  const own = recording.model
  const model = rulesFor(own)
  const window = asked ?? lookUp(modelTable(), own)?.window ?? windowOf(model)
  const played = await replay(prepareReplay(recording), { policy, window, model, own, timeline: true })
  const moments = (played.timeline ?? []).map(
    ({ at, byHolder, fresh, read, written, output, dollars, lost, changes }): ReplayMoment => ({
      at,
      byHolder,
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
    made: {
      totals: totalsOf(moments),
      needsInSight: sharesOf(played.figures['1h']).retention,
      edits: played.edits,
      problems: played.problems,
      moments,
    },
  }
}

function totalsOf(moments: readonly ReplayMoment[]): Totals {
  const sum = (of: (moment: ReplayMoment) => number): number => moments.reduce((all, one) => all + of(one), 0)
  return {
    requests: moments.length,
    input: sum(({ input }) => input),
    read: sum(({ read }) => read),
    written: sum(({ written }) => written),
    output: sum(({ output }) => output),
    dollars: sum(({ dollars }) => dollars ?? 0),
    unpriced: moments.filter(({ dollars }) => dollars === null).length,
    estimated: 0,
  }
}

parentPort?.postMessage(await runTask(workerData as ReplayTask), [])
