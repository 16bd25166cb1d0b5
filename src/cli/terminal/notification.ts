// A long turn that ended, or waits for an answer, calls a person who looks elsewhere: by the bell of the terminal, or by
// a notification of the desktop where the terminal knows OSC 9. Into a pipe nothing of it is written.
import type { LiveEvent } from '../../engine/live.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Settings } from '../../settings/schema.ts'
import { duration } from './tables.ts'

const bell = '\u0007'

export class Notifier {
  readonly #settings: Pick<Settings, 'notify' | 'notifyAfter'>
  readonly #write: (text: string) => void
  readonly #now: () => number
  #since: number | null = null

  constructor(
    settings: Pick<Settings, 'notify' | 'notifyAfter'>,
    write: (text: string) => void,
    now: () => number = () => performance.now(),
  ) {
    this.#settings = settings
    this.#write = write
    this.#now = now
  }

  hear(event: LiveEvent): void {
    if (event.type === 'request-start') this.#since ??= this.#now()
    if (event.type !== 'turn-end') return
    // Who interrupted is there and knows.
    if (event.outcome !== 'aborted') this.#call('turn finished')
    this.#since = null
  }

  /** The turn goes on when the person has answered. */
  ask(): void {
    this.#call('approval needed')
  }

  #call(what: string): void {
    const { notify = 'bell', notifyAfter = defaults.screen.notifyAfter } = this.#settings
    if (this.#since === null || notify === 'off') return
    const ms = this.#now() - this.#since
    if (ms < notifyAfter * second) return
    this.#write(notify === 'bell' ? bell : `\u001B]9;pal: ${what} after ${duration(ms)}${bell}`)
  }
}

const second = 1000
