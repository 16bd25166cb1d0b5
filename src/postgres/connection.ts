// The way to the database. A failure is a value: what the server refused is named by its code, and what only the connection
// suffered is tried again for a while, because servers restart. A statement whose answer was lost may have been carried out:
// whoever asks is told that it is asked again.
import type { Pool, PoolClient, PoolConfig } from 'pg'
import { errorText, refused, type Failure, type Result } from '../disk/failure.ts'
import { systemCode } from '../disk/fs.ts'

export interface ConnectionOptions {
  /** `postgres://user:password@host:port/database`. */
  readonly url: string
  /** Connections of this process at most. */
  readonly connections?: number | undefined
  /** How long a statement is tried again while the server cannot be reached. */
  readonly patienceMs?: number | undefined
  /** How long an answer is waited for before the connection counts as dead. */
  readonly answerMs?: number | undefined
  readonly random?: (() => number) | undefined
}

export type Rows = Result<{ readonly rows: readonly Record<string, unknown>[] }>

export interface Connection {
  /** `values` is asked again for each try and told whether an earlier one may have been carried out. */
  query(text: string, values: readonly unknown[] | ((again: boolean) => readonly unknown[])): Promise<Rows>
  /** The work of one connection, not tried again. */
  alone<T>(work: (client: PoolClient) => Promise<T>): Promise<Result<{ readonly value: T }>>
  close(): Promise<void>
}

type Values = Parameters<Connection['query']>[1]

/** The functions of the database, as one tenant calls them: each is given the tenant first. */
export interface Calls {
  /** What a function returns; `done` where that says nothing, `found` where it says whether there was any. */
  value(name: string, values: Values): Promise<Result<{ readonly value: unknown }>>
  done(name: string, values: Values): Promise<Result<object>>
  found(name: string, values: Values): Promise<Result<{ readonly isFound: boolean }>>
  /** Of one that returns several: each value, or each row. */
  values(name: string, values: Values): Promise<Result<{ readonly values: readonly unknown[] }>>
  rows(name: string, values: Values): Promise<Rows>
}

export function callsOf(connection: Connection, tenant: string): Calls {
  const asked = (given: Values, statement: (places: string) => string): Promise<Rows> => {
    const values = (again: boolean): readonly unknown[] => [
      tenant,
      ...(typeof given === 'function' ? given(again) : given),
    ]
    const places = values(false).map((_, at) => `$${at + 1}`)
    return connection.query(statement(places.join(', ')), values)
  }
  const values: Calls['values'] = async (name, given) => {
    const found = await asked(given, (places) => `select pal.${name}(${places}) as value`)
    return found.ok ? { ok: true, values: found.rows.map(({ value }) => value) } : found
  }
  const value: Calls['value'] = async (name, given) => {
    const found = await values(name, given)
    return found.ok ? { ok: true, value: found.values[0] } : found
  }
  return {
    values,
    value,
    rows: (name, given) => asked(given, (places) => `select * from pal.${name}(${places})`),
    async done(name, given) {
      const found = await value(name, given)
      return found.ok ? { ok: true } : found
    },
    async found(name, given) {
      const found = await value(name, given)
      return found.ok ? { ok: true, isFound: found.value === true } : found
    },
  }
}

/** Where nothing else is said. */
const connectionDefaults = {
  connections: 6,
  patienceMs: 60_000,
  answerMs: 15_000,
  connectMs: 5_000,
  firstWaitMs: 50,
  longestWaitMs: 2_000,
}

/** Opens no connection before it is asked something. */
export function connect(options: ConnectionOptions): Connection {
  const { patienceMs = connectionDefaults.patienceMs, random = Math.random } = options
  let pool: Promise<Result<{ readonly pool: Pool }>> | null = null
  let closed = false
  const opened = (): Promise<Result<{ readonly pool: Pool }>> => (pool ??= makePool(options))

  const once = async <T>(work: (client: PoolClient) => Promise<T>): Promise<Outcome<T>> => {
    if (closed) return { ok: false, failure: closedFailure, isPassing: false }
    const made = await opened()
    if (!made.ok) return { ...made, isPassing: false }
    let client: PoolClient | null = null
    try {
      client = await made.pool.connect()
      const value = await work(client)
      client.release()
      return { ok: true, value }
    } catch (error) {
      const isPassing = isOfConnection(error)
      client?.release(isPassing)
      return { ok: false, failure: failureOf(error), isPassing }
    }
  }

  return {
    async query(text, values) {
      const end = performance.now() + patienceMs
      let wait = connectionDefaults.firstWaitMs
      for (let again = false; ; again = true) {
        const given = typeof values === 'function' ? values(again) : values
        const outcome = await once((client) => client.query(text, [...given]))
        if (outcome.ok) return { ok: true, rows: outcome.value.rows as Record<string, unknown>[] }
        if (!outcome.isPassing || performance.now() + wait > end)
          return { ok: false, failure: outcome.failure }
        await new Promise((resolve) => setTimeout(resolve, wait * (0.5 + random())))
        wait = Math.min(connectionDefaults.longestWaitMs, wait * 2)
      }
    },
    async alone(work) {
      const outcome = await once(work)
      return outcome.ok ? outcome : { ok: false, failure: outcome.failure }
    },
    async close() {
      closed = true
      const made = await (pool ?? null)
      if (made !== null && made.ok) await made.pool.end()
    },
  }
}

type Outcome<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: Failure; readonly isPassing: boolean }

async function makePool(options: ConnectionOptions): Promise<Result<{ readonly pool: Pool }>> {
  const driver = await import('pg').then(
    (module) => module,
    () => null,
  )
  if (driver === null)
    return refused('unsupported', 'sessions in Postgres need the package pg; install it: npm install pg')
  const config: PoolConfig = {
    connectionString: options.url,
    max: options.connections ?? connectionDefaults.connections,
    connectionTimeoutMillis: connectionDefaults.connectMs,
    query_timeout: options.answerMs ?? connectionDefaults.answerMs,
    keepAlive: true,
    application_name: 'palimpsest',
    allowExitOnIdle: true,
  }
  try {
    const { Pool: PoolOfDriver } = driver.default ?? driver
    const pool = new PoolOfDriver(config)
    // A connection that breaks while nobody uses it is replaced by the next one.
    pool.on('error', () => undefined)
    // One that breaks between two statements of somebody who has it says so in the next one.
    pool.on('connect', (client) => client.on('error', () => undefined))
    return { ok: true, pool }
  } catch (error) {
    return refused(
      'bad-options',
      `the address of the database cannot be read (${withoutSecrets(String(error))}); use postgres://user:password@host:port/database`,
    )
  }
}

const closedFailure: Failure = { code: 'closed', message: 'the connection to the database was closed' }

const codeOf = (error: unknown): string => systemCode(error) ?? ''

const systemCodes = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EAI_AGAIN',
  'ENOENT',
])
/** The server takes no writes: a standby, or one that was the primary before. */
const readOnly = '25006'
/** The server is starting, stopping or full; two transactions got into each other's way; another server takes over. */
const passingStates = new Set([
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  '53300',
  '40001',
  '40P01',
  '55P03',
  readOnly,
])

function isOfConnection(error: unknown): boolean {
  const code = codeOf(error)
  if (systemCodes.has(code) || passingStates.has(code) || /^08...$/.test(code)) return true
  return code === '' && /terminated|timeout|ended by|not queryable|socket|closed/i.test(String(error))
}

/** The driver's words where `answerMs` were over. */
const noAnswer = 'Query read timeout'

/** What to say of a refusal of the server, and under which code. */
function failureOf(error: unknown): Failure {
  const code = codeOf(error)
  const text = withoutSecrets(errorText(error))
  if (code === '22021')
    return { code: 'bad-name', message: 'the database keeps no text with a zero character in it' }
  if (code === '53100') return { code: 'disk-full', message: `the disk of the database is full: ${text}` }
  if (code === '42501')
    return {
      code: 'no-access',
      message: `the database refused it: ${text}${/permission denied/u.test(text) ? '; this login needs the role pal_app, or pal_reader to read alone: grant pal_app to LOGIN' : ''}`,
    }
  if (code.startsWith('28'))
    return {
      code: 'no-access',
      message: `the database refused the login: ${text}; check user and password in PAL_DATABASE_URL`,
    }
  if (code === '3D000')
    return { code: 'not-found', message: `${text}; create it, or correct PAL_DATABASE_URL` }
  if (['3F000', '42P01', '42883', '42703'].includes(code))
    return {
      code: 'unknown-format',
      message: `this database is not prepared for this version (${text}); run: pal fleet migrate`,
    }
  if (code === '23503')
    return {
      code: 'not-found',
      message: 'there is no such tenant in this database; run: pal fleet migrate --tenant NAME',
    }
  if (code === readOnly)
    return {
      code: 'network',
      message: `this server of the database only reads (${text}): it is a standby, or another server takes over; PAL_DATABASE_URL must lead to the one that writes`,
    }
  if (code === '' && text.includes(noAnswer))
    return {
      code: 'network',
      message:
        'the database did not answer in time: it has too much to do, or nobody answers any more; look at what it works on (pg_stat_activity), then try again',
    }
  if (code === 'ENOTFOUND' || isOfConnection(error))
    return {
      code: 'network',
      message: `the database cannot be reached: ${text}; check that it runs and that PAL_DATABASE_URL is right`,
    }
  return { code: 'io-error', message: `the database failed: ${text}${code === '' ? '' : ` (${code})`}` }
}

/** An address with a password in it never reaches a screen or a log. */
export const withoutSecrets = (text: string): string =>
  text.replaceAll(/(:\/\/[^:@/\s]*):[^@/\s]*@/g, '$1:…@')
