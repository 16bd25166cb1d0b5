// Vectors beside words: a port that turns texts into vectors, off unless one is given, and the mixing of both scores.
// Scores are put on one scale and added with their shares; ranks are not mixed, since that throws away how sure each side
// is.

export type Embedded =
  | { readonly ok: true; readonly vectors: readonly Float32Array[] }
  | { readonly ok: false; readonly why: string }

export interface Embedder {
  /** Whose vectors these are: those of another one cannot be compared with them. */
  readonly name: string
  /** Whether it knows the script of a text; left out, it knows all. What it cannot read is left to the words. */
  readonly reads?: ((text: string) => boolean) | undefined
  /** One vector for each text, all of one length. A failure leaves the words alone to decide. */
  embed(texts: readonly string[], signal: AbortSignal): Promise<Embedded>
}

export function cosine(a: Float32Array, b: Float32Array): number {
  let dot = 0
  let left = 0
  let right = 0
  for (let at = 0; at < a.length; at++) {
    dot += a[at]! * b[at]!
    left += a[at]! * a[at]!
    right += b[at]! * b[at]!
  }
  return left === 0 || right === 0 ? 0 : dot / Math.sqrt(left * right)
}

/**
 * Both sides by how far each score stands from the middle of its side; `share` is the part of the vectors. What shares no
 * word has no score by words; what has no vector yet stands in the middle of the vectors.
 */
export function mixed(
  words: ReadonlyMap<string, number>,
  vectors: ReadonlyMap<string, number>,
  share: number,
): ReadonlyMap<string, number> {
  const ids = [...new Set([...words.keys(), ...vectors.keys()])]
  const byWords = standardized(new Map(ids.map((id) => [id, words.get(id) ?? 0])))
  const byVectors = standardized(vectors)
  return new Map(
    ids.map((id) => [id, (1 - share) * (byWords.get(id) ?? 0) + share * (byVectors.get(id) ?? 0)]),
  )
}

function standardized(scores: ReadonlyMap<string, number>): ReadonlyMap<string, number> {
  const count = Math.max(1, scores.size)
  const sum = (of: (score: number) => number): number =>
    [...scores.values()].reduce((all, score) => all + of(score), 0)
  const middle = sum((score) => score) / count
  const spread = Math.sqrt(sum((score) => (score - middle) ** 2) / count)
  return new Map([...scores].map(([id, score]) => [id, spread === 0 ? 0 : (score - middle) / spread]))
}
