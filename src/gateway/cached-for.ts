// How long the provider's cache keeps what a foreign request writes.
import type { ForeignRequest } from '../fit/layouts.ts'
import { lookUp, type ModelTable } from '../model/models.ts'
import type { Lifetime } from '../transcript/lifetime.ts'
import { wireOf } from './wires.ts'

const longMark = Buffer.from('"ttl":"1h"')

/** How long this cache keeps what the request writes. */
export function lifetimeIn({ wire, bytes, model }: ForeignRequest, models: ModelTable): Lifetime {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (wire === 'anthropic') return buffer.includes(longMark) ? '1h' : '5m'
  return wireOf(wire).cacheRules(lookUp(models, model ?? '')).lifetimes[0] ?? '5m'
}
