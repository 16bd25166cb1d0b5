// Hands pieces from one who has them to one who takes them, one at a time: the giver waits until the piece was taken.
export interface Channel<T> extends AsyncIterable<T> {
  /** False when nobody takes any more. */
  give(piece: T): Promise<boolean>
  end(): void
}

export function createChannel<T>(): Channel<T> {
  let waiting: { readonly piece: T; readonly taken: (ok: boolean) => void } | null = null
  let wake: (() => void) | null = null
  let over = false
  const close = () => {
    over = true
    waiting?.taken(false)
    waiting = null
    wake?.()
  }
  return {
    give: (piece) =>
      new Promise((taken) => {
        if (over) return taken(false)
        waiting = { piece, taken }
        wake?.()
      }),
    end: close,
    async *[Symbol.asyncIterator]() {
      try {
        for (;;) {
          if (waiting !== null) {
            const { piece, taken } = waiting
            waiting = null
            // Said before it is handed over: a taker that stops here never comes back to say it.
            taken(true)
            yield piece
          } else if (over) return
          else await new Promise<void>((resolve) => (wake = resolve))
        }
      } finally {
        close()
      }
    },
  }
}
