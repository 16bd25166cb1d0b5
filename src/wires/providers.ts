// Who is asked: a model is named `provider/model`, a provider is a row of ours or of the settings, and each speaks one wire.
// A name without a provider is the Messages API's, as it always was, unless its row says whose it is.
import type { WireName } from '../model/model.ts'
import { lookUp, wireModelId, type ModelTable } from '../model/models.ts'
import { knownServers, serverNamed, type ServerRow } from './servers.ts'
import type { Quirks } from './wire.ts'

/** What the settings say of a provider: over our own row, or a row by itself. */
export interface ProviderSettings {
  readonly wire?: Exclude<WireName, 'anthropic'> | undefined
  readonly baseUrl?: string | undefined
  /** The variable that holds its key; null where it needs none. */
  readonly keyVariable?: string | null | undefined
  readonly quirks?: Quirks | undefined
}
export type ProvidersByName = Readonly<Record<string, ProviderSettings>>

export interface Provider extends Omit<ServerRow, 'wires'> {
  readonly wire: WireName
}

/**
 * Every provider there is by name, those of the settings over ours. Behind a gateway of the Messages API only those that the
 * settings name: `openai/…` may be what the gateway calls a model, and what is meant for it must go nowhere else.
 */
export function providersOf(
  settings: ProvidersByName = {},
  { gateway = false }: { readonly gateway?: boolean } = {},
): ReadonlyMap<string, Provider> {
  const known = gateway ? [] : knownServers.map(({ name }) => name)
  const names = new Set([...known, ...Object.keys(settings)])
  return new Map([...names].map((name) => [name, providerNamed(name, settings[name] ?? {})]))
}

/** The variables that hold keys. */
export const keyVariables = (settings: ProvidersByName | undefined): ReadonlySet<string> =>
  new Set([...providersOf(settings).values()].flatMap(({ keyVariable }) => keyVariable ?? []))

/** An environment for whatever is started: without the keys of providers, whatever their variables are called. */
export function withoutKeys(
  environment: Readonly<Record<string, string | undefined>>,
  settings: ProvidersByName | undefined,
): Readonly<Record<string, string | undefined>> {
  const keys = keyVariables(settings)
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !keys.has(name)))
}

function providerNamed(name: string, own: ProviderSettings): Provider {
  const row = serverNamed(name)
  const keyVariable = own.keyVariable === undefined ? (row?.keyVariable ?? null) : own.keyVariable
  return {
    name,
    wire: own.wire ?? row?.wires[0] ?? 'openai-chat',
    baseUrl: own.baseUrl ?? row?.baseUrl ?? null,
    keyVariable,
    keyHeader: keyVariable === null ? 'none' : row === null ? 'authorization' : keyHeaderOf(row),
    query: row?.query,
    quirks: { ...row?.quirks, ...own.quirks },
  }
}

const keyHeaderOf = ({ keyHeader }: ServerRow): ServerRow['keyHeader'] =>
  keyHeader === 'none' ? 'authorization' : keyHeader

export interface NamedModel {
  /** Null: the Messages API. */
  readonly provider: Provider | null
  /** Its name on the wire. */
  readonly model: string
}

/** Who a model is asked of, by its name. */
export function modelNamed(
  id: string,
  providers: ReadonlyMap<string, Provider>,
  table: ModelTable,
): NamedModel {
  const plain = wireModelId(id)
  const slash = plain.indexOf('/')
  const head = slash === -1 ? null : plain.slice(0, slash)
  const rest = plain.slice(slash + 1)
  const named = head === null ? undefined : providers.get(head)
  if (named !== undefined) return { provider: named, model: rest }
  if (head === anthropic) return { provider: null, model: rest }
  // A row of the table knows its maker; behind a gateway of the Messages API a name is what it is.
  const maker = head === null ? lookUp(table, plain)?.provider : undefined
  return { provider: providers.get(maker ?? '') ?? null, model: plain }
}

/** Why nothing can be sent to a provider, with what helps; null where it can. */
export function unreachable(
  { name, baseUrl, keyVariable }: Provider,
  key: string | undefined,
): string | null {
  if (baseUrl === null)
    return `${name} has no address; set providers.${name}.baseUrl, as pal config providers '{"${name}": {"baseUrl": "https://…"}}'`
  if (keyVariable !== null && (key ?? '') === '')
    return `no API key for ${name}: set ${keyVariable}, or run pal login ${name}`
  return null
}

/**
 * What is not known of a model and must be, with the setting that says it; null where all is. `providers` null: a server of the
 * user's own decides what a name without one of them is, and what it holds.
 */
export function missingOf(
  id: string,
  { provider, model }: NamedModel,
  table: ModelTable,
  window: number | undefined,
  providers: ReadonlyMap<string, Provider> | null,
): string | null {
  if (provider === null && providers === null) return null
  const nobody = provider === null ? nobodyNamed(id, providers ?? new Map()) : null
  if (nobody !== null) return nobody
  // Who runs a model at home pays nobody for it.
  const isFree = provider?.keyVariable === null
  const info = lookUp(table, model)
  const row = `models in the settings, as {"id": "${model}", "window": 128000${isFree ? '' : ', "prices": {"input": 1, "output": 5, "read": 0.1, "write5m": 1, "write1h": 1}'}}`
  if (info === null && window === undefined)
    return `the window of ${id} is not known: add it to ${row}; or set window`
  return (info?.prices ?? null) === null && !isFree
    ? `the price of ${id} is not known: add it to ${row}`
    : null
}

/** A name with a slash begins with a provider; one that nobody knows would go to the Messages API, which has no such model. */
function nobodyNamed(id: string, providers: ReadonlyMap<string, Provider>): string | null {
  const [name = '', ...rest] = id.split('/')
  if (rest.length === 0 || name === anthropic) return null
  const row = `{"${name}": {"wire": "openai-chat", "baseUrl": "https://…/v1", "keyVariable": "…"}}`
  return `${id} names the provider ${name}, and there is none: there are ${[anthropic, ...providers.keys()].join(', ')}; the setting providers adds one, as pal config providers '${row}'`
}
const anthropic = 'anthropic'
