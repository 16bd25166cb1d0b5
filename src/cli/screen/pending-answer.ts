/** An answer that is still to come; null when the asker gives up. */
export function pendingAnswer<T>(signal: AbortSignal | undefined): {
  readonly promise: Promise<T | null>
  readonly resolve: (answer: T | null) => void
} {
  let resolve: (answer: T | null) => void = () => undefined
  const promise = new Promise<T | null>((done) => {
    resolve = done
  })
  signal?.addEventListener('abort', () => resolve(null), { once: true })
  return { promise, resolve }
}
