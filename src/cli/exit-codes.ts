// How `pal` ends, for scripts that look (docs/cli.md). A command that cannot go on hands up a refusal with its code.
import type { Io } from './terminal/io.ts'
import { safeJson, safeLine } from './terminal/safe-text.ts'

export const exits = {
  done: 0,
  /** The turn failed, or a check found something wrong. */
  failed: 1,
  /** The command line itself cannot be followed. */
  usage: 2,
  /** A cap in money or tokens was reached. */
  cap: 3,
  /** There is no such session, or another process writes it. */
  session: 4,
  /** As a shell says of a command that Ctrl-C ended. */
  interrupted: 130,
} as const
export type Exit = (typeof exits)[keyof typeof exits]

export interface Refusal {
  readonly ok: false
  readonly exit: Exit
  /** What happened, why, and what to do. */
  readonly message: string
}

export const refuse = (exit: Exit, message: string): Refusal => ({ ok: false, exit, message })

/** Says a refusal on the error stream, and ends with its code. */
export function complain(io: Pick<Io, 'err'>, refusal: Refusal): Exit {
  io.err(`pal: ${safeLine(refusal.message)}\n`)
  return refusal.exit
}

/** The same for what is found here. */
export const fail = (io: Pick<Io, 'err'>, exit: Exit, message: string): Exit =>
  complain(io, refuse(exit, message))

/** What a command found or did: as JSON where that is asked for, else as text. */
export function print(
  io: Pick<Io, 'out'>,
  json: boolean | undefined,
  value: unknown,
  text: () => string,
): Exit {
  io.out(json === true ? `${safeJson(value, 2)}\n` : text())
  return exits.done
}

/** What the engine says of a failure, with the commands by which it is done. */
export const sayingOf = ({ code, message }: { readonly code: string; readonly message: string }): string =>
  code === 'session-open'
    ? `${message} (pal messages ID reads it, pal --resume ID --fork-session branches off)`
    : message

/** The code for a failure of engine or turn, by its stable word. */
export function exitFor(code: string): Exit {
  if (code === 'cap') return exits.cap
  if (code === 'session-open' || code === 'no-such-session' || code === 'bad-id') return exits.session
  return exits.failed
}
