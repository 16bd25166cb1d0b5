// `pal` without -p: the interactive terminal is not built yet, and that is said instead of pretended.
import { exits, type Exit } from '../exit-codes.ts'
import { complain } from '../headless.ts'
import type { Io } from '../terminal/io.ts'
import { openWorkplace, showProblems } from '../place/workplace.ts'

export async function explain(io: Io, words: readonly string[]): Promise<Exit> {
  const place = await openWorkplace(io, {})
  if (!place.ok) return complain(io, place)
  showProblems(place)
  const who =
    place.access === null
      ? 'There is no key and no base URL: set ANTHROPIC_API_KEY or run pal login. Without, a scripted model answers.\n  pal demo             a whole task offline, with that model and real tools'
      : `A model can be reached (${place.accessFrom}).`
  io.out(`The interactive terminal of pal is not built yet. ${who}
  pal -p "…"           one prompt, the answer on standard output
  pal -p --continue    go on with the last session
  pal --help           everything else
`)
  return words.length === 0 ? exits.done : exits.usage
}
