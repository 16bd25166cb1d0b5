// `pal memory forget`: complete, and not learnt again.
import { forget, type ForgetWhat, type Forgot } from '../../../memory/keeping/forget.ts'
import { exits, refuse, type Exit } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { safeLine } from '../../terminal/safe-text.ts'
import { findMemory, isRefusal, show, withMemories, type MemoryFlags } from './open.ts'

export interface ForgetFlags extends MemoryFlags {
  readonly session?: string | undefined
  readonly source?: string | undefined
}

export const forgetMemory = (io: Io, name: string | undefined, flags: ForgetFlags): Promise<Exit> =>
  withMemories(io, flags, async (room) => {
    const given = [name, flags.session, flags.source].filter((one) => one !== undefined)
    if (given.length !== 1) return refuse(exits.usage, 'name one memory, or --session ID, or --source NAME')
    const found = name === undefined ? null : await findMemory(room, name)
    if (found !== null && isRefusal(found)) return found
    const what: ForgetWhat =
      found !== null
        ? { file: found.file }
        : flags.session !== undefined
          ? { session: flags.session }
          : { source: flags.source! }
    const all: (Forgot & { readonly scope: string })[] = []
    for (const keeper of found === null ? room.keepers : [found.keeper]) {
      const done = await forget(keeper, what)
      if (!done.ok) return refuse(exits.failed, done.failure.message)
      const { removed, wentBack, versions } = done
      all.push({ scope: keeper.place.scope, removed, wentBack, versions })
    }
    return show(room, { forgot: all }, () =>
      all
        .flatMap(({ scope, removed, wentBack, versions }) => [
          ...removed.map((file) => `${scope} ${file}: removed with all its versions`),
          ...wentBack.map(
            ({ file, to, lost }) =>
              `${scope} ${file}: back to version ${to}${lost === 0 ? '' : `; ${lost} later versions were built on what is forgotten and went with it`}`,
          ),
          `${scope}: ${versions} kept texts removed; it will not be learnt again`,
        ])
        .map((line) => `${safeLine(line)}\n`)
        .join(''),
    )
  })
