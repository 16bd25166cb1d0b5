// Vectors beside words: a port that turns texts into vectors, off unless one is given, and the mixing of both scores.
// Scores are scaled to 0..1 and added with their shares; ranks are not mixed, since that throws away how sure each side
// is.

export interface Embedder {
  /** One vector for each text, all of one length. A failure leaves the words alone to decide. */
  embed(
    texts: readonly string[],
    signal: AbortSignal,
  ): Promise<
    | { readonly ok: true; readonly vectors: readonly Float32Array[] }
    | { readonly ok: false; readonly why: string }
  >
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

/** Both sides scaled by their own range; `share` is the part of the vectors. What is unknown to a side is 0 there. */
export function mixed(
  words: ReadonlyMap<string, number>,
  vectors: ReadonlyMap<string, number>,
  share: number,
): ReadonlyMap<string, number> {
  const scaledWords = scaled(words, 0)
  const scaledVectors = scaled(vectors, Math.min(...vectors.values()))
  const all = new Map<string, number>()
  for (const id of new Set([...words.keys(), ...vectors.keys()]))
    all.set(id, (1 - share) * (scaledWords.get(id) ?? 0) + share * (scaledVectors.get(id) ?? 0))
  return all
}

function scaled(scores: ReadonlyMap<string, number>, lowest: number): ReadonlyMap<string, number> {
  const highest = Math.max(lowest, ...scores.values())
  const range = highest - lowest
  return new Map([...scores].map(([id, score]) => [id, range === 0 ? 0 : (score - lowest) / range]))
}
