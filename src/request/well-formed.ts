// Halves of surrogate pairs: the JSON of one is refused by every server, so they are replaced before anything is sent.
import { isRecord } from '../transcript/content.ts'

/** Native since Node 20, newer than the language library we compile against. */
interface Unicode {
  isWellFormed(): boolean
  toWellFormed(): string
}
export const isWellFormed = (text: string): boolean => (text as string & Unicode).isWellFormed()
/** A lone half of a surrogate pair becomes U+FFFD: the JSON of one is refused by the server. */
export const toWellFormed = (text: string): string => (text as string & Unicode).toWellFormed()
/** Whether every string in a value is well formed. Looks without copying: nearly all values are. */
export function isDeeplyWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return isWellFormed(value)
  if (typeof value !== 'object' || value === null) return true
  if (Array.isArray(value)) return value.every(isDeeplyWellFormed)
  for (const [key, item] of Object.entries(value))
    if (!isWellFormed(key) || !isDeeplyWellFormed(item)) return false
  return true
}

export const wellFormedRecord = (
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(value).map(([key, item]) => [toWellFormed(key), wellFormedValue(item)]))

function wellFormedValue(value: unknown): unknown {
  if (typeof value === 'string') return toWellFormed(value)
  if (Array.isArray(value)) return value.map(wellFormedValue)
  return isRecord(value) ? wellFormedRecord(value) : value
}
