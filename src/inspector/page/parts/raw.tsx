// The bytes of a body, as text. Long ones come whole and are shown in pieces.
import { useEffect, useState } from 'preact/hooks'
import { usePage } from '../data/state.ts'
import { bytes as shownBytes } from '../text/format.ts'
import { ShownText } from '../text/shown-text.tsx'

/** Above this one is asked before it is loaded. */
const asksAbove = 4 * 1024 * 1024

export function Raw({
  path,
  bytes,
  name,
}: {
  readonly path: string
  readonly bytes: number
  readonly name: string
}) {
  const { source } = usePage()
  const [isWanted, setWanted] = useState(bytes <= asksAbove)
  const [text, setText] = useState<string | null>(null)
  const [problem, setProblem] = useState<string | null>(null)
  const [isPretty, setPretty] = useState(true)
  useEffect(() => {
    if (!isWanted) return
    void source.text(path).then((answer) => (answer.ok ? setText(answer.value) : setProblem(answer.problem)))
  }, [path, isWanted])
  if (problem !== null) return <p class="problem">{problem}</p>
  if (!isWanted)
    return (
      <p>
        <button type="button" onClick={() => setWanted(true)}>
          load {shownBytes(bytes)}
        </button>
      </p>
    )
  if (text === null) return <p class="waiting">Loading…</p>
  return (
    <div class="raw">
      <p class="actions">
        <button type="button" aria-pressed={isPretty} onClick={() => setPretty(!isPretty)}>
          indented
        </button>
        <button type="button" onClick={() => save(text, name)}>
          save as {name}
        </button>
      </p>
      <ShownText text={isPretty ? indented(text) : text} language="json" />
    </div>
  )
}

const indented = (text: string): string => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
