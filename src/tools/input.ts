// The input of a tool, declared once: the JSON schema that the model sees and the check of what it sends come from the
// same fields, so that they cannot drift apart. Numbers and booleans sent as text are taken as meant; `null` for a field
// that may be left out means left out. A refusal names the field.
import type { OrWhy } from '../disk/failure.ts'
import { isRecord } from '../transcript/content.ts'
import type { ToolSpec } from '../transcript/fact.ts'
import type { Tool } from './tool.ts'

export type Checked<T> = OrWhy<{ readonly value: T }>

export interface Field<T> {
  readonly schema: Readonly<Record<string, unknown>>
  readonly required: boolean
  check(value: unknown, name: string): Checked<T>
}

export type InputOf<F> = { readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never }

export interface InputShape<T> {
  readonly schema: Readonly<Record<string, unknown>>
  parse(input: Readonly<Record<string, unknown>>): OrWhy<{ readonly input: T }>
}

/** A field whose name says it all has no description: every request would pay for it. */
const field = <T>(
  type: string,
  description: string,
  limits: Readonly<Record<string, unknown>>,
  check: Field<T>['check'],
): Field<T> => ({
  schema: { type, ...(description === '' ? {} : { description }), ...limits },
  required: true,
  check,
})

const refuse = (why: string) => ({ ok: false, why }) as const

/** Words. */
export function text(description: string, maxChars?: number): Field<string> {
  return field('string', description, {}, (value, name) => {
    if (typeof value !== 'string') return refuse(`\`${name}\` must be text, not ${kindOf(value)}`)
    if (maxChars !== undefined && value.length > maxChars)
      return refuse(`\`${name}\` is longer than ${maxChars} characters`)
    return { ok: true, value }
  })
}

/** A whole number within limits. */
export function whole(description: string, from: number, to?: number): Field<number> {
  const limits = { minimum: from, ...(to !== undefined && { maximum: to }) }
  return field('integer', description, limits, (value, name) => {
    const number = typeof value === 'string' && /^-?[0-9]{1,15}$/.test(value) ? Number(value) : value
    if (typeof number !== 'number' || !Number.isSafeInteger(number))
      return refuse(`\`${name}\` must be a whole number, not ${kindOf(value)}`)
    if (number >= from && (to === undefined || number <= to)) return { ok: true, value: number }
    const allowed = to === undefined ? `at least ${from}` : `from ${from} to ${to}`
    return refuse(`\`${name}\` is ${number}, but must be ${allowed}`)
  })
}

/** True or false. */
export function flag(description: string): Field<boolean> {
  return field('boolean', description, {}, (value, name) => {
    const meant = value === 'true' ? true : value === 'false' ? false : value
    return typeof meant === 'boolean'
      ? { ok: true, value: meant }
      : refuse(`\`${name}\` must be true or false, not ${kindOf(value)}`)
  })
}

/** One of several words. */
export function choice<const T extends string>(description: string, values: readonly T[]): Field<T> {
  return field('string', description, { enum: values }, (value, name) => {
    const found = values.find((one) => one === value)
    return found === undefined
      ? refuse(`\`${name}\` must be one of ${values.join(', ')}`)
      : { ok: true, value: found }
  })
}

/** A list of one kind of field. */
export function list<T>(description: string, of: Field<T>, most: number): Field<readonly T[]> {
  return field('array', description, { items: of.schema, maxItems: most }, (value, name) => {
    if (!Array.isArray(value)) return refuse(`\`${name}\` must be a list, not ${kindOf(value)}`)
    if (value.length > most)
      return refuse(`\`${name}\` has ${value.length} items; at most ${most} are allowed`)
    const out: T[] = []
    for (const [at, item] of value.entries()) {
      const checked = of.check(item, `${name}[${at}]`)
      if (!checked.ok) return checked
      out.push(checked.value)
    }
    return { ok: true, value: out }
  })
}

/** Fields inside a field. */
export function object<F extends Readonly<Record<string, Field<unknown>>>>(fields: F): Field<InputOf<F>> {
  const names = Object.keys(fields)
  const inner = {
    properties: Object.fromEntries(names.map((name) => [name, fields[name]!.schema])),
    required: names.filter((name) => fields[name]!.required),
  }
  return field('object', '', inner, (value, name) => {
    if (!isRecord(value)) return refuse(`\`${name}\` must be an object, not ${kindOf(value)}`)
    const within = (key: string) => (name === '' ? key : `${name}.${key}`)
    const strange = Object.keys(value).find((key) => !Object.hasOwn(fields, key))
    if (strange !== undefined)
      return refuse(`there is no \`${within(strange)}\`; the fields are ${names.join(', ')}`)
    const out: Record<string, unknown> = {}
    for (const key of names) {
      const given = Object.hasOwn(value, key) ? value[key] : undefined
      if (given === undefined && fields[key]!.required) return refuse(`\`${within(key)}\` is missing`)
      const checked = fields[key]!.check(given, within(key))
      if (!checked.ok) return checked
      out[key] = checked.value
    }
    // Each field has been checked by its own declaration, from which the type follows.
    return { ok: true, value: out as InputOf<F> }
  })
}

/** A field that may be left out. */
export function optional<T>(given: Field<T>): Field<T | undefined> {
  return {
    schema: given.schema,
    required: false,
    check: (value, name) =>
      value === undefined || value === null ? { ok: true, value: undefined } : given.check(value, name),
  }
}

/** The whole input of a tool. */
export function inputShape<F extends Readonly<Record<string, Field<unknown>>>>(
  fields: F,
): InputShape<InputOf<F>> {
  const whole = object(fields)
  return {
    schema: whole.schema,
    parse(input) {
      const checked = whole.check(input, '')
      return checked.ok ? { ok: true, input: checked.value } : checked
    },
  }
}

/** A tool whose input is declared by fields. */
export function toolWith<F extends Readonly<Record<string, Field<unknown>>>>(
  fields: F,
  {
    name,
    description,
    policy,
    run,
  }: Omit<ToolSpec, 'input_schema'> & Pick<Tool<InputOf<F>>, 'policy' | 'run'>,
): Tool<InputOf<F>> {
  const shape = inputShape(fields)
  const spec = { name, description, input_schema: shape.schema }
  return { spec, policy, parse: (input) => shape.parse(input), run }
}

const kindOf = (value: unknown) =>
  value === null
    ? 'null'
    : Array.isArray(value)
      ? 'a list'
      : typeof value === 'string'
        ? 'text'
        : typeof value === 'object'
          ? 'an object'
          : `a ${typeof value}`
