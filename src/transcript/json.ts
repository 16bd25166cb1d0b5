// Texts that should be JSON and may be anything: others wrote them, or a crash cut them short.

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The value a text is the JSON of; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The object a text is the JSON of; null for any other text. */
export function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  const value = jsonIn(text)
  return isRecord(value) ? value : null
}

// ---- values of unknown origin, field by field: what is not of the kind asked for counts as missing ----

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown, mostChars = Number.POSITIVE_INFINITY): string | null =>
  typeof value === 'string' && value.length <= mostChars ? value : null

export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null
