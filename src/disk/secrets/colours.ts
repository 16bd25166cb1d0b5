// Text without its colour codes, and where each place of it stands in the original: programs colour a match in the middle
// of a word, and a token is a token in any colour.

const escape = String.fromCodePoint(0x1b)
const codes = new RegExp(
  `(?:${escape}|\\\\u001b|\\\\x1b|\\\\033)(?:\\[[0-9;:?]{0,40}[ -/]{0,4}[@-~]|\\([AB0])`,
  'g',
)

/** What stands in every code, as it is and as programs write it; without a backslash, of which some texts are full. */
const signs = ['\u001B', '1b[', '033[']

export interface Uncoloured {
  readonly text: string
  /** The range of the original that a range of the text stands in. */
  range(from: number, length: number): { readonly from: number; readonly to: number }
}

/** Null where there are no codes, which is nearly always. */
export function withoutColours(text: string): Uncoloured | null {
  if (!signs.some((sign) => text.includes(sign))) return null
  const parts: string[] = []
  /** Where each part begins, in the text without codes and in the original. */
  const starts: { readonly plain: number; readonly original: number }[] = []
  let [plain, from] = [0, 0]
  const add = (to: number): void => {
    if (to > from) {
      starts.push({ plain, original: from })
      parts.push(text.slice(from, to))
      plain += to - from
    }
  }
  for (const { 0: code, index } of text.matchAll(codes)) {
    add(index)
    from = index + code.length
  }
  add(text.length)
  const placeOf = (at: number): number => {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (starts[middle]!.plain <= at) low = middle
      else high = middle - 1
    }
    return starts[low]!.original + at - starts[low]!.plain
  }
  return {
    text: parts.join(''),
    range: (at, length) => ({ from: placeOf(at), to: placeOf(at + length - 1) + 1 }),
  }
}
