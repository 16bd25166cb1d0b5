// A change is asked about first, done through the engine's own verbs (by the process that has the session open, where one has), and
// its answer said: done, or refused because the session moved on.
import { useState } from 'preact/hooks'
import type { EffectAnswer, EffectConflict } from '../../protocol.ts'
import type { OpenSession } from '../data/session.ts'
import { usePage, type Wish } from '../data/state.ts'
import { whole } from '../text/format.ts'
import { marked } from '../text/shown-text.tsx'
import { Dialog } from './dialog.tsx'
import { wordFor } from './icon.tsx'

type Progress =
  | { readonly at: 'asking' }
  | { readonly at: 'sent' }
  | { readonly at: 'done'; readonly seq: number | null }
  | { readonly at: 'refused'; readonly problem: string; readonly conflict: EffectConflict | null }

/** Asks for a change. */
export function WishButton({ wish, children }: { readonly wish: Wish; readonly children: string }) {
  const page = usePage()
  return (
    <button type="button" onClick={() => void (page.wish.value = wish)}>
      {children}
    </button>
  )
}

export function Confirm({ open, wish }: { readonly open: OpenSession; readonly wish: Wish }) {
  const page = usePage()
  const [progress, setProgress] = useState<Progress>({ at: 'asking' })
  const owner = open.head.value?.owner ?? null
  const close = (): void => void (page.wish.value = null)
  const send = async (): Promise<void> => {
    setProgress({ at: 'sent' })
    const answer = await page.source.ask<EffectAnswer>(`${open.path}/${wish.verb}`, {
      target: wish.target,
      block: wish.block,
      head: open.head.value?.head ?? 0,
    })
    if (!answer.ok) setProgress({ at: 'refused', problem: answer.problem, conflict: answer.conflict ?? null })
    else {
      setProgress({ at: 'done', seq: answer.value.seq })
      page.say(`${wish.verb} done`)
    }
  }
  return (
    <Dialog label={`${wish.verb} ${wish.target}`} onClose={close}>
      <h2>
        {wish.verb} {wish.target}?
      </h2>
      <p>{marked(wish.about)}</p>
      {progress.at === 'asking' && owner !== null && (
        <p class="note">The session is open in {marked(owner)}, which is asked to do it at its next step.</p>
      )}
      <Answered progress={progress} />
      <p class="actions">
        {(progress.at === 'asking' || progress.at === 'sent') && (
          <button type="button" class="main" disabled={progress.at === 'sent'} onClick={() => void send()}>
            {wish.verb}
          </button>
        )}
        {progress.at === 'refused' && progress.conflict !== null && (
          <button type="button" class="main" onClick={() => void send()}>
            {wish.verb} anyway
          </button>
        )}
        <button type="button" onClick={close}>
          {progress.at === 'asking' || progress.at === 'sent' ? 'cancel' : 'close'}
        </button>
      </p>
    </Dialog>
  )
}

function Answered({ progress }: { readonly progress: Progress }) {
  if (progress.at === 'done')
    return (
      <p class="good" role="status">
        Done{progress.seq === null ? '.' : `: written as entry ${progress.seq}.`}
      </p>
    )
  if (progress.at !== 'refused') return null
  const { problem, conflict } = progress
  return (
    <div class="problem" role="alert">
      <p>{marked(problem)}</p>
      {conflict !== null && (
        <>
          <p>
            The session has moved on to entry {whole(conflict.head)}; nothing was written. What came since:
          </p>
          <ul>
            {conflict.came.map(({ seq, kind }) => (
              <li key={seq}>
                {seq} {marked(wordFor(kind))}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  )
}
