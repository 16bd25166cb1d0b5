// Names of things. Branded, so that a call id cannot be passed where a session id is meant.
// Clock and ids come in from outside: nothing in this package asks the machine for either.

export type SessionId = string & { readonly __brand: 'SessionId' }
export type Uuid = string & { readonly __brand: 'Uuid' }
/** The provider's id of one tool call. It comes from outside and is never trusted as a path. */
export type CallId = string & { readonly __brand: 'CallId' }
/** Place of an entry in its session: 0, 1, 2 … without gaps. A fork goes on counting where it left its parent. */
export type Seq = number & { readonly __brand: 'Seq' }

export const sessionId = (text: string): SessionId => text as SessionId
export const uuid = (text: string): Uuid => text as Uuid
export const callId = (text: string): CallId => text as CallId
export const seq = (value: number): Seq => value as Seq
export const after = (place: Seq): Seq => (place + 1) as Seq
/** The end of a range that goes on as far as its session does. */
export const unbounded = seq(Number.MAX_SAFE_INTEGER)

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export interface Ids {
  uuid(): Uuid
}

/** A uuid of version 7: the first 48 bits are the time, so ids sort as they were made. */
export function uuidFrom(ms: number, random: Uint8Array): Uuid {
  const bytes = new Uint8Array(16)
  for (let i = 0; i < 6; i++) bytes[i] = Math.floor(ms / 2 ** (8 * (5 - i))) & 0xff
  bytes.set(random.subarray(0, 10), 6)
  bytes[6] = (bytes[6]! & 0x0f) | 0x70
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}` as Uuid
}

/** The ids and the clock of the machine, for those who do not bring their own. Works in Node and in a browser. */
export const systemClock: Clock = { now: () => Date.now() }
export function systemIds(clock: Clock = systemClock): Ids {
  return { uuid: () => uuidFrom(clock.now(), crypto.getRandomValues(new Uint8Array(10))) }
}
