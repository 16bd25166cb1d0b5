// What a policy does, and policies as files. A policy is a list of real layers that the real engine hears. Those with a
// name are in policies/list.ts.
//
// Format of a policy file (JSON): the fields of `policyShape` (policies/rules.ts); a field that is not known is refused.
import type { Layer } from '../projection/layer.ts'
import { standardLayers } from '../projection/layers/index.ts'
import type { ToolPolicy } from '../tools/tool.ts'
import { isRecord } from '../transcript/content.ts'
import type { Result } from '../transcript/store.ts'
import { capResults, clearResults, pruneCalls, staleReads } from './policies/plain-rules.ts'
import { policyShape, type Policy } from './policies/rules.ts'
import { trimRounds, type Trimmed } from './policies/trim-rounds.ts'

/** Whether a model is asked for texts, notes included. */
export const isWritten = ({ standard }: Policy): boolean => (standard?.text ?? 'extract') !== 'extract'

/** The layers of a policy for one session. `policyOf` says what may happen to the results of a tool. */
export function layersOf(
  policy: Policy,
  policyOf: (tool: string) => ToolPolicy | undefined,
  heard: (trimmed: Trimmed) => void,
): readonly Layer[] {
  return [
    ...(policy.standard === undefined
      ? []
      : standardLayers({ ...policy.standard, asksModel: isWritten(policy), policyOf })),
    ...(policy.cap === undefined ? [] : [capResults(policy.cap)]),
    ...(policy.stale === undefined ? [] : [staleReads(policy.stale)]),
    ...(policy.clear === undefined ? [] : [clearResults(policy.clear)]),
    ...(policy.prune === undefined ? [] : [pruneCalls(policy.prune)]),
    ...(policy.ignoresWindow ? [] : [trimRounds(policy.trim, heard)]),
  ]
}

/** Earlier names of the standard layers' settings. */
const earlierNames: Readonly<Record<string, string>> = {
  timeBased: 'timeClearing',
  cached: 'cachedClearing',
  keep: 'keepResults',
  pressure: 'pressureClearing',
}

/** The file with settings of the standard layers under the names they have now. */
function withPresentNames(value: unknown): unknown {
  if (!isRecord(value) || !isRecord(value['standard'])) return value
  const entries = Object.entries(value['standard']).map(([name, set]) => [earlierNames[name] ?? name, set])
  return { ...value, standard: Object.fromEntries(entries) as unknown }
}

/** The policy that a file describes, or why it describes none. */
export function policyFrom(file: string, text: string): Result<{ readonly policy: Policy }> {
  const refuse = (why: string) =>
    ({ ok: false, failure: { code: 'bad-policy', message: `${file} is not a policy: ${why}` } }) as const
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return refuse((error as Error).message)
  }
  const read = policyShape.safeParse(withPresentNames(value))
  if (read.success) return { ok: true, policy: { ...read.data, about: read.data.about || `from ${file}` } }
  const [first] = read.error.issues
  const at = first?.path.join('.') ?? ''
  if (first?.code === 'unrecognized_keys') return refuse(`${at} has no field ${first.keys.join(', ')}`)
  return refuse(at === '' ? 'it is not an object' : `${at} does not fit`)
}
