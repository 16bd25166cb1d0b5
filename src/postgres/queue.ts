// What waits for whom: input for a session, the sessions that somebody must work on, questions for people. Thin: what is decided
// is decided by the functions of the database, in one statement each.
import { refused, type Result } from '../disk/failure.ts'
import type { Owner } from '../transcript/store.ts'
import { callsOf, type Calls, type Connection } from './connection.ts'

export interface Sending {
  readonly session: string
  /** By this the same input is known when it is sent again. */
  readonly id: string
  readonly kind: InputKind
  readonly body: string
  /** The trace it belongs to, as the sender's telemetry names it. */
  readonly trace?: string | undefined
  /** Of a session that begins with it: who pays. */
  readonly team?: string | undefined
  readonly project?: string | undefined
}
export type InputKind = 'input' | 'mail' | 'answer'

export interface Sent {
  /** False where this id had come before. */
  readonly isNew: boolean
  /** Why nobody works on the session for now. */
  readonly parked: string | null
}

export interface Claimed {
  readonly session: string
  readonly epoch: number
  readonly token: string
  /** How often it was claimed since a turn last went well, with this time. */
  readonly tries: number
  /** The number of the wish when it was claimed. */
  readonly n: number
  readonly next: number | null
  readonly team: string | null
  readonly project: string | null
  readonly failure: string | null
  /** Another had it and has not given it back. */
  readonly isTakeover: boolean
  /** How long it had been wanted. */
  readonly waitedMs: number
}

export interface InputRow {
  readonly id: string
  readonly kind: InputKind
  readonly body: string
  readonly trace: string | null
  readonly at: number
  /** Why nobody is to begin with it. */
  readonly parked: string | null
}

export interface QuestionRow {
  readonly session: string
  readonly id: string
  readonly tool: string
  readonly body: string
  readonly at: number
  /** `allow`, `deny`, or `deny: why`; null while nobody has answered. */
  readonly answer: string | null
}

export interface FleetRow {
  readonly session: string
  readonly purpose: string | null
  readonly root: string | null
  readonly team: string | null
  readonly project: string | null
  readonly entries: number
  readonly head: number
  readonly bytes: number
  readonly changed: number
  readonly parked: string | null
  readonly failure: string | null
  readonly tries: number
  readonly epoch: number
  readonly owner: Owner | null
  /** Input that was not yet delivered. */
  readonly waiting: number
  readonly wantedFor: number | null
  /** What its answers cost, as far as their price is known; null where it is of none. */
  readonly usd: number | null
  readonly answers: number
  /** Answers of models without a known price. */
  readonly unpriced: number
  /** Answers whose server did not say what they took: counted by size. */
  readonly estimated: number
}

/** A session that is older than it is to be kept. */
export interface OldSession {
  readonly session: string
  /** The conversation it belongs to: itself, or the one whose agent it is. */
  readonly root: string
  readonly bytes: number
  readonly changed: number
}

export type Finished = 'done' | 'more' | 'fenced'

/** Which sessions wait for a worker, and what was sent to them. */
export class Queue {
  readonly #calls: Calls
  readonly tenant: string

  constructor(connection: Connection, tenant: string) {
    this.#calls = callsOf(connection, tenant)
    this.tenant = tenant
  }

  async send({ session, id, kind, body, trace, team, project }: Sending): Promise<Result<Sent>> {
    const problem = idProblem(session) ?? idProblem(id)
    if (problem !== null) return refused('bad-name', problem)
    const found = await this.#calls.value('send', [
      session,
      id,
      kind,
      withoutZeros(body),
      trace ?? null,
      team ?? null,
      project ?? null,
    ])
    if (!found.ok) return found
    const said = found.value as { new: boolean; parked?: string | null; other?: boolean | null }
    if (said.other === true)
      return refused(
        'exists',
        `${id} was sent to session ${session} before with another text; send this one under another id`,
      )
    return { ok: true, isNew: said.new, parked: said.parked ?? null }
  }

  /** Up to `most` sessions, longest wanted first; `token` names the claim, so that one whose answer was lost is found again. */
  async claim(
    owner: { readonly host: string; readonly pid: number },
    ttlMs: number,
    token: string,
    most: number,
  ): Promise<Result<{ readonly claimed: readonly Claimed[] }>> {
    const found = await this.#calls.value('claim', (again) => [
      JSON.stringify(owner),
      `${ttlMs} milliseconds`,
      token,
      most,
      again,
    ])
    if (!found.ok) return found
    const rows = found.value as readonly Omit<Claimed, 'token'>[]
    return { ok: true, claimed: rows.map((row) => ({ ...row, token })) }
  }

  /** Nothing left to do: the wish goes, unless more has come than was seen. */
  async finish(
    { session, token }: Pick<Claimed, 'session' | 'token'>,
    seen: number,
  ): Promise<Result<{ readonly outcome: Finished }>> {
    const found = await this.#calls.value('finish', [session, token, seen])
    return found.ok ? { ok: true, outcome: found.value as Finished } : found
  }

  /** What was claimed was left because its worker was told to stop: that counts as no try. */
  uncount({ session, token }: Pick<Claimed, 'session' | 'token'>): Promise<Result<object>> {
    return this.#calls.done('uncount', [session, token])
  }

  /** The number of the wish now; what comes later has a higher one. */
  async wantedNumber(session: string): Promise<Result<{ readonly n: number }>> {
    const found = await this.#calls.value('wanted_n', [session])
    return found.ok ? { ok: true, n: Number(found.value ?? 0) } : found
  }

  async inbox(
    session: string,
    kind: InputKind | null,
    most: number,
  ): Promise<Result<{ readonly rows: readonly InputRow[] }>> {
    const found = await this.#calls.rows('inbox_of', [session, kind, most])
    if (!found.ok) return found
    return {
      ok: true,
      rows: found.rows.map((row) => ({ ...(row as object as InputRow), at: Number(row['at']) })),
    }
  }

  /** Where in the transcript an input was delivered; null while it waits. */
  async deliveredAt(session: string, id: string): Promise<Result<{ readonly seq: number | null }>> {
    const found = await this.#calls.value('received_at', [session, id])
    return found.ok ? { ok: true, seq: found.value === null ? null : Number(found.value) } : found
  }

  /** True where it was parked because it has failed too often. */
  async fail(
    { session, epoch }: Pick<Claimed, 'session' | 'epoch'>,
    why: string,
    mostTries: number,
    retryMs: number,
  ): Promise<Result<{ readonly isParked: boolean }>> {
    const found = await this.#calls.found('fail', [
      session,
      epoch,
      withoutZeros(why),
      mostTries,
      `${retryMs} milliseconds`,
    ])
    return found.ok ? { ok: true, isParked: found.isFound } : found
  }

  park(session: string, why: string): Promise<Result<{ readonly isFound: boolean }>> {
    return this.#calls.found('park', [session, withoutZeros(why)])
  }

  /** False where the answer has come meanwhile. */
  parkForQuestion(session: string, why: string): Promise<Result<{ readonly isFound: boolean }>> {
    return this.#calls.found('park_for_question', [session, withoutZeros(why)])
  }

  unpark(session: string): Promise<Result<{ readonly isFound: boolean }>> {
    return this.#calls.found('unpark', [session])
  }

  ask(
    { session, token }: Pick<Claimed, 'session' | 'token'>,
    id: string,
    tool: string,
    body: string,
  ): Promise<Result<{ readonly isFound: boolean }>> {
    return this.#calls.found('ask', [session, token, id, tool, withoutZeros(body)])
  }

  async answer(session: string, question: string, answer: string): Promise<Result<object>> {
    const found = await this.#calls.value('answer', [session, question, withoutZeros(answer)])
    if (!found.ok) return found
    switch (found.value) {
      case 'ok':
        return { ok: true }
      case 'answered':
        return refused('exists', `question ${question} was answered before, in another way`)
      default:
        return refused(
          'not-found',
          `session ${session} has no question ${question}; pal fleet show ${session} lists them`,
        )
    }
  }

  /** Of one session all, of all sessions those that nobody has answered. */
  async questions(session: string | null): Promise<Result<{ readonly questions: readonly QuestionRow[] }>> {
    const found = await this.#calls.rows('questions', [session])
    if (!found.ok) return found
    return {
      ok: true,
      questions: found.rows.map((row) => ({ ...(row as object as QuestionRow), at: Number(row['at']) })),
    }
  }

  async rows(session: string | null = null): Promise<Result<{ readonly rows: readonly FleetRow[] }>> {
    const found = await this.#calls.values('fleet_rows', [session])
    return found.ok ? { ok: true, rows: found.values as readonly FleetRow[] } : found
  }

  /** By this name the session is written to from now on; null: by none. */
  putCard(session: string, name: string | null): Promise<Result<object>> {
    return this.#calls.done('put_card', [session, name && withoutZeros(name)])
  }

  /** Those whose session somebody works on. */
  async cards(): Promise<
    Result<{ readonly cards: readonly { readonly session: string; readonly name: string }[] }>
  > {
    const found = await this.#calls.rows('cards', [])
    if (!found.ok) return found
    return {
      ok: true,
      cards: found.rows.map(({ session, name }) => ({ session: session as string, name: name as string })),
    }
  }

  /** Whether messages for a session will be read by somebody. */
  hasBox(session: string): Promise<Result<{ readonly isFound: boolean }>> {
    return this.#calls.found('has_box', [session])
  }

  dropMail(session: string, ids: readonly string[]): Promise<Result<object>> {
    return this.#calls.done('drop_mail', [session, ids])
  }

  /** How long the oldest input of a session that is not parked has waited, 0 where none does, and how many sessions are parked. */
  async waiting(): Promise<Result<{ readonly oldestMs: number; readonly parked: number }>> {
    const found = await this.#calls.rows('waiting', [])
    if (!found.ok) return found
    const [row] = found.rows
    return { ok: true, oldestMs: Number(row!['oldest'] ?? 0), parked: Number(row!['parked']) }
  }

  /** Sessions that nothing was written to since and that nobody has anything to do with, with their agents; oldest first. */
  async oldSessions(before: Date): Promise<Result<{ readonly sessions: readonly OldSession[] }>> {
    const found = await this.#calls.rows('old_sessions', [before.toISOString()])
    if (!found.ok) return found
    return {
      ok: true,
      sessions: found.rows.map(({ id, root, bytes, changed }) => ({
        session: id as string,
        root: root as string,
        bytes: Number(bytes),
        changed: Number(changed),
      })),
    }
  }

  /** All of these, for good, where none of them is wanted or written to since; those that went. */
  async removeOld(
    sessions: readonly string[],
    before: Date,
  ): Promise<Result<{ readonly removed: readonly string[] }>> {
    const found = await this.#calls.values('remove_old', [sessions, before.toISOString()])
    return found.ok ? { ok: true, removed: found.values as readonly string[] } : found
  }
}

const mostIdChars = 200

function idProblem(id: string): string | null {
  if (id !== '' && id.length <= mostIdChars && /^[\x21-\x7e]+$/.test(id)) return null
  return `${JSON.stringify(id.slice(0, 40))} is no id: 1 to ${mostIdChars} visible characters of ASCII`
}

/** A text column takes no zero character and no half of a pair. */
const withoutZeros = (text: string): string => text.toWellFormed().replaceAll('\0', '')
