// Two texts as one, line by line: what went, what came, what stayed. The reckoning is given a limit, since its worst case
// is quadratic; beyond it both texts stand one after the other.
import { diffLines } from 'diff'
import { useMemo } from 'preact/hooks'
import { marked } from '../text/shown-text.tsx'

const mostMs = 200

export function TextDiff({ before, after }: { readonly before: string; readonly after: string }) {
  const changes = useMemo(
    () =>
      diffLines(before, after, { timeout: mostMs }) ?? [
        { value: before, removed: true, added: false },
        { value: after, added: true, removed: false },
      ],
    [before, after],
  )
  return (
    <pre class="text-diff">
      {changes.map(({ value, added, removed }, at) => (
        <span key={at} class={added ? 'is' : removed ? 'was' : 'same'}>
          {lines(value).map((line, index) => (
            <span key={index} class="line">
              <span class="sign">{added ? '+ ' : removed ? '− ' : '  '}</span>
              {marked(line)}
              {'\n'}
            </span>
          ))}
        </span>
      ))}
    </pre>
  )
}

const lines = (text: string): readonly string[] => text.replace(/\n$/, '').split('\n')
