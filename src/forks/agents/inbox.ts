// What waits for one session. A message is in the box on disk before its sender is told so, also inside one process: a
// crash loses none, and the session has it when it is opened again. Only an agent without a box, which ends with the
// process in any case, has its messages in memory. Implements what the engine asks of a companion.
import type { Companion, Delivery } from '../../engine/ports.ts'
import type { Result } from '../../disk/fs.ts'
import type { Failure } from '../../transcript/store.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Box } from '../mailbox/box.ts'
import { shownMessage, type Message } from '../mailbox/message.ts'

export class Inbox {
  /** The session whose messages are those of a leader; null where nobody has one. */
  readonly #leader: string | null
  readonly #near: Message[] = []
  /** Put into the box by this process and not taken yet. */
  readonly #posted = new Set<string>()
  /** Names of files by the ids of their messages, as long as they are in hand. */
  readonly #inHand = new Map<string, string>()
  #box: Promise<Box | null> = Promise.resolve(null)
  #mailWaits = false
  #wake: (() => void) | null = null

  constructor(leader: string | null = null) {
    this.#leader = leader
  }

  /** The box may still be being made; whoever writes waits for it. */
  set box(box: Promise<Box | null>) {
    this.#box = box
  }

  async hand(message: Message): Promise<Result<object>> {
    const box = await this.#box
    if (box === null) this.#near.push(message)
    else {
      const posted = await box.post(message)
      if (!posted.ok) return posted
      this.#posted.add(message.id)
    }
    this.#wake?.()
    return { ok: true }
  }

  get hasWaiting(): boolean {
    return this.#near.length + this.#posted.size > 0 || this.#mailWaits
  }

  /** Whether the box holds something, looked up now. */
  async look(): Promise<boolean> {
    const found = await (await this.#box)?.waiting()
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
    const taken = (await (await this.#box)?.take()) ?? { messages: [], failures: [] }
    for (const { name, message } of taken.messages) {
      this.#inHand.set(message.id, name)
      this.#posted.delete(message.id)
    }
    // What cannot be read now is said, and is not waited for.
    if (taken.failures.length > 0) this.#posted.clear()
    this.#mailWaits = false
    const all = [...this.#near, ...taken.messages.map(({ message }) => message)]
    const deliveries = all.map((message) => ({
      id: message.id,
      from: message.from.name,
      text: shownMessage(message, this.#leader),
    }))
    return { deliveries, failures: taken.failures }
  }

  async delivered(ids: readonly string[]): Promise<Failure | null> {
    const done = new Set(ids)
    const left = this.#near.filter(({ id }) => !done.has(id))
    this.#near.splice(0, this.#near.length, ...left)
    const names = ids.flatMap((id) => this.#inHand.get(id) ?? [])
    for (const id of ids) this.#inHand.delete(id)
    const moved = names.length === 0 ? undefined : await (await this.#box)?.acted(names)
    return moved?.ok === false ? moved.failure : null
  }
}

export function companionOf(inboxOf: (session: string) => Inbox | undefined): Companion {
  return {
    hasWaiting: (session) => inboxOf(session)?.hasWaiting ?? false,
    waiting: async (session) => (await inboxOf(session)?.waiting()) ?? { deliveries: [], failures: [] },
    delivered: async (session, ids) => (await inboxOf(session)?.delivered(ids)) ?? null,
  }
}
