// The keys of the page, as a list: what the help shows is what they do.
import type { Address } from './address.ts'
import { indexAt } from './requests.ts'
import type { OpenSession } from './session.ts'
import type { PageState } from './state.ts'

export interface ZoomKeys {
  move(by: { readonly zoom?: number; readonly pan?: number }, all: readonly [number, number]): void
}

export interface KeyContext {
  readonly page: PageState
  readonly open: OpenSession | null
  readonly zoom: ZoomKeys
  readonly openEntry: (open: OpenSession, seq: number) => void
  readonly copy: (text: string) => void
}

export interface Key {
  readonly keys: readonly string[]
  readonly about: string
  run(context: KeyContext): void
}

const inSession =
  (run: (context: KeyContext & { readonly open: OpenSession }) => void) =>
  (context: KeyContext): void => {
    if (context.open !== null) run({ ...context, open: context.open })
  }

/** The place that moving starts from: the active row, what the address names, or the end. */
function placeOf({ page, open }: { readonly page: PageState; readonly open: OpenSession }): number {
  const address = page.address.value
  return page.active.value ?? ('seq' in address && address.seq !== null ? address.seq : open.entries.last)
}

const step = (by: number) =>
  inSession((context) => {
    const { page, open } = context
    const to = page.active.value === null ? placeOf(context) : placeOf(context) + by
    page.active.value = Math.max(open.entries.first, Math.min(to, open.entries.last))
    if (isDetail(page.address.value)) context.openEntry(open, page.active.value)
  })

const isDetail = (address: Address): boolean => address.screen === 'block'

/** The nearest of some places after or before the one at hand. */
function next(places: readonly number[], from: number, by: 1 | -1): number | undefined {
  const ordered = [...places].sort((a, b) => a - b)
  return by > 0 ? ordered.find((place) => place > from) : ordered.findLast((place) => place < from)
}

const request = (by: 1 | -1) =>
  inSession((context) => {
    const { page, open } = context
    const rows = open.requests.value
    const at = indexAt(rows, placeOf(context))
    const here = rows[at]?.seq === placeOf(context)
    const row = rows[by > 0 ? at + 1 : here ? at - 1 : at]
    if (row === undefined) return
    page.active.value = row.seq
    const address = page.address.value
    page.go({
      session: open.id,
      screen: 'request',
      seq: row.seq,
      look: address.screen === 'request' ? address.look : 'parts',
    })
  })

/** To the next edit or break, or the one before. */
const marked = (list: 'edits' | 'breaks', screen: 'edit' | 'breaks', by: 1 | -1) =>
  inSession((context) => {
    const { page, open } = context
    const places = open[list].value.map(({ seq }) => seq)
    const seq = next(places, placeOf(context), by)
    if (seq === undefined) return
    page.active.value = seq
    page.go({ session: open.id, screen, seq })
  })

const zoomed = (by: { readonly zoom?: number; readonly pan?: number }) =>
  inSession(({ open, zoom }) => {
    const rows = open.requests.value
    if (rows.length > 0) zoom.move(by, [rows[0]!.number, rows.at(-1)!.number + 1])
  })

export const keys: readonly Key[] = [
  { keys: ['j', 'ArrowDown'], about: 'next entry', run: step(1) },
  { keys: ['k', 'ArrowUp'], about: 'previous entry', run: step(-1) },
  { keys: ['PageDown'], about: 'twenty entries on', run: step(20) },
  { keys: ['PageUp'], about: 'twenty entries back', run: step(-20) },
  {
    keys: ['Home'],
    about: 'first entry',
    run: inSession(({ page, open }) => void (page.active.value = open.entries.first)),
  },
  {
    keys: ['End'],
    about: 'last entry',
    run: inSession(({ page, open }) => void (page.active.value = open.entries.last)),
  },
  {
    keys: ['Enter'],
    about: 'open the entry',
    run: inSession((context) => context.openEntry(context.open, placeOf(context))),
  },
  { keys: ['J'], about: 'next request', run: request(1) },
  { keys: ['K'], about: 'previous request', run: request(-1) },
  { keys: [']'], about: 'next edit', run: marked('edits', 'edit', 1) },
  { keys: ['['], about: 'previous edit', run: marked('edits', 'edit', -1) },
  { keys: ['}'], about: 'next cache break', run: marked('breaks', 'breaks', 1) },
  { keys: ['{'], about: 'previous cache break', run: marked('breaks', 'breaks', -1) },
  { keys: ['w'], about: 'zoom in', run: zoomed({ zoom: 0.5 }) },
  { keys: ['s'], about: 'zoom out', run: zoomed({ zoom: 2 }) },
  { keys: ['a'], about: 'move left', run: zoomed({ pan: -0.25 }) },
  { keys: ['d'], about: 'move right; in a request: against the one before', run: differenceOrRight },
  { keys: ['u'], about: 'undo the edit that is shown (asks first)', run: inSession(askUndo) },
  {
    keys: ['/'],
    about: 'find in everything that was said',
    run: inSession(({ page }) => void (page.overlay.value = 'find')),
  },
  {
    keys: ['g'],
    about: 'go to an entry by its number',
    run: inSession(({ page }) => void (page.overlay.value = 'goto')),
  },
  {
    keys: ['y'],
    about: 'copy a link to what is shown',
    run: ({ page, copy }) => copy(page.link()),
  },
  { keys: ['Escape'], about: 'back to the window', run: inSession(back) },
  { keys: ['?'], about: 'this list', run: ({ page }) => void (page.overlay.value = 'help') },
]

function differenceOrRight(context: KeyContext): void {
  const address = context.page.address.value
  if (!('session' in address) || address.screen !== 'request') {
    zoomed({ pan: 0.25 })(context)
    return
  }
  context.page.go({ ...address, look: address.look === 'diff' ? 'parts' : 'diff' })
}

function askUndo({ page, open }: { readonly page: PageState; readonly open: OpenSession }): void {
  const address = page.address.value
  if (address.screen !== 'edit' || page.about.value?.canChange !== true) return
  const edit = open.edits.value.find(({ seq }) => seq === address.seq)
  if (edit?.state !== 'live') return
  page.wish.value = {
    verb: 'undo',
    target: address.seq,
    about: `Undoes the edit ${address.seq} by ${edit.layer}: what it removed is in context again.`,
  }
}

function back({ page, open }: { readonly page: PageState; readonly open: OpenSession }): void {
  page.go({ session: open.id, screen: 'window', from: null, to: null })
}

/** Which key was meant; null for one that is none of ours, or that a field wants for itself. */
export function keyFor(event: {
  readonly key: string
  readonly ctrlKey: boolean
  readonly metaKey: boolean
  readonly altKey: boolean
}): Key | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  return keys.find((one) => one.keys.includes(event.key)) ?? null
}
