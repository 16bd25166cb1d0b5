// Texts that should be JSON and may be anything: others wrote them, or a crash cut them short. And the JSON of our figures.

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

/** More digits than any price has, fewer than a sum of binary fractions is right to. */
const digits = 12

const roundedFigure = (value: number): number =>
  Number.isInteger(value) ? value : Number(Number(value.toPrecision(digits)).toFixed(digits))

/** JSON of what we counted, for people and programs: 0.1 + 0.2 is 0.3. The input of a call is another's and stays exact. */
export function figuresJson(value: unknown, indent?: number): string {
  const exact = new WeakSet<object>()
  return JSON.stringify(
    value,
    function (this: unknown, key: string, one: unknown): unknown {
      const isExact = typeof this === 'object' && this !== null && exact.has(this)
      if (typeof one === 'object' && one !== null && (isExact || key === 'input')) exact.add(one)
      return typeof one === 'number' && !isExact ? roundedFigure(one) : one
    },
    indent,
  )
}

// ---- values of unknown origin, field by field: what is not of the kind asked for counts as missing ----

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown, mostChars = Number.POSITIVE_INFINITY): string | null =>
  typeof value === 'string' && value.length <= mostChars ? value : null

export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null
