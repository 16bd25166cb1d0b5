// What every loop does: it reads pages until none is left.
export const page = (number: number): string =>
  Array.from(
    { length: 60 },
    (_, line) =>
      `page ${number} line ${line}: request ${number * 60 + line} took ${(line * 37) % 97} ms on host ${number}`,
  ).join('\n')

export const prompt = 'Find the slow requests in all pages.'
/** A small window, so that the older part is compacted many times in one loop. */
export const window = 40_000
/** How the loop is run: `untouched`, or the name of a way into `fit`. */
export const way = process.env['FIT_WAY'] ?? 'untouched'
export const baseUrl = process.env['FIT_URL'] ?? ''

export interface Told {
  readonly calls: number
  readonly failures: readonly string[]
}
/** What `fit` said, for the one who started the loop. */
export function teller(): { readonly onFit: (told: object) => void; readonly told: () => Told } {
  let calls = 0
  const failures: string[] = []
  return {
    onFit: (each) => {
      calls += 1
      if ('ok' in each && 'message' in each) failures.push(String(each.message))
    },
    told: () => ({ calls, failures }),
  }
}
