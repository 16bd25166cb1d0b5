// How long one attempt may take: until the caller aborts, or until nothing has come for too long.

/** Its signal ends the attempt. The time runs only while we wait for the server, not while the caller thinks. */
export class Guard {
  readonly #controller = new AbortController()
  readonly #caller: AbortSignal
  readonly #onAbort = (): void => this.#controller.abort()
  #limitMs: number
  #timer: NodeJS.Timeout | null = null
  #expired = false

  constructor(caller: AbortSignal, idleMs: number) {
    this.#caller = caller
    this.#limitMs = idleMs
    if (caller.aborted) this.#onAbort()
    else caller.addEventListener('abort', this.#onAbort, { once: true })
    this.resume()
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** It was silence that ended the attempt. */
  get expired(): boolean {
    return this.#expired
  }

  /** Something came. */
  touch(): void {
    if (this.#timer !== null) this.resume()
  }

  pause(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  resume(limitMs = this.#limitMs): void {
    this.pause()
    this.#limitMs = limitMs
    this.#timer = setTimeout(() => {
      this.#expired = true
      this.#controller.abort()
    }, limitMs)
  }

  /** Ends what is still under way and lets go of the caller's signal. */
  release(): void {
    this.pause()
    this.#caller.removeEventListener('abort', this.#onAbort)
    this.#controller.abort()
  }
}

/** False when the caller aborted before the time was over. */
export function waited(ms: number, signal: AbortSignal): Promise<boolean> {
  if (signal.aborted) return Promise.resolve(false)
  return new Promise((resolve) => {
    const end = (ok: boolean): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      resolve(ok)
    }
    const onAbort = (): void => end(false)
    const timer = setTimeout(() => end(true), ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
