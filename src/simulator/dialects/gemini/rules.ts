// What the Gemini API refuses beyond the shape: roles, empty parts, calls and responses, thought signatures of the current turn.
import type { Json } from '../front.ts'
import type { DialectModel } from '../models.ts'
import { openContent } from '../../rules/seal.ts'
import { recordsIn } from '../../rules/shape.ts'
import type { GeminiBody, GeminiContent, GeminiPart } from './request.ts'
import { stringOf } from '../../rules/blocks.ts'

/** Google's own value for history that another model made. */
const SKIPPED_SIGNATURE = 'skip_thought_signature_validator'

const DATA_KEYS = [
  'text',
  'inlineData',
  'fileData',
  'functionCall',
  'functionResponse',
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
]
const FUNCTION_NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/

export interface GeminiTurn {
  readonly role: 'user' | 'model'
  readonly parts: readonly GeminiPart[]
  /** Index of its first content. */
  readonly at: number
}

export function geminiTurns(contents: readonly GeminiContent[]): readonly GeminiTurn[] {
  const turns: { role: 'user' | 'model'; parts: GeminiPart[]; at: number }[] = []
  for (const [at, { role, parts }] of contents.entries()) {
    const side = role === 'model' ? 'model' : 'user'
    const last = turns.at(-1)
    if (last?.role === side) last.parts.push(...parts)
    else turns.push({ role: side, parts: [...parts], at })
  }
  return turns
}

/** The text of the refusal, or null. */
export function checkGeminiRules(
  body: GeminiBody,
  model: DialectModel,
  secret: string | null,
): string | null {
  return (
    checkContents(body) ??
    checkTools(body) ??
    checkGeneration(body) ??
    checkTurns(geminiTurns(body.contents)) ??
    checkSignatures(geminiTurns(body.contents), model, secret)
  )
}

function checkContents(body: GeminiBody): string | null {
  const contents = (body as { contents?: GeminiBody['contents'] }).contents ?? []
  if (contents.length === 0) return '* GenerateContentRequest.contents: contents is not specified\n'
  const all = contents.map((content, index) => [`contents[${index}]`, content] as const)
  const system = body.systemInstruction
  const placed = system === undefined ? all : [['system_instruction', system] as const, ...all]
  for (const [path, { role, parts }] of placed) {
    if (path !== 'system_instruction' && role !== undefined && !['user', 'model', 'function'].includes(role))
      return 'Please use a valid role: user, model.'
    if (((parts as readonly GeminiPart[] | undefined) ?? []).length === 0)
      return `* GenerateContentRequest.${path}.parts: contents.parts must not be empty.\n`
    for (const [index, part] of parts.entries()) {
      const given = DATA_KEYS.filter((key) => (part as Json)[key] !== undefined)
      if (given.length === 0)
        return `* GenerateContentRequest.${path}.parts[${index}].data: required oneof field 'data' must have one initialized field\n`
      if (given.length > 1)
        return `Invalid value at '${path}.parts[${index}]' (oneof), oneof field 'data' is already set. Cannot set '${given[1] ?? ''}'`
    }
  }
  return null
}

function checkTools(body: GeminiBody): string | null {
  const names = new Set<string>()
  for (const [index, tool] of (body.tools ?? []).entries()) {
    for (const [at, each] of recordsIn(tool['functionDeclarations']).entries()) {
      const name = stringOf(each['name'])
      const path = `* GenerateContentRequest.tools[${index}].function_declarations[${at}].name`
      if (!FUNCTION_NAME.test(name))
        return `${path}: Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n`
      if (names.has(name)) return `Duplicate function declaration found: ${name}`
      names.add(name)
    }
  }
  return null
}

function checkGeneration({ generationConfig: config = {}, cachedContent }: GeminiBody): string | null {
  if (cachedContent !== undefined) return 'CachedContent not found (or permission denied)'
  const candidates = config['candidateCount']
  if (typeof candidates === 'number' && candidates > 1)
    return 'Multiple candidates is not enabled for this model'
  return null
}

const PAIRS =
  'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.'
const CALL_PLACE =
  'Please ensure that function call turn comes immediately after a user turn or after a function response turn.'
const RESPONSE_PLACE =
  'Please ensure that function response turn comes immediately after a function call turn.'

const callsIn = (turn: GeminiTurn | undefined) =>
  (turn?.parts ?? []).flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall]))
const responsesIn = (turn: GeminiTurn | undefined) =>
  (turn?.parts ?? []).flatMap(({ functionResponse }) =>
    functionResponse === undefined ? [] : [functionResponse],
  )

function checkTurns(turns: readonly GeminiTurn[]): string | null {
  for (const [index, turn] of turns.entries()) {
    const before = turns[index - 1]
    const after = turns[index + 1]
    const calls = callsIn(turn)
    if (calls.length > 0 && turn.role === 'user') return CALL_PLACE
    if (calls.length > 0 && before?.role !== 'user') return CALL_PLACE
    if (calls.length > 0) {
      const responses = responsesIn(after)
      if (responses.length !== calls.length) return PAIRS
      const mismatch = calls.some(({ id, name }, at) => !matches(responses[at], id, name))
      if (mismatch) return PAIRS
    }
    if (responsesIn(turn).length > 0 && (turn.role === 'model' || callsIn(before).length === 0))
      return RESPONSE_PLACE
  }
  if (turns[0]?.role !== 'user') return 'Please ensure that multiturn requests start with a user role.'
  return turns.at(-1)?.role === 'user'
    ? null
    : 'Please ensure that multiturn requests end with a user role or a function response.'
}

/** Order and ids are those of the calls; an id that was left out is not compared. */
function matches(
  response: { readonly id?: string; readonly name: string } | undefined,
  id: string | undefined,
  name: string,
): boolean {
  if (response === undefined || response.name !== name) return false
  return id === undefined || response.id === undefined || response.id === id
}

/** Only behind the user's last own words, and there the first call of each step. */
function checkSignatures(
  turns: readonly GeminiTurn[],
  model: DialectModel,
  secret: string | null,
): string | null {
  const asked = turns.findLastIndex((turn) => turn.role === 'user' && responsesIn(turn).length === 0)
  for (const turn of turns.slice(asked + 1)) {
    const first = turn.parts.find((part) => part.functionCall !== undefined)
    if (first?.functionCall === undefined) continue
    const { thoughtSignature: signature } = first
    if (signature === undefined || signature === '') {
      if (!model.signs) continue
      return (
        'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, ' +
        'and missing thought_signature may lead to degraded model performance. Additional data, function call ' +
        `\`default_api:${first.functionCall.name}\` , position ${turn.at + 1}. ` +
        'Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.'
      )
    }
    const wrong = secret === null ? null : checkSignature(signature, model, secret)
    if (wrong !== null) return wrong
  }
  return null
}

function checkSignature(signature: string, model: DialectModel, secret: string): string | null {
  if (signature === SKIPPED_SIGNATURE) return null
  const seal = openContent(secret, signature)
  if (seal?.kind !== 'thought') return 'Corrupted thought signature.'
  return seal.model === model.id ? null : 'Invalid thought signature.'
}
