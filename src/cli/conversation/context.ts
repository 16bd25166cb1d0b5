// Where a command of a talk stands: the place, the preset, the session, and what a person can be asked for.
import type { Session } from '../../engine/session.ts'
import type { Preset } from '../../preset.ts'
import { exits, type Exit } from '../exit-codes.ts'
import type { Loaded } from '../extensions/load.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Workplace } from '../workplace/workplace.ts'

export interface Scene {
  readonly place: Workplace
  readonly preset: Preset
  readonly loaded: Loaded
  /** The session, begun if there is none yet. */
  session(): Promise<Session>
  /** The same, or null as long as nothing was said. */
  begun(): Session | null
  leave(): void
  /** A turn on these words, as if they had been typed. */
  turn(words: string): Promise<Exit>
  /** Goes on with another session, or with a new one. */
  change(to: SessionId | null): Promise<void>
  /** Lets a person choose; left out where nobody can. */
  readonly choose?: (<T>(title: string, choices: readonly Choice<T>[]) => Promise<T | null>) | undefined
  /** Asks for a decision about something that is shown whole; left out where nobody can be asked. */
  readonly decide?: (<T>(question: Decision<T>) => Promise<T | null>) | undefined
  /** Opens everything anew with what is trusted now; the session goes on. */
  reload(): Promise<void>
  /** Puts words where the person types; left out where that cannot be. */
  readonly setInput?: ((words: string) => void) | undefined
}

export interface Choice<T> {
  readonly value: T
  readonly label: string
  readonly about?: string | undefined
}

export interface Decision<T> {
  readonly title: string
  readonly subject: string
  readonly choices: readonly (Choice<T> & { readonly key: string })[]
}

/** For what needs a session in which something was said. */
export async function looking(scene: Scene, look: (session: Session) => Promise<Exit>): Promise<Exit> {
  const session = scene.begun()
  if (session !== null) return look(session)
  scene.place.io.err('pal: nothing has been said yet\n')
  return exits.usage
}
