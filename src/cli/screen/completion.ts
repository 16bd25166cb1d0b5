// What the editor offers while one types: commands after a slash, paths, and files of the project after an @.
import {
  CombinedAutocompleteProvider,
  fuzzyFilter,
  type AutocompleteProvider,
  type SlashCommand,
} from '@earendil-works/pi-tui'
import { relative } from 'node:path'
import type { FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { walkFiles } from '../../tools/search/walk.ts'
import { safeLine } from '../terminal/safe-text.ts'

const atWord = /(?:^|[\s(])@("?)([^"\s]*)$/

export function completionOf(
  commands: readonly SlashCommand[],
  cwd: string,
  fs: FileSystem,
): AutocompleteProvider {
  const inner = new CombinedAutocompleteProvider([...commands], cwd, null)
  return {
    triggerCharacters: ['@'],
    getSuggestions: async (lines, line, column, options) => {
      const before = (lines[line] ?? '').slice(0, column)
      const begun = atWord.exec(before)
      if (begun === null) return inner.getSuggestions(lines, line, column, options)
      const [, quote = '', word = ''] = begun
      const found = await filesLike(fs, cwd, word, options.signal)
      return {
        prefix: `@${quote}${word}`,
        items: found.map((path) => ({ value: mentionOf(path), label: safeLine(path) })),
      }
    },
    applyCompletion: (...given) => inner.applyCompletion(...given),
    shouldTriggerFileCompletion: (...given) => inner.shouldTriggerFileCompletion(...given),
  }
}

const mentionOf = (path: string): string => (/\s/.test(path) ? `@"${path}"` : `@${path}`)

async function filesLike(fs: FileSystem, cwd: string, word: string, signal: AbortSignal): Promise<string[]> {
  const { offeredPaths, lookedPaths } = defaults.screen
  const paths: string[] = []
  for await (const path of walkFiles(fs, cwd, signal)) {
    paths.push(relative(cwd, path))
    if (paths.length >= lookedPaths || signal.aborted) break
  }
  return fuzzyFilter(paths, word, (path) => path).slice(0, offeredPaths)
}
