// A tool of an embedder's own, from a schema: what the model is shown and what checks its input are one thing. Any library
// that follows Standard Schema will do (zod, valibot, arktype); those that cannot write JSON Schema hand it in beside.
import { errorText } from '../disk/failure.ts'
import { defaults } from '../settings/defaults.ts'
import type { UserBlock } from '../transcript/content.ts'
import { failed, outcomeFrom } from './outcome.ts'
import type { ResultPolicy, Tool, ToolEnv, ToolOutcome } from './tool.ts'

/** The part of the Standard Schema convention that a tool needs. */
export interface SchemaOf<Input> {
  readonly '~standard': {
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Input> | Promise<Validated<Input>>
    readonly types?: { readonly output: Input } | undefined
    readonly jsonSchema?:
      | { readonly input: (how: { readonly target: 'draft-2020-12' }) => Readonly<Record<string, unknown>> }
      | undefined
  }
}

type Validated<Input> =
  | { readonly value: Input; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

interface SchemaIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export interface ToolDefinition<Input> {
  readonly name: string
  /** For the model: what it does, when to use it, what its limits are. */
  readonly description: string
  readonly input: SchemaOf<Input>
  /** Only for a library that cannot write it itself. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
  /** What the model gets to read. What is thrown becomes a result that says so. */
  readonly run: (
    input: Input,
    context: ToolEnv & { readonly signal: AbortSignal },
  ) => ToolReply | Promise<ToolReply>
  /** It changes nothing, so several calls may run side by side; false if left out. */
  readonly readOnly?: boolean | undefined
  /** What may happen to its results when room is needed; `clear` if left out. */
  readonly results?: ResultPolicy | undefined
  /** Largest result the model sees whole; the rest is kept beside the session. */
  readonly maxResultChars?: number | undefined
}

export type ToolReply = string | readonly UserBlock[] | ToolOutcome

/** Throws where the definition itself is wrong: that is a mistake in the program, found at its start. */
export function tool<Input>(definition: ToolDefinition<Input>): Tool<Input> {
  const { name, description, input: schema, run } = definition
  const wrong = wrongIn(definition)
  if (wrong !== null) throw new TypeError(`tool ${JSON.stringify(name)}: ${wrong}`)
  const { $schema: _, ...inputSchema } = jsonSchemaOf(definition)
  if (inputSchema['type'] !== 'object')
    throw new TypeError(`tool ${JSON.stringify(name)}: its input must be an object, as z.object({ … }) is`)
  return {
    spec: { name, description, input_schema: inputSchema },
    policy: {
      readOnly: definition.readOnly ?? false,
      results: definition.results ?? 'clear',
      maxResultChars: definition.maxResultChars ?? defaults.tools.maxResultChars,
    },
    parse(input) {
      const checked = schema['~standard'].validate(input)
      if (checked instanceof Promise)
        return { ok: false, why: 'its schema checks asynchronously; check that in `run` instead' }
      return checked.issues === undefined
        ? { ok: true, input: checked.value }
        : { ok: false, why: checked.issues.map(issueText).join('; ') }
    },
    async run(input, env, signal) {
      try {
        const given = outcomeFrom(await run(input, { ...env, signal }))
        return given.ok ? given.outcome : failed(`${name} gave no result: ${given.why}`)
      } catch (error) {
        return failed(errorText(error))
      }
    },
  }
}

function wrongIn<Input>({ name, description, input, run }: Partial<ToolDefinition<Input>>): string | null {
  if (typeof name !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
    return 'its name must be 1 to 64 letters, digits, _ or -'
  if (typeof description !== 'string' || description.trim() === '')
    return 'it needs a description, which is all the model knows of it'
  if (typeof run !== 'function') return 'it needs a function `run`'
  if (typeof input?.['~standard']?.validate !== 'function')
    return '`input` must be a schema of a library that follows Standard Schema, such as z.object({ … }) of zod'
  return null
}

function jsonSchemaOf<Input>({ name, input, jsonSchema }: ToolDefinition<Input>): Record<string, unknown> {
  const { vendor, jsonSchema: writer } = input['~standard']
  const written = jsonSchema ?? writer?.input({ target: 'draft-2020-12' })
  if (written === undefined)
    throw new TypeError(
      `tool ${JSON.stringify(name)}: ${vendor} cannot write JSON Schema; give it as \`jsonSchema\``,
    )
  return { ...written }
}

function issueText({ message, path = [] }: SchemaIssue): string {
  const place = path.map((step) => String(typeof step === 'object' ? step.key : step)).join('.')
  return place === '' ? message : `\`${place}\`: ${message}`
}
