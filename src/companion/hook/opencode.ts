// The plugin file of opencode. Every export of such a file is taken for a plugin, so there is one.
import { opencodeHooks, type OpencodeHooks } from './opencode-hooks.ts'

/** Replaced when the companion is installed. */
const root = '__PALIMPSEST_COMPANION_ROOT__'

export const PalimpsestCompanion = ({
  directory,
}: { readonly directory?: unknown } = {}): Promise<OpencodeHooks> =>
  Promise.resolve(
    root.startsWith('/')
      ? opencodeHooks({
          root,
          cwd: typeof directory === 'string' ? directory : process.cwd(),
          now: () => Date.now(),
        })
      : {},
  )
