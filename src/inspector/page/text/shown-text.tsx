// Text of a transcript on the page: text nodes alone, marks for what cannot be seen, and as much as one reads at once with
// the rest a press away. Nothing here makes markup of a string.
import { useState } from 'preact/hooks'
import { useColours } from './colours.ts'
import { counted } from './format.ts'
import { piecesOf } from './marks.ts'

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
