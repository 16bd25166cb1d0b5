// One selection, and it stands in the address: which session, which request, block, edit or break. What the page shows is
// a function of it, so a link, the back button and a reload show the same again.

export type Address =
  | { readonly screen: 'sessions' }
  | { readonly screen: 'memory'; readonly store: string | null; readonly file: string | null }
  | ({ readonly session: string } & SessionAddress)

export type SessionAddress =
  | { readonly screen: 'window'; readonly from: number | null; readonly to: number | null }
  | { readonly screen: 'request'; readonly seq: number; readonly look: RequestLook }
  | { readonly screen: 'block'; readonly seq: number; readonly block: number }
  | { readonly screen: 'edit'; readonly seq: number }
  | { readonly screen: 'breaks'; readonly seq: number | null }
  | { readonly screen: 'agents' }
  | { readonly screen: 'policies'; readonly a: string; readonly b: string; readonly at: number | null }

export type RequestLook = 'parts' | 'diff' | 'raw'

const looks: readonly RequestLook[] = ['parts', 'diff', 'raw']
/** The two policies that a comparison begins with. */
export const usualPolicies = { a: 'none', b: 'standard' } as const

const numberIn = (word: string | undefined): number | null =>
  word !== undefined && /^\d{1,15}$/.test(word) ? Number(word) : null

/** Reads what stands behind `#`. What it does not know shows the sessions. */
export function addressIn(fragment: string): Address {
  const [path, query = ''] = fragment.replace(/^#/, '').split('?', 2) as [string, string?]
  const words = path.split('/').slice(1).map(decoded)
  const [first, second, third] = words
  if (first === 'm') return { screen: 'memory', store: second ?? null, file: third ?? null }
  if (first !== 's' || second === undefined || second === '') return { screen: 'sessions' }
  return { session: second, ...sessionAddressIn(words.slice(2), query) }
}

function sessionAddressIn(words: readonly string[], query: string): SessionAddress {
  const [kind, first, second, third] = words
  const seq = numberIn(first)
  if (kind === 'r' && seq !== null)
    return { screen: 'request', seq, look: looks.find((look) => look === second) ?? 'parts' }
  if (kind === 'e' && seq !== null) return { screen: 'block', seq, block: numberIn(second) ?? 0 }
  if (kind === 'x' && seq !== null) return { screen: 'edit', seq }
  if (kind === 'k') return { screen: 'breaks', seq }
  if (kind === 'a') return { screen: 'agents' }
  if (kind === 'cmp')
    return {
      screen: 'policies',
      a: first ?? usualPolicies.a,
      b: second ?? usualPolicies.b,
      at: numberIn(third),
    }
  const range = /^sel=(\d{1,15})-(\d{1,15})$/.exec(query)
  return { screen: 'window', from: numberIn(range?.[1]), to: numberIn(range?.[2]) }
}

/** The address as it stands behind `#`. */
export function fragmentOf(address: Address): string {
  if (!('session' in address)) {
    if (address.screen === 'memory')
      return address.store === null || address.file === null
        ? '#/m'
        : `#/m/${part(address.store)}/${part(address.file)}`
    return '#/'
  }
  return `#/s/${part(address.session)}${sessionFragment(address)}`
}

function sessionFragment(address: SessionAddress): string {
  switch (address.screen) {
    case 'request':
      return `/r/${address.seq}${address.look === 'parts' ? '' : `/${address.look}`}`
    case 'block':
      return `/e/${address.seq}/${address.block}`
    case 'edit':
      return `/x/${address.seq}`
    case 'breaks':
      return address.seq === null ? '/k' : `/k/${address.seq}`
    case 'agents':
      return '/a'
    case 'policies':
      return `/cmp/${part(address.a)}/${part(address.b)}${address.at === null ? '' : `/${address.at}`}`
    case 'window':
      return address.from === null || address.to === null ? '' : `?sel=${address.from}-${address.to}`
  }
}

/** Names may hold anything, a lone surrogate too, which the encoder refuses. */
const part = (name: string): string => encodeURIComponent(name.toWellFormed())

function decoded(word: string): string {
  try {
    return decodeURIComponent(word)
  } catch {
    return word
  }
}
