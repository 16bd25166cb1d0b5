// The package by its public doors, as somebody who installed it has it: from this source, or from another build of it
// (`npm run proofs` sets PALIMPSEST_UNDER_TEST to the folder of an earlier one).
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type * as main from '../src/index.ts'
import type * as tools from '../src/tools/index.ts'

const other = process.env['PALIMPSEST_UNDER_TEST']

/** What `palimpsest/tools` exports. */
export const toolsDoor = async (): Promise<typeof tools> =>
  other === undefined
    ? import('../src/tools/index.ts')
    : ((await import(/* @vite-ignore */ pathToFileURL(join(other, 'tools', 'index.js')).href)) as never)

/** What `palimpsest` exports. */
export const mainDoor = async (): Promise<typeof main> =>
  other === undefined
    ? import('../src/index.ts')
    : ((await import(/* @vite-ignore */ pathToFileURL(join(other, 'index.js')).href)) as never)
