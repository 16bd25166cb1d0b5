// The schema language in OpenAI's words: the first field that is wrong, with its parameter and code. Unknown keys are refused or
// passed over by the server's habit.
import { anything, isRecord, nullable, wrongField, wrongItem, type Check } from '../../rules/shape.ts'
import { fault, type ApiFault } from './errors.ts'

export type ApiCheck = Check<ApiFault>
export type ApiFields = Readonly<Record<string, ApiCheck>>

export const isAnything: ApiCheck = anything

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal'
  return { string: 'a string', boolean: 'a boolean', object: 'an object' }[typeof value as 'string'] ?? 'null'
}

function wrongType(path: string, expected: string, value: unknown): ApiFault {
  const message = `Invalid type for '${path}': expected ${expected}, but got ${kindOf(value)} instead.`
  return fault(message, path, 'invalid_type')
}

export const isString: ApiCheck = (value, path) =>
  typeof value === 'string' ? null : wrongType(path, 'a string', value)

export const isBoolean: ApiCheck = (value, path) =>
  typeof value === 'boolean' ? null : wrongType(path, 'a boolean', value)

export const isDecimal: ApiCheck = (value, path) =>
  typeof value === 'number' ? null : wrongType(path, 'a decimal', value)

export const isObject: ApiCheck = (value, path) =>
  isRecord(value) ? null : wrongType(path, 'an object', value)

export function atLeast(least: number): ApiCheck {
  return (value, path) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) return wrongType(path, 'an integer', value)
    if (value >= least) return null
    const message = `Invalid '${path}': integer below minimum value. Expected a value >= ${least}, but got ${value} instead.`
    return fault(message, path, 'integer_below_min_value')
  }
}

export function oneOf(...values: readonly string[]): ApiCheck {
  return (value, path) => {
    if (typeof value !== 'string') return wrongType(path, 'a string', value)
    return values.includes(value) ? null : unsupportedValue(value, path, values)
  }
}

export function unsupportedValue(value: string, path: string, values: readonly string[]): ApiFault {
  return fault(`Invalid value: '${value}'. Supported values are: ${listed(values)}.`, path, 'invalid_value')
}

function listed(values: readonly string[]): string {
  const quoted = values.map((each) => `'${each}'`)
  if (quoted.length < 2) return quoted.join('')
  const comma = quoted.length > 2 ? ',' : ''
  return `${quoted.slice(0, -1).join(', ')}${comma} and ${quoted.at(-1) ?? ''}`
}

export const orNull = (check: ApiCheck): ApiCheck => nullable(check)

export function textOrList(item: ApiCheck, items = 'objects'): ApiCheck {
  const list = listOf(item)
  return (value, path) => {
    if (typeof value === 'string') return null
    return Array.isArray(value)
      ? list(value, path)
      : wrongType(path, `one of a string or array of ${items}`, value)
  }
}

export function listOf(item: ApiCheck, most = Infinity): ApiCheck {
  return (value, path) => {
    if (!Array.isArray(value)) return wrongType(path, 'an array of objects', value)
    if (value.length > most) {
      const message = `Invalid '${path}': array too long. Expected an array with maximum length ${most}, but got an array with length ${value.length} instead.`
      return fault(message, path, 'array_above_max_length')
    }
    return wrongItem(value, item, (index) => `${path}[${index}]`)
  }
}

export function emptyArray(path: string): ApiFault {
  const message = `Invalid '${path}': empty array. Expected an array with minimum length 1, but got an empty array instead.`
  return fault(message, path, 'empty_array')
}

const NAME = /^[a-zA-Z0-9_-]+$/

export function named(most: number): ApiCheck {
  return (value, path) => {
    if (typeof value !== 'string') return wrongType(path, 'a string', value)
    if (value.length > most) return tooLong(path, most, value.length)
    if (value === '') {
      const message = `Invalid '${path}': empty string. Expected a string with minimum length 1, but got an empty string instead.`
      return fault(message, path, 'empty_string')
    }
    if (NAME.test(value)) return null
    const message = `Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '${NAME.source}'.`
    return fault(message, path, 'invalid_value')
  }
}

function tooLong(path: string, most: number, length: number): ApiFault {
  const message = `Invalid '${path}': string too long. Expected a string with maximum length ${most}, but got a string with length ${length} instead.`
  return fault(message, path, 'string_above_max_length')
}

export function upTo(most: number): ApiCheck {
  return (value, path) => {
    if (typeof value !== 'string') return wrongType(path, 'a string', value)
    return value.length > most ? tooLong(path, most, value.length) : null
  }
}

export function missing(path: string): ApiFault {
  return fault(`Missing required parameter: '${path}'.`, path, 'missing_required_parameter')
}

export function fieldsOf(
  required: ApiFields,
  optional: ApiFields = {},
  unknown: 'refused' | 'ignored' = 'refused',
): ApiCheck {
  return (value, path) => {
    if (!isRecord(value)) return wrongType(path, 'an object', value)
    const extra = (at: string): ApiFault => fault(`Unknown parameter: '${at}'.`, at, 'unknown_parameter')
    return wrongField(value, path, required, optional, missing, unknown === 'refused' ? extra : null)
  }
}

/** A union told apart by `type`. */
export function byType(members: Readonly<Record<string, ApiCheck>>, fallback?: string): ApiCheck {
  const tags = Object.keys(members)
  return (value, path) => {
    if (!isRecord(value)) return wrongType(path, 'an object', value)
    const tag = value['type'] ?? fallback
    if (tag === undefined) return missing(`${path}.type`)
    if (typeof tag !== 'string') return wrongType(`${path}.type`, 'a string', tag)
    const member = Object.hasOwn(members, tag) ? members[tag] : undefined
    return member === undefined ? unsupportedValue(tag, `${path}.type`, tags) : member(value, path)
  }
}
