// The adapter to the Messages API, on the official SDK. It sends the body it is given, byte for byte: the SDK passes
// a string through untouched when its content type is set, and adds its headers (version, authorisation, agent).
// The SDK is loaded with the first request.
import type { BaseAnthropic } from '@anthropic-ai/sdk'
import { finalVerdict, NotReady, reasonOf, type Connection, type Received } from '../../model/attempts.ts'
import type { ServerRefusal } from '../../model/failure.ts'
import type { Model, ModelRequest } from '../../model/model.ts'
import { errorBody } from '../../model/overflow.ts'
import { checkBaseUrl, modelOn, type AdapterOptions } from '../adapter.ts'
import { anthropicWire } from './wire.ts'

export interface AnthropicOptions extends Omit<AdapterOptions, 'headers' | 'query'> {
  /** In place of a key; the key wins when both are given. */
  readonly authToken?: string | undefined
}

/** The Messages API as a model: streaming, retries, refusals in words. Without a key its first answer is a failure that says so. */
export const anthropicModel = (options: AnthropicOptions): Model =>
  modelOn(anthropicWire, options, () => openConnection(options))

async function openConnection(options: AnthropicOptions): Promise<Connection> {
  const { apiKey, authToken, baseUrl = null } = options
  if (!apiKey && !authToken)
    throw new NotReady('unauthorized', 'no key was given; pass `apiKey` or `authToken` to anthropicModel')
  checkBaseUrl(baseUrl)
  const { BaseAnthropic, Stream } = await import('./sdk.ts').catch((error: unknown) => {
    throw new NotReady('invalid', `the SDK could not be loaded: ${reasonOf(error)}`)
  })
  const client = new BaseAnthropic({
    ...(apiKey ? { apiKey } : { authToken: authToken ?? null }),
    // Null, not undefined: for undefined the SDK would look into the environment.
    baseURL: baseUrl,
    ...(options.fetch === undefined ? {} : { fetch: options.fetch }),
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
  })
  return {
    async *send(request, guard) {
      const response = await post(client, request, guard.signal)
      const header = (name: string): string | null => response.headers.get(name)
      if (response.body === null || /json|html/.test(header('content-type') ?? '')) {
        yield receivedText(await response.text(), header)
        return
      }
      // Every byte counts as life, also one that completes no event.
      const transform = (chunk: Uint8Array, out: TransformStreamDefaultController<Uint8Array>): void => {
        guard.touch()
        out.enqueue(chunk)
      }
      const body = response.body.pipeThrough(new TransformStream<Uint8Array, Uint8Array>({ transform }))
      for await (const { event: name, data } of Stream.rawEvents(new Response(body))) {
        const event = eventOf(name, data)
        if (isError(name, event)) {
          yield { refusal: { status: null, text: data, header } }
          return
        }
        if (event !== null) yield { event }
      }
    },
    count: (body, request, guard) =>
      client.post('/v1/messages/count_tokens', { body, headers: headersOf(request), signal: guard.signal }),
  }
}

function headersOf({ betas, source }: ModelRequest): Readonly<Record<string, string>> {
  return {
    'content-type': 'application/json',
    'x-palimpsest-source': encodeURIComponent(source),
    ...(betas.length === 0 ? {} : { 'anthropic-beta': betas.join(',') }),
  }
}

function post(client: BaseAnthropic, request: ModelRequest, signal: AbortSignal): Promise<Response> {
  const headers = headersOf(request)
  return client.post('/v1/messages', { body: request.body, headers, stream: true, signal }).asResponse()
}

/** An answer that is no stream: an error a gateway has passed on with a good status, or no answer of this API. */
function receivedText(text: string, header: ServerRefusal['header']): Received {
  const { type, code } = errorBody(text)
  const isRefusal = (type !== null && type !== 'message') || code !== null
  return isRefusal
    ? { refusal: { status: null, text, header } }
    : { verdict: finalVerdict('invalid', 'the answer is not an event stream') }
}

const spoken = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
])

/** The data of an event. What cannot be read matters only where it is an event we know. */
function eventOf(name: string | null, data: string): unknown {
  try {
    return JSON.parse(data)
  } catch (error) {
    if (name === null || !spoken.has(name)) return null
    throw new Error(`an event of the stream could not be read (${name})`, { cause: error })
  }
}

/** The name of an event is a hint: gateways leave it out. */
const isError = (name: string | null, event: unknown): boolean =>
  name === 'error' ||
  (typeof event === 'object' && event !== null && 'type' in event && event.type === 'error')
