// What stands over the screens or before them: problems, the list of keys, going to an entry.
import { keys } from '../data/keys.ts'
import type { OpenSession } from '../data/session.ts'
import { usePage } from '../data/state.ts'
import { openEntry } from '../screens/entry-list.tsx'
import { whole } from '../text/format.ts'
import { marked } from '../text/shown-text.tsx'
import { Dialog } from './dialog.tsx'

export function Notices({ open }: { readonly open: OpenSession | null }) {
  const page = usePage()
  const head = open?.head.value ?? null
  const problems = [page.problem.value, open?.problem.value ?? null].filter((one) => one !== null)
  return (
    <>
      {problems.map((problem) => (
        <p key={problem} class="problem" role="alert">
          {marked(problem)}
        </p>
      ))}
      {head !== null && head.damage !== null && <p class="problem">Damage: {marked(head.damage)}</p>}
      {head !== null && head.readOnlyFrom !== null && (
        <p class="problem">
          From entry {head.readOnlyFrom} on there is an edit of a kind that this version does not know: what
          is in context after it cannot be computed.
        </p>
      )}
    </>
  )
}

export function Help() {
  const page = usePage()
  const close = (): void => void (page.overlay.value = null)
  return (
    <Dialog label="Keys" onClose={close}>
      <h2>Keys</h2>
      <dl class="keys">
        {keys.map(({ keys: names, about }) => (
          <div key={about}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <p class="actions">
        <button type="button" onClick={close}>
          close
        </button>
      </p>
    </Dialog>
  )
}

export function GoTo({ open }: { readonly open: OpenSession }) {
  const page = usePage()
  const close = (): void => void (page.overlay.value = null)
  const { first, last } = open.entries
  return (
    <Dialog label="Go to an entry" onClose={close}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const value = new FormData(event.currentTarget).get('seq')
          const seq = typeof value === 'string' ? Number(value) : Number.NaN
          if (!Number.isInteger(seq) || seq < first || seq > last) return
          close()
          page.active.value = seq
          openEntry(page, open, seq)
        }}
      >
        <label>
          entry <input name="seq" type="number" min={first} max={last} autofocus required />
        </label>{' '}
        <button type="submit">go</button>
        <p class="dim">
          {whole(first)} to {whole(last)}
        </p>
      </form>
    </Dialog>
  )
}
