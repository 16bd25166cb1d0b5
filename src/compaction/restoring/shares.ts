// Who gets how much of what is left below the target. What stands (plan, mode, tasks) comes first and files
// shrink first; among equals everything shrinks in proportion.

/** What each of these sizes gets of so much room. */
export function sharesOf(wanted: readonly number[], room: number): readonly number[] {
  const whole = wanted.reduce((sum, tokens) => sum + tokens, 0)
  const left = Math.max(0, room)
  const share = whole <= left ? 1 : left / whole
  return wanted.map((tokens) => Math.floor(tokens * share))
}

/** The beginning of a text within so many estimated tokens, up to a line end; the whole text when it fits. */
export function headWithin(
  text: string,
  tokens: number,
  estimate: (text: string) => number,
): { readonly text: string; readonly linesLeft: number } {
  if (estimate(text) <= tokens) return { text, linesLeft: 0 }
  const lines = text.split('\n')
  let low = 0
  let high = lines.length
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (estimate(lines.slice(0, middle).join('\n')) <= tokens) low = middle
    else high = middle - 1
  }
  return { text: lines.slice(0, low).join('\n'), linesLeft: lines.length - low }
}
