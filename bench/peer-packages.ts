// Packages of others that a bench runs beside ours: installed into bench/peers when one asks for them, so that nobody
// else pays for them.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export type Import = (name: string) => Promise<unknown>

/** How to import them once this one is there, or why it cannot be. */
export function peerPackages(name: string): Import | string {
  const folder = join(import.meta.dirname, 'peers')
  if (!existsSync(join(folder, 'node_modules', name))) {
    const install = ['install', '--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts']
    const { status, stderr } = spawnSync('npm', install, { cwd: folder, encoding: 'utf8' })
    if (status !== 0)
      return `${name} cannot be installed (${(stderr ?? '').trim().split('\n').at(-1) ?? 'no reason said'})`
  }
  const find = createRequire(join(folder, 'package.json'))
  return (wanted) => import(pathToFileURL(find.resolve(wanted)).href)
}
