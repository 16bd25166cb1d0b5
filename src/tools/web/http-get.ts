// One GET over the web: no cookies, no credentials, nothing of ours but the address. The address is checked at the very
// moment of connecting, so that a name cannot point elsewhere after it was looked at; every redirect is checked again, and
// one to another host ends here: whether that host may be asked was not decided.
// Time and size are bounded, also of what is unpacked.
import { lookup as systemLookup, type LookupAddress } from 'node:dns'
import * as http from 'node:http'
import * as https from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createBrotliDecompress, createUnzip } from 'node:zlib'
import { errorText, type OrWhy } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'
import { interruptedMark } from '../../transcript/markers.ts'

export interface HttpGetOptions {
  /** Allows addresses that are not public: `host` or `host:port`, as written in the URL. */
  readonly allowHosts?: readonly string[] | undefined
  /** Finds the addresses of a name. */
  readonly lookup?: typeof systemLookup | undefined
}

export type Fetched = OrWhy<{
  readonly url: string
  readonly status: number
  readonly type: string
  readonly bytes: Uint8Array
  readonly cut: boolean
}>

export async function httpGet(
  address: string,
  options: HttpGetOptions,
  signal: AbortSignal,
): Promise<Fetched> {
  const limited = AbortSignal.any([signal, AbortSignal.timeout(defaults.tools.fetchMs)])
  let url = address
  let host: string | null = null
  for (let hops = 0; hops <= defaults.tools.fetchRedirects; hops++) {
    const checked = checkUrl(url, options)
    if (!checked.ok) return checked
    host ??= checked.url.hostname
    if (checked.url.hostname !== host)
      return { ok: false, why: `it leads on to ${checked.url.href} (call WebFetch with that address)` }
    try {
      const answer = await once(checked.url, options, limited)
      if (answer.location === null) return { ok: true, url: checked.url.href, ...answer }
      url = new URL(answer.location, checked.url).href
    } catch (error) {
      if (signal.aborted) return { ok: false, why: interruptedMark }
      if (limited.aborted) return { ok: false, why: `no answer within ${defaults.tools.fetchMs / 1000} s` }
      return { ok: false, why: errorText(error) }
    }
  }
  return { ok: false, why: `more than ${defaults.tools.fetchRedirects} redirects` }
}

function checkUrl(text: string, options: HttpGetOptions): OrWhy<{ readonly url: URL }> {
  const refuse = (why: string) => ({ ok: false, why }) as const
  if (text.length > defaults.tools.fetchUrlChars)
    return refuse(`the URL is longer than ${defaults.tools.fetchUrlChars} characters`)
  if (!URL.canParse(text)) return refuse(`${JSON.stringify(text)} is not a URL`)
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return refuse(`only http and https are fetched, not ${url.protocol}`)
  if (url.username !== '' || url.password !== '')
    return refuse('a URL with a user or password in it is not fetched')
  const literal = literalAddress(url.hostname)
  if (literal !== null && !isPublicAddress(literal) && !isAllowed(url, options))
    return refuse(notPublic(literal))
  return { ok: true, url }
}

const notPublic = (address: string) => `${address} is not an address of the public web`
const isAllowed = (url: URL, { allowHosts = [] }: HttpGetOptions) =>
  allowHosts.includes(url.host) || allowHosts.includes(url.hostname)

type Answer = Omit<Extract<Fetched, { ok: true }>, 'ok' | 'url'> & { readonly location: string | null }

function once(url: URL, options: HttpGetOptions, signal: AbortSignal): Promise<Answer> {
  const client = url.protocol === 'https:' ? https : http
  return new Promise((resolve, reject) => {
    const request = client.get(
      url,
      {
        signal,
        agent: false,
        lookup: guardedLookup(options.lookup ?? systemLookup, isAllowed(url, options)),
        headers: {
          accept: 'text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1',
          'accept-encoding': 'gzip, deflate, br',
          'user-agent': 'palimpsest',
        },
      },
      (response) => {
        const status = response.statusCode ?? 0
        const location = status >= 300 && status < 400 ? (response.headers.location ?? null) : null
        if (location !== null) {
          response.destroy()
          return resolve({ status, type: '', bytes: new Uint8Array(), cut: false, location })
        }
        readBody(response).then(
          ({ bytes, cut }) =>
            resolve({ status, type: response.headers['content-type'] ?? '', bytes, cut, location }),
          reject,
        )
      },
    )
    request.once('error', reject)
  })
}

/** The connection is made to the addresses that pass here and to no others. */
function guardedLookup(find: typeof systemLookup, allowed: boolean): LookupFunction {
  return (hostname, options, done) => {
    find(hostname, { ...options, all: true }, (error, found) => {
      if (error !== null) return done(error, '', 0)
      const addresses: LookupAddress[] = allowed
        ? found
        : found.filter(({ address }) => isPublicAddress(address))
      const first = addresses[0]
      if (first === undefined) return done(new Error(notPublic(found[0]?.address ?? hostname)), '', 0)
      return options.all === true ? done(null, addresses) : done(null, first.address, first.family)
    })
  }
}

async function readBody(response: http.IncomingMessage): Promise<{ bytes: Uint8Array; cut: boolean }> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of unpacked(response)) {
    parts.push(part as Uint8Array)
    bytes += (part as Uint8Array).byteLength
    if (bytes > defaults.tools.fetchBytes) break
  }
  response.destroy()
  return {
    bytes: Buffer.concat(parts).subarray(0, defaults.tools.fetchBytes),
    cut: bytes > defaults.tools.fetchBytes,
  }
}

function unpacked(response: http.IncomingMessage): Readable {
  const encoding = response.headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return response
  // What goes wrong in the pipe shows in the stream that is read.
  return pipeline(response, encoding === 'br' ? createBrotliDecompress() : createUnzip(), () => {})
}

// Which addresses are the public web. Everything else (this machine, its network, the cloud's own services, addresses
// that only stand for others) is refused, so that a page or an instruction in a file cannot make us call inside.

const reserved = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 3],
] as const)
  reserved.addSubnet(net, bits, 'ipv4')

/** Of version 6 only the range given out for the public is public, without the parts that wrap or test. */
const publicSix = new BlockList()
publicSix.addSubnet('2000::', 3, 'ipv6')
for (const [net, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const)
  reserved.addSubnet(net, bits, 'ipv6')

export function isPublicAddress(address: string): boolean {
  const family = isIP(address)
  if (family === 4) return !reserved.check(address, 'ipv4')
  return family === 6 && publicSix.check(address, 'ipv6') && !reserved.check(address, 'ipv6')
}

/** The address a URL names literally, without its brackets; null when it is a name. */
function literalAddress(hostname: string): string | null {
  const bare = hostname.replace(/^\[|\]$/g, '')
  return isIP(bare) === 0 ? null : bare
}
