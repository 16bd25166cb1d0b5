// The page in a browser served by `pal inspect`: takes the token out of the address and draws.
import { drawPage } from './app.tsx'
import { windowAddress } from './data/address-bar.ts'
import { remoteSource } from './data/source.ts'
import { PageState } from './data/state.ts'

const { token, bar } = windowAddress(globalThis.window)
drawPage(new PageState(remoteSource(token), bar), document.getElementById('app')!)
