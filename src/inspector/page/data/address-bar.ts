// The browser's address bar. The token comes in the fragment, which no server and no other page ever sees; it is kept for
// this tab alone and taken out of the address at once, so that neither the history nor a copied link holds it.
import type { AddressBar } from './state.ts'

const kept = 'pal-inspect-token'
const inFragment = /[#&]t=([\w-]+)/

export function windowAddress(window: Window): { readonly token: string; readonly bar: AddressBar } {
  const { location, history } = window
  const came = inFragment.exec(location.hash)?.[1]
  if (came !== undefined) {
    window.sessionStorage.setItem(kept, came)
    // What stands behind the token is where to go.
    const rest = location.hash.replace(inFragment, '').replace(/^[#&]+/, '')
    history.replaceState(null, '', rest === '' ? location.pathname : `#${rest}`)
  }
  return { token: came ?? window.sessionStorage.getItem(kept) ?? '', bar: plainAddress(window) }
}

export const plainAddress = (window: Window): AddressBar => ({
  read: () => window.location.hash,
  write: (fragment, replaces) =>
    replaces
      ? window.history.replaceState(null, '', fragment)
      : fragment !== window.location.hash && window.history.pushState(null, '', fragment),
  onChange: (changed) => {
    window.addEventListener('popstate', changed)
    window.addEventListener('hashchange', changed)
  },
  link: (fragment) => `${window.location.href.replace(/#.*$/, '')}${fragment}`,
})
