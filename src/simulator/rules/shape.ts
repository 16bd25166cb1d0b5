// A very small schema language that answers in the words of the real API: one isText with the path of the first
// field that is wrong, or null. Known fields are looked at first, unknown keys after them.

export type Check<Wrong = string> = (value: unknown, path: string) => Wrong | null
export type Fields<Wrong = string> = Readonly<Record<string, Check<Wrong>>>

export const anything: Check<never> = () => null

export const isText: Check = (value, path) =>
  typeof value === 'string' ? null : `${path}: Input should be a valid string`

export const flag: Check = (value, path) =>
  typeof value === 'boolean' ? null : `${path}: Input should be a valid boolean`

export const number: Check = (value, path) =>
  typeof value === 'number' ? null : `${path}: Input should be a valid number`

export const dictionary: Check = (value, path) =>
  isRecord(value) ? null : `${path}: Input should be a valid dictionary`

export function integer(least: number): Check {
  return (value, path) => {
    if (typeof value !== 'number' || !Number.isInteger(value))
      return `${path}: Input should be a valid integer`
    return value < least ? `${path}: Input should be greater than or equal to ${least}` : null
  }
}

export function matching(pattern: RegExp): Check {
  return (value, path) => {
    if (typeof value !== 'string') return isText(value, path)
    return pattern.test(value) ? null : `${path}: String should match pattern '${pattern.source}'`
  }
}

export function choice(...allowed: readonly string[]): Check {
  const quoted = allowed.map((each) => `'${each}'`)
  const last = quoted.at(-1) ?? ''
  const words = quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} or ${last}` : last
  return (value, path) =>
    typeof value === 'string' && allowed.includes(value) ? null : `${path}: Input should be ${words}`
}

export function nullable<Wrong>(check: Check<Wrong>): Check<Wrong> {
  return (value, path) => (value === null ? null : check(value, path))
}

export function list(item: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path}: Input should be a valid list`
    return wrongItem(value, item, (index) => `${path}.${index}`)
  }
}

/** The first item that is wrong. */
export function wrongItem<Wrong>(
  items: readonly unknown[],
  item: Check<Wrong>,
  pathOf: (index: number) => string,
): Wrong | null {
  for (const [index, each] of items.entries()) {
    const wrong = item(each, pathOf(index))
    if (wrong !== null) return wrong
  }
  return null
}

export function textOr(other: Check): Check {
  return (value, path) => (typeof value === 'string' ? null : other(value, path))
}

export const record = (required: Fields, optional: Fields = {}): Check =>
  fieldsOf(required, optional, (path) => `${path}: Extra inputs are not permitted`)

/** Like `record`, but further keys pass: for blocks that only the provider can read. */
export const open = (required: Fields, optional: Fields = {}): Check => fieldsOf(required, optional, null)

function fieldsOf(required: Fields, optional: Fields, extra: ((path: string) => string) | null): Check {
  const missing = (path: string): string => `${path}: Field required`
  return (value, path) =>
    isRecord(value)
      ? wrongField(value, path, required, optional, missing, extra)
      : `${path || 'body'}: Input should be a valid dictionary`
}

/** The first field that is wrong: required ones, then optional ones, then one that nobody knows unless `extra` is null. */
export function wrongField<Wrong>(
  value: Readonly<Record<string, unknown>>,
  path: string,
  required: Fields<Wrong>,
  optional: Fields<Wrong>,
  missing: (path: string) => Wrong,
  extra: ((path: string) => Wrong) | null,
): Wrong | null {
  const below = (key: string): string => (path === '' ? key : `${path}.${key}`)
  for (const [key, check] of Object.entries(required)) {
    const wrong = value[key] === undefined ? missing(below(key)) : check(value[key], below(key))
    if (wrong !== null) return wrong
  }
  for (const [key, check] of Object.entries(optional)) {
    const wrong = value[key] === undefined ? null : check(value[key], below(key))
    if (wrong !== null) return wrong
  }
  const known = (key: string): boolean => Object.hasOwn(required, key) || Object.hasOwn(optional, key)
  const unknown = extra === null ? undefined : Object.keys(value).find((key) => !known(key))
  return unknown === undefined ? null : extra!(below(unknown))
}

/** A union told apart by `type`; the tag becomes part of the path, as in the real texts. */
export function tagged(members: Readonly<Record<string, Check>>): Check {
  const expected = Object.keys(members)
    .map((each) => `'${each}'`)
    .join(', ')
  return (value, path) => {
    if (!isRecord(value)) return `${path}: Input should be a valid dictionary`
    const tag = value['type']
    if (tag === undefined) return `${path}.type: Field required`
    if (typeof tag !== 'string') return isText(tag, `${path}.type`)
    const member = Object.hasOwn(members, tag) ? members[tag] : undefined
    if (member === undefined) {
      return `${path}: Input tag '${tag}' found using 'type' does not match any of the expected tags: ${expected}`
    }
    return member(value, `${path}.${tag}`)
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The records of a list; none where it is no list. */
export const recordsIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] =>
  Array.isArray(value) ? value.filter(isRecord) : []

/** The value a text is the JSON of; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
