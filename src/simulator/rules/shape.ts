// A very small schema language that answers in the words of the real API: one isText with the path of the first
// field that is wrong, or null. Known fields are looked at first, unknown keys after them.

export type Check = (value: unknown, path: string) => string | null
export type Fields = Readonly<Record<string, Check>>

export const anything: Check = () => null

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

export function nullable(check: Check): Check {
  return (value, path) => (value === null ? null : check(value, path))
}

export function list(item: Check): Check {
  return (value, path) => {
    if (!Array.isArray(value)) return `${path}: Input should be a valid list`
    for (const [index, each] of value.entries()) {
      const wrong = item(each, `${path}.${index}`)
      if (wrong !== null) return wrong
    }
    return null
  }
}

export function textOr(other: Check): Check {
  return (value, path) => (typeof value === 'string' ? null : other(value, path))
}

export function record(required: Fields, optional: Fields = {}): Check {
  const loose = open(required, optional)
  return (value, path) => {
    const wrong = loose(value, path)
    if (wrong !== null || !isRecord(value)) return wrong
    const extra = Object.keys(value).find(
      (key) => !Object.hasOwn(required, key) && !Object.hasOwn(optional, key),
    )
    return extra === undefined ? null : `${join(path, extra)}: Extra inputs are not permitted`
  }
}

/** Like `record`, but further keys pass: for blocks that only the provider can read. */
export function open(required: Fields, optional: Fields = {}): Check {
  return (value, path) => {
    if (!isRecord(value)) return `${path || 'body'}: Input should be a valid dictionary`
    for (const [key, check] of Object.entries(required)) {
      if (value[key] === undefined) return `${join(path, key)}: Field required`
      const wrong = check(value[key], join(path, key))
      if (wrong !== null) return wrong
    }
    for (const [key, check] of Object.entries(optional)) {
      const wrong = value[key] === undefined ? null : check(value[key], join(path, key))
      if (wrong !== null) return wrong
    }
    return null
  }
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

/** The value a text is the JSON of; undefined for any other text. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function join(path: string, key: string): string {
  return path === '' ? key : `${path}.${key}`
}
