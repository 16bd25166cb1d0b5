// The files of the page: those that the bundle wrote into one folder, read once at the start. A path names one of them or
// nothing; it is never looked up on the disk.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface Asset {
  readonly type: string
  readonly bytes: Uint8Array
}

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
}

/** By path. Empty where the folder is not there: the page has not been built. */
export async function loadAssets(folder: string): Promise<ReadonlyMap<string, Asset>> {
  const assets = new Map<string, Asset>()
  const names = await readdir(folder).catch(() => [])
  for (const name of names) {
    const type = types[name.split('.').at(-1) ?? '']
    if (type === undefined) continue
    const asset = { type, bytes: await readFile(join(folder, name)) }
    assets.set(`/${name}`, asset)
    if (name === 'index.html') assets.set('/', asset)
  }
  return assets
}
