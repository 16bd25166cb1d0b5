// What is new, told to the pages that are open: ids and heads, never bodies. Sessions are looked at only while somebody
// watches them, and a page that does not read is let go.
import type { ServerResponse } from 'node:http'
import { defaults } from '../../settings/defaults.ts'
import type { Inspection } from '../inspection.ts'
import type { LiveEvent } from '../protocol.ts'
import { answerHeaders } from './guard.ts'

interface Page {
  readonly response: ServerResponse
  readonly session: string | null
}

const mostUnread = 262_144

export class Live {
  readonly #inspection: Inspection
  readonly #pages = new Set<Page>()
  readonly #owners = new Map<string, string>()
  readonly #gone = new Set<string>()
  #listed = ''
  #timers: NodeJS.Timeout[] = []
  #isReading = false

  constructor(inspection: Inspection) {
    this.#inspection = inspection
    // An answer to a page may find it before the next look does.
    inspection.onGrowth((session, grown) =>
      this.tell(grown === 'replaced' ? { type: 'replaced', session } : { type: 'grew', session, ...grown }),
    )
  }

  get pages(): number {
    return this.#pages.size
  }

  open(response: ServerResponse, session: string | null): void {
    response.writeHead(200, { ...answerHeaders, 'content-type': 'text/event-stream; charset=utf-8' })
    const page = { response, session }
    this.#pages.add(page)
    response.once('close', () => this.#leave(page))
    this.#write(page, { type: 'alive' })
    if (this.#timers.length === 0) this.#start()
  }

  tell(event: LiveEvent): void {
    for (const page of this.#pages) {
      const isMeant = !('session' in event) || page.session === null || page.session === event.session
      if (isMeant) this.#write(page, event)
    }
  }

  close(): void {
    for (const { response } of this.#pages) response.destroy()
    this.#stop()
  }

  #start(): void {
    const { pollMs, listPollMs, aliveMs } = defaults.inspector
    this.#timers = [
      setInterval(() => void this.#look(), pollMs),
      setInterval(() => void this.#list(), listPollMs),
      setInterval(() => this.tell({ type: 'alive' }), aliveMs),
    ]
    for (const timer of this.#timers) timer.unref()
  }

  #stop(): void {
    for (const timer of this.#timers) clearInterval(timer)
    this.#timers = []
  }

  #leave(page: Page): void {
    this.#pages.delete(page)
    if (this.#pages.size === 0) this.#stop()
  }

  #write({ response }: Page, { type, ...data }: LiveEvent): void {
    // A page that has stopped reading would have everything kept for it.
    if (response.writableLength > mostUnread) response.destroy()
    else response.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  }

  async #look(): Promise<void> {
    if (this.#isReading) return
    this.#isReading = true
    try {
      const watched = new Set([...this.#pages].flatMap(({ session }) => (session === null ? [] : [session])))
      for (const session of watched) {
        const { ok } = await this.#inspection.grow(session)
        // One that cannot be read any more is no longer what its pages show; said once.
        if (!ok && !this.#gone.has(session)) this.tell({ type: 'replaced', session })
        this.#gone[ok ? 'delete' : 'add'](session)
      }
    } finally {
      this.#isReading = false
    }
  }

  async #list(): Promise<void> {
    const { sessions } = await this.#inspection.sessions()
    const listed = sessions.map(({ session, bytes }) => `${session} ${bytes}`).join('\n')
    if (this.#listed !== '' && listed !== this.#listed) this.tell({ type: 'sessions' })
    this.#listed = listed
    for (const { session, owner } of sessions) {
      const now = JSON.stringify(owner)
      const before = this.#owners.get(session)
      this.#owners.set(session, now)
      if (before !== undefined && before !== now) this.tell({ type: 'owner', session, owner })
    }
  }
}
