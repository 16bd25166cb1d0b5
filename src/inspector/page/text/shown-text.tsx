// Text of a transcript on the page: text nodes alone, marks for what cannot be seen, and as much as one reads at once with
// the rest a press away. Nothing here makes markup of a string.
import { useEffect, useState } from 'preact/hooks'
import { counted } from './format.ts'
import { piecesOf } from './marks.ts'
import type { Coloured, Colouring } from './prism.ts'

/** Characters shown before one asks for more, and with every asking. */
const step = 20_000

export interface ShownTextProps {
  readonly text: string
  /** Whose grammar colours it; none by itself. */
  readonly language?: string | undefined
  readonly className?: string | undefined
}

export function ShownText({ text, language, className }: ShownTextProps) {
  const [shown, setShown] = useState(step)
  const part = text.length > shown ? text.slice(0, shown) : text
  const coloured = useColours(part, language)
  return (
    <div class={`text ${className ?? ''}`}>
      <pre>
        {coloured === null
          ? marked(part)
          : coloured.map(({ text: piece, kind }, at) =>
              kind === null ? (
                marked(piece)
              ) : (
                <span key={at} class={`t-${kind}`}>
                  {marked(piece)}
                </span>
              ),
            )}
      </pre>
      {text.length > shown && (
        <button type="button" onClick={() => setShown(shown + step * 4)}>
          {counted(text.length - shown, 'character')} more
        </button>
      )}
    </div>
  )
}

/** A name, id or title: one line, its marks shown. */
export function Name({ of, title }: { readonly of: string; readonly title?: string | undefined }) {
  return (
    <span class="name" title={title}>
      {marked(typeof of === 'string' ? of.replaceAll(/[\n\t]+/g, ' ') : of)}
    </span>
  )
}

/** A name as one of several facts; nothing where there is none. */
export function NameFact({ of, look }: { readonly of: string | null; readonly look?: string }) {
  if (of === null) return null
  return (
    <span class={look}>
      <Name of={of} />
    </span>
  )
}

/** Plain text as text nodes, each mark as an element of its own. */
export function marked(text: string) {
  const pieces = piecesOf(text)
  if (pieces.length === 1 && pieces[0]!.mark === null) return pieces[0]!.text
  return pieces.map(({ text: piece, mark }, at) =>
    mark === null ? (
      piece
    ) : (
      <span key={at} class="mark" title={`a character that is not seen: ${mark}`}>
        {mark}
      </span>
    ),
  )
}

// Colour for code, loaded when the first text wants it: tokens with their kind, never markup.

/** Above this the reader waits longer for colour than colour helps. */
const most = 60_000

const loading: { colouring: Promise<Colouring> | null } = { colouring: null }

/** The text as coloured pieces, once the grammar has come; null until then, or where there is none. */
function useColours(text: string, language: string | undefined): readonly Coloured[] | null {
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
