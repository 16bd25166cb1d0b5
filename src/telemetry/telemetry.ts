// Telemetry of sessions and of what they started: entries go in, spans and metrics come out at the port. Pure but for the
// port: the same entries give the same spans with the same ids, whoever reads them and whenever.
import { isKnown, type StoredEntry } from '../transcript/fact.ts'
import type { ReaderOptions } from './options.ts'
import { SessionReader, type Agent, type Family } from './reader.ts'

export interface TelemetryOptions extends ReaderOptions {
  /** Sessions that will be read too, by their ids: what they took is counted there, not at their end in a parent. */
  readonly read?: ReadonlySet<string> | undefined
}

export interface Telemetry {
  /** One more entry of a session, in the order of its places. */
  take(session: string, entry: StoredEntry): void
  /** Whether it is being read. */
  knows(session: string): boolean
  /** Lets go of what is known of a session; that it was read stays known. */
  forget(session: string): void
}

/** A reader of facts for any number of sessions. A parent is read before what it started. */
export function createTelemetry(options: TelemetryOptions): Telemetry {
  const readers = new Map<string, SessionReader>()
  const read = new Set<string>(options.read)
  const agents = new Map<string, Agent>()
  const family: Family = {
    turnOf: (session, at) => readers.get(session)?.turnAt(at) ?? null,
    agentOf: (child) => agents.get(child) ?? null,
    isRead: (child) => read.has(child),
    noteAgent: (child, agent) => void agents.set(child, agent),
  }
  return {
    take: (session, entry) => {
      const reader = readers.get(session) ?? new SessionReader(session, options, family)
      readers.set(session, reader)
      read.add(session)
      if (isKnown(entry)) reader.take(entry)
    },
    knows: (session) => readers.has(session),
    forget: (session) => void readers.delete(session),
  }
}
