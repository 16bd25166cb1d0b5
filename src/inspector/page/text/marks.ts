// Characters that nobody sees or that turn the order of what is seen, taken apart from the text they stand in, so that a
// page can show each as a mark. Law: the pieces put together again are the text.

export interface Piece {
  readonly text: string
  /** The name of what cannot be seen; null for plain text. */
  readonly mark: string | null
}

/** Controls but tab and line end, directions, joiners, blanks without width, separators, tag characters, lone surrogates. */
const unseen =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u115F\u1160\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFEFF\uFFA0\uFFF9-\uFFFB]|[\u{E0000}-\u{E007F}]|\p{Cs}/gu

const names: Readonly<Record<string, string>> = {
  '\u0000': 'NUL',
  '\u0007': 'BEL',
  '\u0008': 'BS',
  '\r': 'CR',
  '\u001B': 'ESC',
  '\u007F': 'DEL',
  '\u00AD': 'SHY',
  '\u200B': 'ZWSP',
  '\u200C': 'ZWNJ',
  '\u200D': 'ZWJ',
  '\u200E': 'LRM',
  '\u200F': 'RLM',
  '\u2028': 'LS',
  '\u2029': 'PS',
  '\u202A': 'LRE',
  '\u202B': 'RLE',
  '\u202C': 'PDF',
  '\u202D': 'LRO',
  '\u202E': 'RLO',
  '\u2060': 'WJ',
  '\u2066': 'LRI',
  '\u2067': 'RLI',
  '\u2068': 'FSI',
  '\u2069': 'PDI',
  '\uFEFF': 'BOM',
}

const markOf = (character: string): string =>
  names[character] ?? `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`

/** Answers come from foreign facts: what should be a text may be anything. */
const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

export function piecesOf(given: unknown): readonly Piece[] {
  const text = textOf(given)
  // A joiner between pictures makes one picture: taken apart it would be two.
  const pieces: Piece[] = []
  let from = 0
  for (const { 0: character, index } of text.matchAll(unseen)) {
    if (character === '\r' && text[index + 1] === '\n') continue
    if (character === '\u200D' && isJoin(text, index)) continue
    if (index > from) pieces.push({ text: text.slice(from, index), mark: null })
    pieces.push({ text: character, mark: markOf(character) })
    from = index + character.length
  }
  if (from < text.length) pieces.push({ text: text.slice(from), mark: null })
  return pieces
}

const picture = /\p{Extended_Pictographic}/u
const isJoin = (text: string, at: number): boolean =>
  picture.test(text.slice(Math.max(0, at - 3), at)) && picture.test(text.slice(at + 1, at + 3))
