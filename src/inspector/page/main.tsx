// The page in a browser served by `pal inspect`: takes the token out of the address and draws.
import { render } from 'preact'
import { App } from './app.tsx'
import { windowAddress } from './data/address-bar.ts'
import { remoteSource } from './data/source.ts'
import { PageState, StateContext } from './data/state.ts'

const { token, bar } = windowAddress(globalThis.window)
const state = new PageState(remoteSource(token), bar)
render(
  <StateContext.Provider value={state}>
    <App />
  </StateContext.Provider>,
  document.getElementById('app')!,
)
void state.start()
