// What the adapters of all wires share: their options, and a model on a connection.
import { NotReady, reasonOf, streamAttempts, type AnswerReader, type Connection } from '../model/attempts.ts'
import { countOnce } from '../model/count.ts'
import type { ModelSettings } from '../model/failure.ts'
import type { Model } from '../model/model.ts'
import { defaults } from '../settings/defaults.ts'
import { systemClock, type Clock } from '../transcript/ids.ts'
import type { Wire } from './wire.ts'

export interface AdapterOptions {
  /** Nothing is looked for in the environment. A server that needs no key gets none. */
  readonly apiKey?: string | undefined
  /** Null or absent: the public API of the maker. */
  readonly baseUrl?: string | null | undefined
  /** Sent along with every request, over those of the SDK. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Parameters of the address, where a server wants its version there. */
  readonly query?: Readonly<Record<string, string>> | undefined
  readonly fetch?: typeof globalThis.fetch | undefined
  readonly clock?: Clock | undefined
  /** Between 0 and 1, for the spread of waits. */
  readonly random?: (() => number) | undefined
  readonly settings?: Partial<ModelSettings> | undefined
}

/** A model on a connection that is opened with the first request. */
export function modelOn(
  wire: Pick<Wire, 'name' | 'failureOf' | 'count'> & { createReader(asked: string): AnswerReader },
  options: Pick<AdapterOptions, 'clock' | 'random' | 'settings'>,
  open: () => Promise<Connection>,
): Model {
  const { clock = systemClock, random = Math.random } = options
  let connection: Promise<Connection> | null = null
  const ports = {
    wire: wire.name,
    connect: (): Promise<Connection> => (connection ??= opened(open)),
    reader: ({ model }: { readonly model: string }) => wire.createReader(model),
    failureOf: wire.failureOf,
    settings: { ...defaults.model, ...options.settings },
    clock,
    random,
  }
  const opened = (make: () => Promise<Connection>): Promise<Connection> =>
    make().catch((error: unknown) => {
      // What could not be opened is tried again with the next request: a package may have been installed.
      connection = null
      throw error
    })
  const { count } = wire
  return {
    stream: (request, signal) => streamAttempts(ports, request, signal),
    ...(count === undefined ? {} : { count: (request, signal) => countOnce(ports, count, request, signal) }),
  }
}

/** A package that is installed beside this one only by those who need it. */
export async function optionalPackage<T>(name: string, load: () => Promise<T>): Promise<T> {
  return await load().catch((error: unknown) => {
    throw new NotReady(
      'invalid',
      `the package ${name} could not be loaded: npm install ${name} (${reasonOf(error).split('\n')[0]})`,
    )
  })
}

/** Refuses an address that is none before anything is sent. */
export function checkBaseUrl(baseUrl: string | null | undefined): void {
  if (baseUrl !== null && baseUrl !== undefined && !URL.canParse(baseUrl))
    throw new NotReady(
      'invalid',
      `the base URL ${JSON.stringify(baseUrl)} is no address; write it as https://HOST`,
    )
}
