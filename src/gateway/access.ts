// Who may speak to the gateway. A page in a browser must not, whatever name it found for this address: the Host has to be
// the bound one and there must be no foreign Origin. Beyond this machine everything needs the token.
import { hash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface AccessRules {
  readonly host: string
  readonly port: number
  readonly token: string
}
export type Access =
  | { readonly ok: true; readonly path: string; readonly hasToken: boolean }
  | { readonly ok: false; readonly status: number; readonly why: string }

export const loopbackNames = ['127.0.0.1', 'localhost', '[::1]']
export const isLoopback = (host: string): boolean => ['127.0.0.1', '::1', 'localhost'].includes(host)

/** A token may stand before the path, for clients that can set nothing but a base URL. */
const prefix = /^\/token\/([^/]+)(\/.*)$/u

export function isAllowed(incoming: Pick<IncomingMessage, 'headers' | 'url'>, rules: AccessRules): Access {
  const { headers } = incoming
  const [, inPath, rest] = prefix.exec(incoming.url ?? '/') ?? []
  const given = inPath ?? single(headers['x-palimpsest-token'])
  const hasToken = given !== undefined && isEqual(given, rules.token)
  const path = hasToken && rest !== undefined ? rest : (incoming.url ?? '/')
  if (inPath !== undefined && !hasToken)
    return { ok: false, status: 401, why: 'the token before the path is not the one of this gateway' }
  if (!path.startsWith('/'))
    return { ok: false, status: 400, why: 'only paths are served, not other addresses' }
  const isHere = isLoopback(rules.host)
  const foreign = pageRefusal(headers, rules)
  if (foreign !== null) return foreign
  if (!isHere && !hasToken)
    return {
      ok: false,
      status: 401,
      why: 'beyond this machine every request needs the token (x-palimpsest-token, or /token/TOKEN before the path)',
    }
  return { ok: true, path, hasToken }
}

/** Why a request must come from a page of somebody else, or from one that found another name for this address; else null. */
export function pageRefusal(
  headers: IncomingMessage['headers'],
  { host, port }: Pick<AccessRules, 'host' | 'port'>,
): Extract<Access, { ok: false }> | null {
  if (isLoopback(host) && !loopbackNames.some((name) => headers.host === `${name}:${port}`))
    return {
      ok: false,
      status: 403,
      why: `requests must name this address as their host, not ${headers.host ?? 'none'}`,
    }
  const origin = single(headers.origin)
  // A browser names no origin for a plain GET of a page, but says that it is one.
  const site = single(headers['sec-fetch-site'])
  const isForeign = site === 'cross-site' || site === 'same-site'
  if (isForeign || (origin !== undefined && origin !== `http://${headers.host ?? ''}`))
    return { ok: false, status: 403, why: 'requests from pages of another origin are refused' }
  return null
}

export const single = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value[0] : value

/** In the same time, wherever they differ. */
export const isEqual = (a: string, b: string): boolean =>
  // No token is no door that stands open.
  b !== '' && timingSafeEqual(hash('sha256', a, 'buffer'), hash('sha256', b, 'buffer'))

/** A host as it stands in an address. */
export const inUrl = (host: string): string => (host.includes(':') ? `[${host}]` : host)

export const portOf = (server: Server): number => (server.address() as AddressInfo | null)?.port ?? 0

/** Ends when nobody is connected any more. */
export async function closeServer(server: Server): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()))
  server.closeAllConnections()
  await ended
}

/** Rejects where the address cannot be had. */
export function listening(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
