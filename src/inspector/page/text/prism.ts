// oxlint-disable import/no-unassigned-import -- grammars add themselves to Prism when they load
// The grammars. Prism's core must not touch the page: only its reader of tokens is used.
import './prism-quiet.ts'
import Prism from 'prismjs'
import 'prismjs/components/prism-typescript'
import 'prismjs/components/prism-json'
import 'prismjs/components/prism-bash'
import 'prismjs/components/prism-python'

export interface Coloured {
  readonly text: string
  /** What it is in that language; null for plain text. */
  readonly kind: string | null
}

/** Null where there is no grammar for the language. */
export type Colouring = (text: string, language: string) => readonly Coloured[] | null

type Tokens = ReturnType<typeof Prism.tokenize>

export const colouring: Colouring = (text, language) => {
  const grammar = Prism.languages[language]
  return grammar === undefined ? null : flat(Prism.tokenize(text, grammar), null)
}

function flat(tokens: Tokens, within: string | null): readonly { text: string; kind: string | null }[] {
  return tokens.flatMap((token) => {
    if (typeof token === 'string') return [{ text: token, kind: within }]
    const kind = /^[a-z-]+$/.test(token.type) ? token.type : within
    const { content } = token
    if (typeof content === 'string') return [{ text: content, kind }]
    return flat(Array.isArray(content) ? content : [content], kind)
  })
}
