// What waits for one session: messages handed over in this process, and those in its box on disk. Implements what the
// engine asks of a companion, for all sessions of an office.
import type { Companion, Delivery } from '../../engine/beside/companion.ts'
import type { Failure } from '../../transcript/store.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Box } from '../mailbox/box.ts'
import { shownMessage, type Message } from '../mailbox/message.ts'

export class Inbox {
  readonly #near: Message[] = []
  /** Names of files by the ids of their messages, as long as they are in hand. */
  readonly #inHand = new Map<string, string>()
  #box: Box | null = null
  #mailWaits = false
  #wake: (() => void) | null = null

  set box(box: Box | null) {
    this.#box = box
  }

  hand(message: Message): void {
    this.#near.push(message)
    this.#wake?.()
  }

  get hasWaiting(): boolean {
    return this.#near.length > 0 || this.#mailWaits
  }

  /** Whether the box holds something, looked up now. */
  async look(): Promise<boolean> {
    const found = await this.#box?.waiting()
    this.#mailWaits = found?.ok === true && found.count > 0
    return this.hasWaiting
  }

  /** Until something is there; false when the signal fired first. */
  async next(signal: AbortSignal): Promise<boolean> {
    while (!signal.aborted) {
      if (this.hasWaiting || (await this.look())) return true
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer)
          signal.removeEventListener('abort', done)
          this.#wake = null
          resolve()
        }
        const timer = setTimeout(done, defaults.mailbox.pollMs)
        signal.addEventListener('abort', done, { once: true })
        this.#wake = done
      })
    }
    return false
  }

  async waiting(): Promise<{
    readonly deliveries: readonly Delivery[]
    readonly failures: readonly Failure[]
  }> {
    const taken = (await this.#box?.take()) ?? { messages: [], failures: [] }
    for (const { name, message } of taken.messages) this.#inHand.set(message.id, name)
    this.#mailWaits = false
    const all = [...this.#near, ...taken.messages.map(({ message }) => message)]
    const deliveries = all.map((message) => ({
      id: message.id,
      from: message.from.name,
      text: shownMessage(message),
    }))
    return { deliveries, failures: taken.failures }
  }

  async delivered(ids: readonly string[]): Promise<Failure | null> {
    const done = new Set(ids)
    const left = this.#near.filter(({ id }) => !done.has(id))
    this.#near.splice(0, this.#near.length, ...left)
    const names = ids.flatMap((id) => this.#inHand.get(id) ?? [])
    for (const id of ids) this.#inHand.delete(id)
    if (names.length === 0 || this.#box === null) return null
    const moved = await this.#box.acted(names)
    return moved.ok ? null : moved.failure
  }
}

export function companionOf(inboxOf: (session: string) => Inbox | undefined): Companion {
  return {
    hasWaiting: (session) => inboxOf(session)?.hasWaiting ?? false,
    waiting: async (session) => (await inboxOf(session)?.waiting()) ?? { deliveries: [], failures: [] },
    delivered: async (session, ids) => (await inboxOf(session)?.delivered(ids)) ?? null,
  }
}
