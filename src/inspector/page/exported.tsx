// The page in an exported file: everything it shows lies in the file, and it asks nobody.
import { drawPage } from './app.tsx'
import { plainAddress } from './data/address-bar.ts'
import { exportedSource } from './data/exported.ts'
import { PageState } from './data/state.ts'

const box = document.getElementById('app')!
const packs = (pack: number): string | null =>
  document.getElementById(`pal-export-${pack}`)?.textContent ?? null
void exportedSource(packs).then((source) => {
  if (source === null)
    box.textContent = 'This file holds no session that this page can read. Export it again.'
  else drawPage(new PageState(source, plainAddress(globalThis.window)), box)
})
