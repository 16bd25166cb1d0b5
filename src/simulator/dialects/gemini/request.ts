// The body of generateContent in one form: keys in either case become one, unknown ones are refused in Google's words.
import type { Json } from '../front.ts'
import { isRecord } from '../../rules/shape.ts'

export interface GeminiPart {
  readonly text?: string
  readonly thought?: boolean
  readonly thoughtSignature?: string
  readonly inlineData?: Readonly<Record<string, unknown>>
  readonly fileData?: Readonly<Record<string, unknown>>
  readonly functionCall?: { readonly id?: string; readonly name: string; readonly args?: Json }
  readonly functionResponse?: { readonly id?: string; readonly name: string; readonly response?: Json }
}

export interface GeminiContent {
  readonly role?: string
  readonly parts: readonly GeminiPart[]
}

export interface GeminiBody {
  readonly contents: readonly GeminiContent[]
  readonly systemInstruction?: GeminiContent
  readonly tools?: readonly Json[]
  readonly toolConfig?: Json
  readonly generationConfig?: Json
  readonly cachedContent?: string
}

type Level = (value: unknown, path: string) => unknown

const camel = (key: string): string =>
  key.replaceAll(/_([a-z])/gu, (_, letter: string) => letter.toUpperCase())
const snake = (key: string): string => key.replaceAll(/[A-Z]/gu, (letter) => `_${letter.toLowerCase()}`)

/** Thrown inside this file alone: the first field that is wrong. */
class Misshapen extends Error {}

const unknownName = (key: string, path: string): Misshapen =>
  new Misshapen(
    `Invalid JSON payload received. Unknown name "${key}"${path === '' ? '' : ` at '${path}'`}: Cannot find field.`,
  )
const invalidValue = (path: string, type: string, value: unknown): Misshapen =>
  new Misshapen(`Invalid value at '${path}' (${type}), ${JSON.stringify(value)}`)

const STRUCT = 'type.googleapis.com/google.protobuf.Struct'
const text: Level = (value, path) => {
  if (typeof value !== 'string') throw invalidValue(path, 'TYPE_STRING', value)
  return value
}
const flag: Level = (value, path) => {
  if (typeof value !== 'boolean') throw invalidValue(path, 'TYPE_BOOL', value)
  return value
}
const struct: Level = (value, path) => {
  if (!isRecord(value)) throw invalidValue(path, STRUCT, value)
  return value
}
const bytes: Level = (value, path) => {
  if (typeof value !== 'string') throw invalidValue(path, 'TYPE_BYTES', value)
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/u.test(value))
    throw new Misshapen(
      `Invalid value at '${path}' (TYPE_BYTES), Base64 decoding failed for ${JSON.stringify(value)}`,
    )
  return value
}
const whatever: Level = (value) => value

function message(fields: Readonly<Record<string, Level>>): Level {
  return (value, path) => {
    if (!isRecord(value)) throw new Misshapen(`Invalid value at '${path}', ${JSON.stringify(value)}`)
    const known: Record<string, unknown> = {}
    for (const [key, each] of Object.entries(value)) {
      const name = camel(key)
      const level = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (level === undefined) throw unknownName(key, path)
      if (each !== null) known[name] = level(each, path === '' ? snake(name) : `${path}.${snake(name)}`)
    }
    return known
  }
}

function repeated(item: Level): Level {
  return (value, path) => {
    // A single message is taken for a list of one, as protocol buffers do.
    const list: readonly unknown[] = Array.isArray(value) ? value : [value]
    return list.map((each, index) => item(each, `${path}[${index}]`))
  }
}

const open = (...names: readonly string[]): Readonly<Record<string, Level>> =>
  Object.fromEntries(names.map((name) => [name, whatever]))

const part = message({
  ...open('videoMetadata', 'mediaResolution', 'partMetadata', 'executableCode', 'codeExecutionResult'),
  ...open('toolCall', 'toolResponse', 'mediaProcessing', 'speechMetadata', 'audioTranscription'),
  text,
  thought: flag,
  thoughtSignature: bytes,
  inlineData: message({ mimeType: text, data: bytes, displayName: text }),
  fileData: message({ mimeType: text, fileUri: text, displayName: text }),
  functionCall: message({ id: text, name: text, args: struct, partialArgs: whatever, willContinue: flag }),
  functionResponse: message({
    ...open('willContinue', 'scheduling', 'parts'),
    id: text,
    name: text,
    response: struct,
  }),
})
const content = message({ role: text, parts: repeated(part) })
const declaration = message({
  ...open('parameters', 'parametersJsonSchema', 'response', 'responseJsonSchema', 'behavior'),
  name: text,
  description: text,
})
const tool = message({
  ...open('googleSearch', 'googleSearchRetrieval', 'codeExecution', 'urlContext', 'computerUse'),
  ...open('googleMaps', 'fileSearch', 'retrieval', 'enterpriseWebSearch', 'mcpServers'),
  functionDeclarations: repeated(declaration),
})
const generationConfig = message({
  ...open('temperature', 'topP', 'topK', 'candidateCount', 'maxOutputTokens', 'stopSequences', 'seed'),
  ...open('responseMimeType', 'responseSchema', 'responseJsonSchema', 'responseModalities', 'responseFormat'),
  ...open('presencePenalty', 'frequencyPenalty', 'responseLogprobs', 'logprobs', 'mediaResolution'),
  ...open('speechConfig', 'audioTimestamp', 'imageConfig', 'enableEnhancedCivicAnswers', 'routingConfig'),
  thinkingConfig: message(open('includeThoughts', 'thinkingBudget', 'thinkingLevel')),
})
const fields: Readonly<Record<string, Level>> = {
  ...open('safetySettings', 'labels', 'serviceTier', 'store'),
  contents: repeated(content),
  systemInstruction: content,
  tools: repeated(tool),
  toolConfig: message(open('functionCallingConfig', 'retrievalConfig', 'includeServerSideToolInvocations')),
  generationConfig,
  cachedContent: text,
  model: text,
}
const body = message(fields)
const countBody = message({ contents: repeated(content), generateContentRequest: body, model: text })

export type GeminiRead =
  | { readonly ok: true; readonly body: GeminiBody }
  | { readonly ok: false; readonly message: string }

export function readGemini(value: unknown): GeminiRead {
  return within(() => body(value, '') as GeminiBody)
}

/** Counting takes contents alone, or a whole request below its own name. */
export function readGeminiCount(value: unknown): GeminiRead {
  return within(() => {
    const read = countBody(value, '') as Json
    const whole = read['generateContentRequest']
    return withContents(isRecord(whole) ? whole : read)
  })
}

/** The levels have checked every field that is there. */
const withContents = (read: Json): GeminiBody => ({ contents: [], ...read })

function within(read: () => GeminiBody): GeminiRead {
  try {
    return { ok: true, body: read() }
  } catch (error) {
    if (error instanceof Misshapen) return { ok: false, message: error.message }
    throw error
  }
}
