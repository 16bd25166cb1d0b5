// What somebody may have meant by a name that does not exist.

/** The nearest of the names, or null where none is near: a letter more, less, wrong or swapped in about three. */
export function nearest(word: string, names: Iterable<string>): string | null {
  const typed = word.toLowerCase()
  let best: { readonly name: string; readonly distance: number } | null = null
  for (const name of names) {
    const isBegun = typed.length >= 2 && name.toLowerCase().startsWith(typed)
    const distance = isBegun ? 0.5 : distanceOf(typed, name.toLowerCase())
    const most = Math.max(1, Math.floor(Math.max(typed.length, name.length) / 3))
    if (distance <= most && (best === null || distance < best.distance)) best = { name, distance }
  }
  return best?.name ?? null
}

/** How many letters apart; two that are swapped count as one. */
function distanceOf(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)]
  for (let i = 1; i <= a.length; i++) {
    const [above, row] = [rows[i - 1]!, [i]]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      row[j] = Math.min(
        above[j]! + 1,
        row[j - 1]! + 1,
        above[j - 1]! + (isSame ? 0 : 1),
        ...(isSwapped ? [rows[i - 2]![j - 2]! + 1] : []),
      )
    }
    rows.push(row)
  }
  return rows[a.length]![b.length]!
}

/** " Did you mean 'x'?", or nothing. */
export function didYouMean(word: string, names: Iterable<string>, prefix = ''): string {
  const name = nearest(word, names)
  return name === null ? '' : ` Did you mean ${prefix === '' ? `'${name}'` : `${prefix}${name}`}?`
}
