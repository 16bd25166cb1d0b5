// Values of unknown origin read by hand: a schema library would cost every start more than all the rest.
import { isRecord } from '../../transcript/json.ts'

export type Fields = Readonly<Record<string, unknown>>

export const fieldsOf = (value: unknown): Fields => (isRecord(value) ? value : {})

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

export const textOf = (value: unknown, mostChars = Number.POSITIVE_INFINITY): string | null =>
  typeof value === 'string' && value.length <= mostChars ? value : null

export const numberOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null
