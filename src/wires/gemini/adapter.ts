// The adapter to the Gemini API, on the official SDK: its client makes the address, the key and the headers, and sends the body
// it is given byte for byte. The typed methods of the SDK would write the body anew. It is loaded with the first request.
import { NotReady, type Connection } from '../../model/attempts.ts'
import type { Model, ModelRequest } from '../../model/model.ts'
import { checkBaseUrl, modelOn, optionalPackage, type AdapterOptions } from '../adapter.ts'
import { geminiWire } from './wire.ts'

const publicApi = 'https://generativelanguage.googleapis.com/'

interface Posted {
  readonly path: string
  readonly queryParams?: Readonly<Record<string, string>> | undefined
  readonly body: string
  readonly httpMethod: 'POST'
  readonly httpOptions: object
  readonly abortSignal: AbortSignal
}
interface Answered {
  json(): Promise<unknown>
}

/** The part of the SDK's client that carries bytes. */
interface Carrier {
  requestStream(asked: Posted): Promise<AsyncIterable<Answered>>
  request(asked: Posted): Promise<Answered>
}

/** The Gemini API as a model. Needs the package `@google/genai`. */
export const geminiModel = (options: AdapterOptions): Model =>
  modelOn(geminiWire, options, () => openConnection(options))

async function openConnection(options: AdapterOptions): Promise<Connection> {
  const { apiKey = '', baseUrl = null } = options
  if (apiKey === '') throw new NotReady('unauthorized', 'no API key was given')
  checkBaseUrl(baseUrl)
  const { GoogleGenAI } = await optionalPackage('@google/genai', () => import('@google/genai'))
  const carrier = carrierIn(
    new GoogleGenAI({
      apiKey,
      vertexai: false,
      httpOptions: {
        // Always named: without one the SDK would look into the environment.
        baseUrl: baseUrl ?? publicApi,
        fetch: refusing(options.fetch ?? ((input, init) => globalThis.fetch(input, init))),
        ...(options.headers === undefined ? {} : { headers: { ...options.headers } }),
      },
    }),
  )
  return {
    async *send(request, guard) {
      const answers = await carrier.requestStream({
        path: `models/${encodeURIComponent(request.model)}:streamGenerateContent`,
        queryParams: { ...options.query, alt: 'sse' },
        body: request.body,
        httpMethod: 'POST',
        httpOptions: { headers: sourceOf(request) },
        abortSignal: guard.signal,
      })
      for await (const answer of answers) {
        guard.touch()
        yield { event: await answer.json().catch(unreadable) }
      }
    },
    count: async (body, request, guard) => {
      const answer = await carrier.request({
        path: `models/${encodeURIComponent(request.model)}:countTokens`,
        queryParams: options.query,
        body,
        httpMethod: 'POST',
        httpOptions: { headers: sourceOf(request) },
        abortSignal: guard.signal,
      })
      return answer.json()
    },
  }
}

/** What a server answered in place of an answer. The errors of the SDK leave out the headers, which say how long to wait. */
class Refused extends Error {
  readonly status: number
  readonly headers: Headers
  constructor({ status, headers }: Response, text: string) {
    super(text)
    this.status = status
    this.headers = headers
  }
}

const refusing =
  (fetch: typeof globalThis.fetch): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init)
    if (response.ok && !/html/.test(response.headers.get('content-type') ?? '')) return response
    throw new Refused(response, await response.text())
  }

function unreadable(cause: unknown): never {
  throw new Error('an event of the stream could not be read', { cause })
}

const sourceOf = ({ source }: ModelRequest): Readonly<Record<string, string>> => ({
  'x-palimpsest-source': encodeURIComponent(source),
})

function carrierIn(client: object): Carrier {
  const found: unknown = 'apiClient' in client ? client.apiClient : null
  if (typeof found === 'object' && found !== null && 'requestStream' in found) return found as Carrier
  throw new NotReady(
    'invalid',
    'this version of @google/genai cannot send a body as it is: npm install @google/genai@2',
  )
}
