// Grep: lines or files that match a pattern. Ignore files are respected, hidden files are searched, `.git` and the files
// that hold keys are not. The order is that of paths, so that the same search gives the same answer.
import { relative, sep } from 'node:path'
import { defaults } from '../../settings/defaults.ts'
import { choice, flag, optional, text, whole, toolWith, type InputOf } from '../input.ts'
import { failed, headOf, interrupted, succeeded } from '../outcome.ts'
import type { Tool, ToolEnv, ToolOutcome } from '../tool.ts'
import { secretNameGlobs } from '../files/protected-names.ts'
import { compileGlob } from './glob-pattern.ts'
import { runRipgrep } from './ripgrep.ts'
import { createScanner, type Scanner, walkFiles } from './scan.ts'
import { searchPlace, type SearchOptions, type SearchPlace } from './place.ts'

const limits = defaults.tools
const fields = {
  pattern: text('E.g. export function \\w+', limits.patternChars),
  path: optional(text('Default: working directory')),
  glob: optional(text('E.g. src/**/*.ts', limits.patternChars)),
  output_mode: optional(choice('Default files: paths only', ['files', 'content', 'count'])),
  ignore_case: optional(flag('')),
  multiline: optional(flag('')),
  context: optional(whole('Lines around each match', 0, limits.searchContextLines)),
  limit: optional(whole(`Output lines, default ${limits.searchLimit}`, 1, limits.searchMaxLimit)),
}
type GrepInput = InputOf<typeof fields>

/** Finds lines in files. */
export function grepTool(options: SearchOptions): Tool<GrepInput> {
  return toolWith(fields, {
    name: 'Grep',
    description:
      'Search file contents with a regular expression (no lookaround). Skips ignored files, includes hidden ones. Narrow with `path` or `glob`.',
    policy: { readOnly: true, results: 'clear', maxResultChars: limits.maxResultChars },
    async run(input, env, signal) {
      const glob = input.glob === undefined ? null : compileGlob(input.glob)
      if (glob?.ok === false) return failed(`Invalid glob: ${glob.why}.`)
      const place = await searchPlace(options, env, input.path)
      if (!place.ok) return failed(place.why)
      const isNamed = (path: string) => glob === null || glob.matches(path)
      const search: Search = {
        input,
        env,
        place,
        wanted: (path) => isNamed(path) && !place.isKept(path),
        passesOver: (path) => isNamed(path) && place.isKept(path),
        found: [],
        passed: [...place.withheld].map((path) => relative(place.folder, path)),
        limit: input.limit ?? limits.searchLimit,
      }
      const program = await options.ripgrep()
      return program === null
        ? await byScan(search, options, signal)
        : await byRipgrep(search, program, signal)
    },
  })
}

interface Search {
  readonly input: GrepInput
  readonly env: ToolEnv
  readonly place: SearchPlace
  readonly wanted: (path: string) => boolean
  /** Named by the search, and not to be read: what holds keys, or waits for the user. */
  readonly passesOver: (path: string) => boolean
  /** Files that were passed over; never because of what stands in them. */
  readonly passed: string[]
  readonly found: string[]
  readonly limit: number
}

async function byRipgrep(search: Search, program: string, signal: AbortSignal): Promise<ToolOutcome> {
  const { input, place, wanted, found, limit } = search
  const mode = input.output_mode ?? 'files'
  const args = ['--sort=path', '--null', ...modeArgs(input)]
  if (input.ignore_case === true) args.push('--ignore-case')
  if (input.multiline === true) args.push('--multiline', '--multiline-dotall')
  // As a file type the glob does not bring back what ignore files leave out, which `--glob` would. Types know names only.
  if (input.glob !== undefined && !input.glob.includes('/') && !input.glob.includes(':'))
    args.push(`--type-add=wanted:${input.glob}`, '--type=wanted')
  args.push(`--regexp=${input.pattern}`, '--', place.file ?? './')
  const take = (line: string): boolean => {
    const at = line.indexOf('\0')
    if (mode === 'files') {
      // Paths end in NUL only, so they may all come as one line.
      for (const path of line.split('\0'))
        if (path !== '' && wanted(pathOf(path))) found.push(search.place.shown(pathOf(path)))
    } else if (at < 0) {
      if (line === '--' && found.length > 0 && found.at(-1) !== '--') found.push('--')
    } else if (wanted(pathOf(line.slice(0, at)))) {
      const rest = line.slice(at + 1)
      found.push(
        mode === 'count'
          ? `${search.place.shown(pathOf(line.slice(0, at)))}:${rest}`
          : contentLine(search, pathOf(line.slice(0, at)), rest),
      )
    }
    return found.length <= limit
  }
  const [end] = await Promise.all([
    runRipgrep(program, args, place.folder, take, signal),
    place.file === null ? listPassed(search, program, signal) : null,
  ])
  if (end.why === 'aborted') return interrupted()
  if (end.why === 'failed')
    return failed(`The search failed: ${headOf(end.message, limits.searchLineChars * 2)}`)
  const note =
    end.why === 'timeout'
      ? `[stopped after ${limits.searchMs / 1000} s]`
      : end.why === 'too-much'
        ? '[stopped: too much output]'
        : ''
  return answer(search, note)
}

/** Which files are passed over is told by their names alone: whether one matches would tell what stands in it. */
async function listPassed(search: Search, program: string, signal: AbortSignal): Promise<void> {
  const { place, passesOver, passed } = search
  const take = (line: string): boolean => {
    if (line !== '' && passesOver(pathOf(line))) passed.push(pathOf(line))
    return passed.length <= shownPassed
  }
  const types = secretNameGlobs.map((glob) => `--type-add=keys:${glob}`)
  await runRipgrep(program, ['--files', '--sort=path', ...types, '--type=keys'], place.folder, take, signal)
}
const shownPassed = 3

function modeArgs({ output_mode: mode = 'files', context = 0 }: GrepInput): string[] {
  if (mode === 'files') return ['--files-with-matches']
  if (mode === 'count') return ['--count', '--with-filename']
  return [
    '--line-number',
    '--no-heading',
    '--with-filename',
    `--max-columns=${limits.searchLineChars}`,
    '--max-columns-preview',
    `--context=${context}`,
  ]
}

async function byScan(search: Search, options: SearchOptions, signal: AbortSignal): Promise<ToolOutcome> {
  const { input, place } = search
  const { pattern, ignore_case: ignoreCase = false, multiline = false, context = 0 } = input
  const made = createScanner(options.gate.fs, place.folder, { pattern, ignoreCase, multiline, context })
  if (!made.ok) return failed(`The search failed: ${made.why}`)
  try {
    return await scanAll(search, options, made.scanner, signal)
  } finally {
    await made.scanner.close()
  }
}

async function scanAll(
  search: Search,
  options: SearchOptions,
  scanner: Scanner,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const { input, place, wanted, found, limit } = search
  const { output_mode: mode = 'files' } = input
  const until = search.env.now() + limits.searchMs
  for await (const path of place.file === null
    ? walkFiles(options.gate.fs, place.folder, signal)
    : [place.file]) {
    if (signal.aborted) return interrupted()
    if (search.env.now() > until) return answer(search, `[stopped after ${limits.searchMs / 1000} s]`)
    if (search.passesOver(path)) search.passed.push(path)
    if (!wanted(path)) continue
    const scanned = await scanner.scan(path, signal)
    if (!scanned.ok) return failed(`The search failed: ${scanned.why}.`)
    if (scanned.lines.length === 0) continue
    const count = scanned.lines.filter((line) => line.matched).length
    if (mode === 'files') found.push(search.place.shown(path))
    else if (mode === 'count') found.push(`${search.place.shown(path)}:${count}`)
    else
      for (const line of scanned.lines)
        found.push(contentLine(search, path, `${line.line}${line.matched ? ':' : '-'}${line.text}`))
    if (found.length > limit) break
  }
  return answer(search, '')
}

const pathOf = (path: string) =>
  path
    .replace(/^\.[/\\]/, '')
    .split(sep)
    .join('/')

function contentLine(search: Search, path: string, rest: string): string {
  const line = rest.replace(/\r$/, '')
  const short = headOf(line, limits.searchLineChars)
  return `${search.place.shown(path)}${/^\d+-/.test(line) ? '-' : ':'}${short}${short.length < line.length ? '…' : ''}`
}

function answer(search: Search, note: string): ToolOutcome {
  const { found, limit } = search
  // What stands behind the last group may have come before a file that is not shown.
  while (found.at(-1) === '--') found.pop()
  const more = found.length > limit ? `[more than ${limit} lines; narrow the search or raise limit]` : ''
  const lines = found.slice(0, limit)
  const notes = [more, note, passedNote(search)].filter((line) => line !== '')
  if (lines.length === 0) return succeeded(['No matches.', ...notes].join(' '))
  return succeeded([...lines, ...notes].join('\n'))
}

function passedNote(search: Search): string {
  const names = [...new Set(search.passed)].map(search.place.shown)
  if (names.length === 0) return ''
  const more = names.length > shownPassed ? ' and more' : ''
  return `[not searched, since they usually hold keys or wait for the user: ${names.slice(0, shownPassed).join(', ')}${more}]`
}
