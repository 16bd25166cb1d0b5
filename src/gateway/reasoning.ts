// Some models bind their reasoning to the exact bytes before it. Where a client's own bytes follow bytes of ours (what was
// remembered is lost, a session is not changed any more), that reasoning is refused; what was said and called goes out without it.
import { splicesWithout } from '../fit/applying.ts'
import { isReasoningUnit } from '../fit/compaction.ts'
import { spliced } from '../fit/json-spans.ts'
import { readRequest } from '../fit/layouts.ts'
import type { WireName } from '../model/model.ts'
import { findBytes } from './digest.ts'

/** The body without any reasoning; null where it has none. */
export function withoutReasoning(wire: WireName, body: Uint8Array): Uint8Array | null {
  const request = readRequest(wire, body, '', findBytes)
  if (request === null) return null
  const names = request.units.map((_, at) => String(at))
  const reasoning = names.filter((_, at) => isReasoningUnit(request, request.units[at]!))
  if (reasoning.length === 0) return null
  return spliced(body, splicesWithout(request, new Set(reasoning), names))
}
