// Calls that share an id, or have none, told apart: a later one gets an id of its own, and its result with it. Ids are settled from
// the front, so that a longer list keeps those its beginning was given. Pure; a list of which nothing must change gives nothing.
import { spelledId } from './repairing.ts'
import { plainDigest } from './plain-digest.ts'

/** A call or a result of a list, in their order. */
export interface CallStep {
  /** Where it stands, in whatever its list counts. */
  readonly at: string
  readonly kind: 'call' | 'result'
  readonly id: string
  /** Calls of one answer are of one group. */
  readonly group: number
  /** What a call asks: one that asks the same again and has no result is a repetition. */
  readonly print: string
}

export interface CallIdRules {
  /** An id stands once in the list; else once in a group. */
  readonly isListWide: boolean
  readonly mostChars: number
}

interface Call {
  readonly step: CallStep
  result: CallStep | null
}

/** The ids that must change, by place; null for a repetition, which is left out. */
export function changedIds(
  steps: readonly CallStep[],
  { isListWide, mostChars }: CallIdRules,
): ReadonlyMap<string, string | null> {
  const changed = new Map<string, string | null>()
  const scoped = ({ group }: CallStep, id: string): string => (isListWide ? id : `${group} ${id}`)
  const calls = steps.filter(({ kind }) => kind === 'call')
  const names = new Set(calls.map((step) => scoped(step, step.id)))
  // Nearly always: nothing to pair.
  if (names.size === calls.length && calls.every(({ id }) => id !== '')) return changed
  const taken = new Set<string>()
  const asked = new Set<string>()
  for (const { step, result } of pairedCalls(steps)) {
    const isRepeated = asked.has(scoped(step, step.print))
    asked.add(scoped(step, step.print))
    if (step.id !== '' && !taken.has(scoped(step, step.id))) taken.add(scoped(step, step.id))
    else if (isRepeated && result === null) changed.set(step.at, null)
    else {
      let id = step.id
      for (let count = step.id === '' ? 1 : 2; id === '' || taken.has(scoped(step, id)); count++)
        id = spelledId(`${step.id || 'call'}-${count}`, mostChars, plainDigest)
      taken.add(scoped(step, id))
      changed.set(step.at, id)
      if (result !== null) changed.set(result.at, id)
    }
  }
  return changed
}

/** Each result is that of the nearest group before it that has an open call of its id, and there of the first. */
function pairedCalls(steps: readonly CallStep[]): readonly Call[] {
  const calls: Call[] = []
  const open = new Map<string, Call[]>()
  for (const step of steps) {
    const waiting = open.get(step.id) ?? []
    if (step.kind === 'call') {
      const call: Call = { step, result: null }
      calls.push(call)
      open.set(step.id, [...waiting, call])
      continue
    }
    const nearest = waiting.at(-1)?.step.group
    const call = waiting.find((each) => each.step.group === nearest)
    if (call === undefined) continue
    call.result = step
    open.set(
      step.id,
      waiting.filter((each) => each !== call),
    )
  }
  return calls
}
