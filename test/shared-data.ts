// Where recorded sessions and recall sets lie that are not part of the repository: beside it, or where
// PALIMPSEST_SHARED says. What needs them skips without, and says so.
import { existsSync, readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'

const folder = resolve(process.env['PALIMPSEST_SHARED'] ?? join(import.meta.dirname, '..', '..', 'shared'))
export const corpusFolder = join(folder, 'corpus')
export const recallFolder = join(folder, 'recall')
export const hasCorpus = existsSync(corpusFolder)
/** The recorded sessions by file name; none where they are not at hand. */
export const corpusFiles: readonly string[] = hasCorpus
  ? readdirSync(corpusFolder).filter((name) => name.endsWith('.jsonl.gz'))
  : []

/** For a bench: the folder that was named, or the recorded sessions; ends with a sentence where there are none. */
export function corpusOr(named: string | undefined): string {
  if (named !== undefined) return named
  if (hasCorpus) return corpusFolder
  process.stderr.write(`there are no recorded sessions at ${corpusFolder}; name a folder of them\n`)
  process.exit(2)
}
