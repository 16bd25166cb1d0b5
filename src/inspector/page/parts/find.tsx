// Find: in everything that was said in the session, on the server, newest first. Rows that are not drawn are found too.
import { useEffect, useState } from 'preact/hooks'
import type { Found } from '../../protocol.ts'
import { fragmentOf } from '../data/address.ts'
import type { OpenSession } from '../data/session.ts'
import { usePage } from '../data/state.ts'
import { counted, whole } from '../text/format.ts'
import { marked } from '../text/shown-text.tsx'
import { Dialog } from './dialog.tsx'
import { wordFor } from './icon.tsx'

type Hit = Found['hits'][number]

/** Typing is let rest before a search goes out. */
const restMs = 150
/** Hits asked for before the reader is asked whether to go on. */
const enough = 50

interface Search {
  readonly hits: readonly Hit[]
  /** Everything down to here was searched; null: everything. */
  readonly before: number | null
  readonly state: 'idle' | 'searching' | 'done'
  readonly problem: string | null
  readonly goOn: () => void
}

function useSearch(open: OpenSession, text: string): Search {
  const page = usePage()
  const [hits, setHits] = useState<readonly Hit[]>([])
  const [before, setBefore] = useState<number | null>(null)
  const [state, setState] = useState<'idle' | 'searching' | 'done'>('idle')
  const [problem, setProblem] = useState<string | null>(null)
  const search = async (
    from: number | null,
    found: readonly Hit[],
    current: { is: boolean },
  ): Promise<void> => {
    setState('searching')
    let [at, all] = [from, found]
    do {
      const more: string = at === null ? '' : `&before=${at}`
      const answer = await page.source.json<Found>(
        `${open.path}/find?text=${encodeURIComponent(text.toWellFormed())}${more}`,
      )
      if (!current.is) return
      if (!answer.ok) {
        setProblem(answer.problem)
        break
      }
      all = [...all, ...answer.value.hits]
      at = answer.value.before
      setHits(all)
      setBefore(at)
    } while (at !== null && all.length < found.length + enough)
    setState('done')
  }
  useEffect(() => {
    setHits([])
    setBefore(null)
    setProblem(null)
    setState('idle')
    if (text === '') return
    const current = { is: true }
    const timer = setTimeout(() => void search(null, [], current), restMs)
    return () => {
      current.is = false
      clearTimeout(timer)
    }
  }, [text])
  const goOn = (): void => void search(before, hits, { is: true })
  return { hits, before, state, problem, goOn }
}

export function Find({ open }: { readonly open: OpenSession }) {
  const page = usePage()
  const [text, setText] = useState('')
  const close = (): void => void (page.overlay.value = null)
  const { hits, before, state, problem, goOn } = useSearch(open, text)
  const go = (hit: Hit): void => {
    close()
    page.active.value = hit.seq
    page.go({ session: open.id, screen: 'block', seq: hit.seq, block: hit.block })
  }
  return (
    <Dialog label="Find in this session" onClose={close}>
      <label class="find">
        <span class="sr">find</span>
        <input
          type="search"
          autofocus
          placeholder="find in everything that was said"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' && hits[0] !== undefined) go(hits[0])
          }}
        />
      </label>
      <p class="dim" role="status">
        {state === 'searching' && `Searching… ${counted(hits.length, 'hit')} so far`}
        {state === 'done' && before === null && `${counted(hits.length, 'hit')}, everything searched`}
        {state === 'done' &&
          before !== null &&
          `${counted(hits.length, 'hit')} down to entry ${whole(before)}`}
      </p>
      {problem !== null && <p class="problem">{problem}</p>}
      <ul class="hits">
        {hits.map((hit, at) => (
          <li key={at}>
            <a
              href={fragmentOf({ session: open.id, screen: 'block', seq: hit.seq, block: hit.block })}
              onClick={(event) => {
                event.preventDefault()
                go(hit)
              }}
            >
              <span class="n">{hit.seq}</span>{' '}
              <span class="dim">{marked(wordFor(open.entries.row(hit.seq).kind ?? ''))}</span>{' '}
              {marked(hit.excerpt.slice(0, hit.at))}
              <mark>{marked(hit.excerpt.slice(hit.at, hit.at + hit.length))}</mark>
              {marked(hit.excerpt.slice(hit.at + hit.length))}
            </a>
          </li>
        ))}
      </ul>
      {before !== null && state === 'done' && (
        <button type="button" onClick={goOn}>
          search on
        </button>
      )}
    </Dialog>
  )
}
