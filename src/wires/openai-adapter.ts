// The adapters to both APIs of OpenAI and to servers that speak like them, on the official SDK. The body goes out byte for
// byte: the SDK passes a string through untouched when its content type is set. The SDK is loaded with the first request.
import { jsonIn } from '../transcript/json.ts'
import { NotReady, type Connection, type Received } from '../model/attempts.ts'
import type { Model, ModelRequest } from '../model/model.ts'
import { checkBaseUrl, modelOn, optionalPackage, type AdapterOptions } from './adapter.ts'
import { done } from './openai-chat/reader.ts'
import { openAiChatWire } from './openai-chat/wire.ts'
import { openAiResponsesWire } from './openai-responses/wire.ts'

export interface OpenAiOptions extends AdapterOptions {
  /** The header that carries the key; `Authorization` by default. With `none` a key may be missing. */
  readonly keyHeader?: 'authorization' | 'api-key' | 'none' | undefined
}

/** Chat Completions as a model, of OpenAI or of a server that speaks like it. Needs the package `openai`. */
export const openAiChatModel = (options: OpenAiOptions): Model =>
  modelOn(openAiChatWire, options, () => openConnection('/chat/completions', options))

/** The Responses API as a model. Needs the package `openai`. */
export const openAiResponsesModel = (options: OpenAiOptions): Model =>
  modelOn(openAiResponsesWire, options, () => openConnection('/responses', options))

async function openConnection(path: string, options: OpenAiOptions): Promise<Connection> {
  const { apiKey = '', baseUrl = null, keyHeader = 'authorization' } = options
  if (apiKey === '' && keyHeader !== 'none') throw new NotReady('unauthorized', 'no API key was given')
  checkBaseUrl(baseUrl)
  const { OpenAI } = await optionalPackage('openai', () => import('openai'))
  const client = new OpenAI({
    apiKey: apiKey === '' ? 'none' : apiKey,
    // Null, not undefined: for undefined the SDK would look into the environment.
    baseURL: baseUrl,
    organization: null,
    project: null,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    maxRetries: 0,
    logLevel: 'off',
  })
  const key = keyHeader === 'api-key' ? { 'api-key': apiKey } : {}
  const headersFor = ({ source }: ModelRequest) => ({
    ...(keyHeader === 'api-key' || apiKey === '' ? { authorization: null } : {}),
    ...key,
    'content-type': 'application/json',
    'x-palimpsest-source': encodeURIComponent(source),
    ...options.headers,
  })
  return {
    async *send(request, guard) {
      const headers = headersFor(request)
      const asked = { body: request.body, headers, query: options.query, signal: guard.signal }
      const response = await client.post(path, { ...asked, stream: true }).asResponse()
      yield* receivedFrom(response, () => guard.touch())
    },
    count: (body, request, guard) =>
      client.post(`${path}/input_tokens`, {
        body,
        headers: headersFor(request),
        query: options.query,
        signal: guard.signal,
      }),
  }
}

async function* receivedFrom(response: Response, touch: () => void): AsyncGenerator<Received> {
  const header = (name: string): string | null => response.headers.get(name)
  if (response.body === null || /json|html/.test(header('content-type') ?? '')) {
    yield receivedText(await response.text(), header)
    return
  }
  for await (const data of eventsIn(response.body, touch)) {
    if (data.trim() === done) yield { event: done }
    else {
      const event = jsonIn(data)
      if (event === undefined) throw new Error('an event of the stream could not be read')
      yield { event }
    }
  }
}

/** An answer that is no stream: an error a gateway has passed on with a good status, or the whole answer at once. */
function receivedText(text: string, header: (name: string) => string | null): Received {
  const body = jsonIn(text)
  if (typeof body === 'object' && body !== null && !('error' in body && body.error)) return { event: body }
  return { refusal: { status: null, text, header } }
}

// Server-sent events out of bytes, as every provider streams them: fields by line, an empty line between events. Comments and
// fields that nobody asked for are passed over; what is left unfinished at the end was never sent.

/** The data of each event. */
async function* eventsIn(body: ReadableStream<Uint8Array>, touch: () => void): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  let data: string[] = []
  // Whoever stops listening lets go of the connection: leaving the loop cancels the stream.
  for await (const chunk of body) {
    touch()
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
    rest = lines.pop() ?? ''
    for (const line of lines) {
      if (line === '') {
        if (data.length > 0) yield data.join('\n')
        data = []
        continue
      }
      const [field, value] = fieldOf(line)
      if (field === 'data') data.push(value)
    }
  }
  // Some servers end without the empty line.
  const [field, value] = fieldOf(rest.replace(/\r$/, ''))
  if (field === 'data') data.push(value)
  if (data.length > 0) yield data.join('\n')
}

function fieldOf(line: string): readonly [field: string, value: string] {
  const colon = line.indexOf(':')
  if (colon < 0) return [line, '']
  const value = line.slice(colon + 1)
  return [line.slice(0, colon), value.startsWith(' ') ? value.slice(1) : value]
}
