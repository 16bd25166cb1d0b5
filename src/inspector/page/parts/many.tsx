// A list that may be long: the first of it at once, the rest when it is asked for. What is not shown is counted.
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { counted } from '../text/format.ts'

const atOnce = 300

export function Many<T>({
  of,
  children,
  unit = 'row',
}: {
  readonly of: readonly T[]
  readonly unit?: string
  readonly children: (one: T, at: number) => ComponentChildren
}) {
  const [shown, setShown] = useState(atOnce)
  return (
    <>
      {of.slice(0, shown).map(children)}
      {of.length > shown && (
        <li class="more">
          <button type="button" onClick={() => setShown(shown + atOnce * 4)}>
            {counted(of.length - shown, `more ${unit}`)}
          </button>
        </li>
      )}
    </>
  )
}
