// The state of the page: where it stands (the address), what it has open, and what is said to the reader.
import { computed, effect, signal, untracked } from '@preact/signals'
import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { About, SessionList, SessionRow } from '../../protocol.ts'
import { addressIn, fragmentOf, type Address } from './address.ts'
import { OpenSession } from './session.ts'
import type { Source } from './source.ts'

export type Overlay = 'help' | 'find' | 'goto' | null

/** A change that waits for the reader's yes. */
export interface Wish {
  readonly verb: 'undo' | 'release' | 'pin'
  readonly target: number
  readonly block?: number | undefined
  /** What it will do, in words. */
  readonly about: string
}

export class PageState {
  readonly source: Source
  readonly about = signal<About | null>(null)
  readonly address = signal<Address>({ screen: 'sessions' })
  readonly sessions = signal<SessionList | null>(null)
  readonly session = signal<OpenSession | null>(null)
  readonly problem = signal<string | null>(null)
  readonly overlay = signal<Overlay>(null)
  readonly wish = signal<Wish | null>(null)
  /** Said aloud to screen readers, and shown for a moment. */
  readonly said = signal('')
  /** The row of the list that keys act on, by its place. */
  readonly active = signal<number | null>(null)
  readonly title = computed(() => {
    const open = 'session' in this.address.value ? this.session.value : null
    return open === null ? 'pal inspect' : `${titleOf(open.head.value, open.id)} · pal inspect`
  })
  readonly #address: AddressBar

  constructor(source: Source, addressBar: AddressBar) {
    this.source = source
    this.#address = addressBar
  }

  async start(): Promise<void> {
    this.address.value = addressIn(this.#address.read())
    this.#address.onChange(() => void (this.address.value = addressIn(this.#address.read())))
    effect(() => this.#openSession(this.address.value))
    const about = await this.source.json<About>('/about')
    if (!about.ok) {
      this.problem.value = about.problem
      return
    }
    this.about.value = about.value
    const { session } = about.value
    if (this.address.value.screen === 'sessions' && this.#address.read() === '' && session !== null)
      this.go({ session, screen: 'window', from: null, to: null }, true)
    await this.readSessions()
    this.source.follow(
      null,
      (event) => {
        if (event.type === 'sessions' || event.type === 'owner') void this.readSessions()
      },
      () => undefined,
    )
  }

  async readSessions(): Promise<void> {
    const list = await this.source.json<SessionList>('/sessions')
    if (list.ok) {
      this.sessions.value = list.value
      this.session.value?.compare(
        list.value.sessions.find(({ session }) => session === this.session.value?.id),
      )
    } else if (this.sessions.value === null) this.problem.value = list.problem
  }

  go(address: Address, replaces = false): void {
    this.#address.write(fragmentOf(address), replaces)
    this.address.value = address
  }

  /** The link to what is shown, whole. */
  link(): string {
    return this.#address.link(fragmentOf(this.address.value))
  }

  say(words: string): void {
    // The same words again must be said again.
    this.said.value = this.said.value === words ? `${words}\u00A0` : words
  }

  #openSession(address: Address): void {
    const wanted = 'session' in address ? address.session : null
    const open = untracked(() => this.session.value)
    if (wanted === null || open?.id === wanted) return
    this.#open(wanted)
  }

  #open(id: string): void {
    untracked(() => this.session.value)?.close()
    const session = new OpenSession(this.source, id, () => this.session.value === session && this.#open(id))
    untracked(() => {
      this.active.value = null
      this.session.value = session
    })
    void session.open()
  }
}

/** The address bar of a browser, handed in. */
export interface AddressBar {
  read(): string
  write(fragment: string, replaces: boolean): void
  onChange(changed: () => void): void
  link(fragment: string): string
}

export const StateContext = createContext<PageState | null>(null)

export function usePage(): PageState {
  const state = useContext(StateContext)
  if (state === null) throw new Error('this part of the page needs its state around it')
  return state
}

/** A session as people know it: what was said first, or what it is for. */
export function titleOf(row: Pick<SessionRow, 'title' | 'purpose'> | null, id: string): string {
  if (row === null) return id
  if (row.title !== '') return row.title
  return row.purpose === 'main' ? id : `${row.purpose} ${id}`
}
