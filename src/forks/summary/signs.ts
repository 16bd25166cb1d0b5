// Signs of life: while something takes long, one is given at its beginning and at least every so often.
import type { Emit } from '../../engine/live.ts'

export async function withSigns<T>(
  { emit, source, everyMs, now }: SignOptions,
  work: () => Promise<T>,
): Promise<T> {
  const begun = now()
  const give = (): void => emit({ type: 'working', source, forMs: now() - begun })
  give()
  const timer = setInterval(give, everyMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

export interface SignOptions {
  readonly emit: Emit
  /** What is under way. */
  readonly source: string
  readonly everyMs: number
  readonly now: () => number
}
