// opencode: one plugin file in the user's own folder; it runs inside that program.
import { join } from 'node:path'
import type { InstallPlace, InstallPlan, ReadText } from './plan.ts'

/** Stands in the bundle for the companion's folder. */
const rootMark = '__PALIMPSEST_COMPANION_ROOT__'

export function planOpencode(place: InstallPlace, read: ReadText): InstallPlan {
  const path = join(place.opencode, 'plugins', 'palimpsest-companion.js')
  const after = place.opencodePlugin.replaceAll(rootMark, JSON.stringify(place.root).slice(1, -1))
  return {
    files: [{ path, before: read(path), after, isShared: false }],
    notes: ['opencode loads it with its next start.'],
  }
}
