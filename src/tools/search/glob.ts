// Glob: the files whose path fits a pattern, the newest first. Ignore files are respected, hidden files are listed, `.git`
// and the files that hold keys are not.
import { join, sep } from 'node:path'
import { defaults } from '../../settings/defaults.ts'
import { optional, text, whole, toolWith, type InputOf } from '../input.ts'
import { failed, interrupted, succeeded } from '../outcome.ts'
import type { Tool } from '../tool.ts'
import { compileGlob } from './glob-pattern.ts'
import { searchPlace, type SearchOptions } from './place.ts'
import { runRipgrep } from './ripgrep.ts'
import { walkFiles } from './scan.ts'

const limits = defaults.tools
const statsAtOnce = 64
const fields = {
  pattern: text('E.g. src/**/*.{ts,tsx}', limits.patternChars),
  path: optional(text('Default: working directory')),
  limit: optional(whole(`Default ${limits.globLimit}`, 1, limits.globMaxLimit)),
}

/** Finds files by name. */
export function globTool(options: SearchOptions): Tool<InputOf<typeof fields>> {
  return toolWith(fields, {
    name: 'Glob',
    description:
      'Find files by path pattern, newest first. Skips ignored files. Use it when you know a name, Grep when you know the content.',
    policy: { readOnly: true, results: 'clear', maxResultChars: limits.maxResultChars },
    async run({ pattern, path, limit = limits.globLimit }, env, signal) {
      const glob = compileGlob(pattern)
      if (!glob.ok) return failed(`Invalid pattern: ${glob.why}.`)
      const place = await searchPlace(options, env, path)
      if (!place.ok) return failed(place.why)
      if (place.file !== null) return failed(`${path} is a file, not a folder.`)
      const listed = await listFiles(
        options,
        place.folder,
        (file) => glob.matches(file) && !place.isKept(file),
        signal,
      )
      if (signal.aborted) return interrupted()
      if (listed.why !== null) return failed(`The files could not be listed: ${listed.why}`)
      const { newest, unnamed } = await byAge(options, place.folder, listed.files)
      const note = unnamed.length === 0 ? '' : `\n${unnamedNote(unnamed)}`
      if (newest.length === 0) return succeeded(`No files.${note}`)
      const lines = newest.slice(0, limit).map(place.shown)
      return succeeded(
        newest.length > limit
          ? `${lines.join('\n')}\n[${newest.length} files in all; the ${limit} newest are shown]${note}`
          : `${lines.join('\n')}${note}`,
      )
    },
  })
}

async function listFiles(
  options: SearchOptions,
  folder: string,
  wanted: (path: string) => boolean,
  signal: AbortSignal,
): Promise<{ files: string[]; why: string | null }> {
  const files: string[] = []
  const program = await options.ripgrep()
  if (program === null) {
    for await (const path of walkFiles(options.gate.fs, folder, signal)) if (wanted(path)) files.push(path)
    return { files, why: null }
  }
  const take = (line: string) => {
    const path = line.split(sep).join('/')
    if (path !== '' && wanted(path)) files.push(path)
    return files.length < limits.walkFiles
  }
  const end = await runRipgrep(program, ['--files'], folder, take, signal)
  return { files, why: end.why === 'failed' && end.message !== '' ? end.message : null }
}

/** Names in another encoding cannot be written down as text, so no tool can open what they name. */
const unnamedNote = (names: readonly string[]): string =>
  `[${names.length} more with names that are not UTF-8, which no tool here can open: ${names.slice(0, shownUnnamed).join(', ')}${names.length > shownUnnamed ? ' …' : ''}. Tell the user; convmv -f latin1 -t utf8 renames them]`
const shownUnnamed = 5

async function byAge(
  options: SearchOptions,
  folder: string,
  files: readonly string[],
): Promise<{ readonly newest: readonly string[]; readonly unnamed: readonly string[] }> {
  const unnamed: string[] = []
  const aged: { readonly file: string; readonly ms: number }[] = []
  for (let at = 0; at < files.length; at += statsAtOnce) {
    const some = files.slice(at, at + statsAtOnce)
    const stats = await Promise.all(
      some.map((file) => options.gate.fs.stat(join(folder, file)).catch(() => null)),
    )
    for (const [step, stat] of stats.entries())
      if (stat !== null) aged.push({ file: some[step]!, ms: stat.modifiedMs })
      else if (some[step]!.includes('\uFFFD')) unnamed.push(some[step]!)
  }
  const newest = aged
    .sort((one, other) => other.ms - one.ms || (one.file < other.file ? -1 : 1))
    .map(({ file }) => file)
  return { newest, unnamed }
}
