// The context of a command in a conversation: the workplace, the preset, the session, and what a person can be asked.
import type { Session } from '../../engine/session.ts'
import type { Preset } from '../../preset.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { exits, fail, type Exit } from '../exit-codes.ts'
import type { LoadedExtensions } from '../extensions/load.ts'
import type { Change } from '../terminal/change.ts'
import type { Workplace } from '../workplace/workplace.ts'

export interface CommandContext {
  readonly place: Workplace
  readonly preset: Preset
  readonly loaded: LoadedExtensions
  /** The session, begun if there is none yet. */
  session(): Promise<Session>
  /** The same, or null as long as nothing was said. */
  begun(): Session | null
  leave(): void
  /** A turn on this input, as if it had been typed. */
  turn(input: string): Promise<Exit>
  /** Goes on with another session, or with a new one. */
  change(to: SessionId | null): Promise<void>
  /** Lets a person choose; left out where nobody can. */
  readonly choose?: (<T>(title: string, choices: readonly Choice<T>[]) => Promise<T | null>) | undefined
  /** Asks for a decision about something that is shown whole; left out where nobody can be asked. */
  readonly decide?: (<T>(question: KeyedQuestion<T>) => Promise<T | null>) | undefined
  /** Opens everything anew with what is trusted now; the session goes on. */
  reload(): Promise<void>
  /** The size and the bill are shown anew; left out where they are not shown all the time. */
  readonly refresh?: (() => void) | undefined
  /** Takes messages that a rewind left, by their texts, and what followed them out of sight; left out where nothing is kept in sight. */
  readonly removeMessages?: ((texts: readonly string[]) => void) | undefined
  /** Puts text where the person types; left out where that cannot be. */
  readonly setInput?: ((text: string) => void) | undefined
}

export interface Choice<T> {
  readonly value: T
  readonly label: string
  readonly about?: string | undefined
  /** A key that selects it. */
  readonly key?: string | undefined
  /** Confirming it opens a text field; the answer is made from what is written there. */
  readonly withText?: ((text: string) => T) | undefined
}

/** A question with answers to choose from. */
export interface Question<T> {
  readonly title: string
  /** What is to be judged, shown whole; empty where nothing is. */
  readonly subject: string
  /** What is to be judged as a change of a file, shown in place of the subject. */
  readonly change?: Change | undefined
  readonly choices: readonly Choice<T>[]
  /** Said below the choices. */
  readonly note?: string | undefined
}

/** Asked where answers are given by a letter. */
export interface KeyedQuestion<T> extends Pick<Question<T>, 'title' | 'subject'> {
  readonly choices: readonly KeyedChoice<T>[]
}

export type KeyedChoice<T> = Choice<T> & { readonly key: string }

/** Of the session, or the one it would begin with. */
export const modelInUse = (context: CommandContext): string =>
  context.begun()?.modelId ?? context.preset.modelId

/** For what needs a session in which something was said. */
export async function withSession(
  context: CommandContext,
  look: (session: Session) => Promise<Exit>,
): Promise<Exit> {
  const session = context.begun()
  if (session !== null) return look(session)
  return fail(context.place.io, exits.usage, 'the session has no messages yet')
}
