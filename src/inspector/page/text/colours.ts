// Colour for code, loaded when the first text wants it: tokens with their kind, never markup.
import { useEffect, useState } from 'preact/hooks'
import type { Coloured, Colouring } from './coloured.ts'

/** Above this the reader waits longer for colour than colour helps. */
const most = 60_000

const loading: { colouring: Promise<Colouring> | null } = { colouring: null }

/** The text as coloured pieces, once the grammar has come; null until then, or where there is none. */
export function useColours(text: string, language: string | undefined): readonly Coloured[] | null {
  const [coloured, setColoured] = useState<readonly Coloured[] | null>(null)
  useEffect(() => {
    setColoured(null)
    if (language === undefined || text.length > most) return
    const current = { is: true }
    loading.colouring ??= import('./prism.ts').then(({ colouring }) => colouring)
    loading.colouring.then(
      (colour) => current.is && setColoured(colour(text, language)),
      () => undefined,
    )
    return () => void (current.is = false)
  }, [text, language])
  return coloured
}

const languages: Readonly<Record<string, string>> = {
  ts: 'typescript',
  tsx: 'typescript',
  js: 'typescript',
  mjs: 'typescript',
  jsx: 'typescript',
  json: 'json',
  jsonl: 'json',
  py: 'python',
  sh: 'bash',
  bash: 'bash',
}

/** By the end of a file's name. */
export const languageOf = (path: string): string | undefined =>
  languages[/\.([a-z]+)$/.exec(path.toLowerCase())?.[1] ?? '']
