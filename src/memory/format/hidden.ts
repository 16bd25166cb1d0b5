// Characters that a person does not see and a model reads: tags, blanks without width, changes of direction,
// a byte order mark in the middle. They are taken out before a text reaches the model, and it is said that they were.

const hidden =
  /\p{Cf}|[^\P{Cc}\n\r\t]|[\u115F\u1160\u2065\u3164\uFFA0\uFFF0-\uFFF8\u{E0000}-\u{E0FFF}]|\u034F|[\u17B4\u17B5]|[\u180B-\u180F]/gu
/** Joiners that make one letter or picture of two are seen as what they make. */
const joined =
  /(?<=[\p{Extended_Pictographic}\p{M}\p{Script=Arabic}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Malayalam}\p{Script=Sinhala}])[\u200C\u200D](?=[\p{Extended_Pictographic}\p{L}])/gu

export interface Seen {
  readonly text: string
  /** How many were taken out. */
  readonly hidden: number
}

/** Their code points, each once, as `U+200B`. */
export function hiddenIn(text: string): readonly string[] {
  const bare = text.replace(joined, '')
  return [...new Set(Array.from(bare.matchAll(hidden), ([char]) => nameOf(char)))]
}

const nameOf = (char: string): string =>
  `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`

/** The text as a person sees it. A byte order mark at its start is no secret and goes without a word. */
export function withoutHidden(text: string): Seen {
  const start = text.startsWith('\uFEFF') ? text.slice(1) : text
  const kept = new Set(Array.from(start.matchAll(joined), (match) => match.index))
  let count = 0
  const clean = start.replace(hidden, (char, at: number) => {
    if (kept.has(at)) return char
    count++
    return ''
  })
  return { text: clean, hidden: count }
}
