// A text in pieces, each with what it is in its language.

export interface Coloured {
  readonly text: string
  /** What it is in that language; null for plain text. */
  readonly kind: string | null
}

/** Null where there is no grammar for the language. */
export type Colouring = (text: string, language: string) => readonly Coloured[] | null
