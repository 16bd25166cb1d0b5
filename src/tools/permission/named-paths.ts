// Which files a command names or reads through, for the rules that keep paths: what Read or Edit may not touch a command
// may not touch either, whatever allows the command. Where it names such a file it is denied; where it only may reach
// one (by a pattern, in a text, through a folder or a history) it is asked about.
import { isAbsolute, join } from 'node:path'
import { attempt } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'
import { matching, realPlace, type Place } from './place.ts'
import { coversFolder, writtenPath, type NamedFile, type PlacedRule, pathKind } from './rule.ts'
import type { Analysis } from './shell/analyse.ts'
import { readOnly } from './shell/read-only-commands.ts'
import type { KnownWord, MaybeWord } from './shell/word.ts'

export interface Mention {
  readonly placed: PlacedRule
  /** `named`: the command says this path. `reached`: it may come to it. */
  readonly how: 'named' | 'reached'
  readonly path: string
}

/** Everything a command has to do with the rules' paths, the surest first. */
export async function mentions(
  command: string,
  found: Analysis,
  rules: readonly PlacedRule[],
  place: Place,
): Promise<readonly Mention[]> {
  if (rules.length === 0) return []
  const words = [...new Set(found.readings.flat())].filter((word) => word !== null)
  const named = namesIn([
    ...words.filter(({ isGlob }) => !isGlob).map(({ value }) => value),
    ...found.steps.flatMap(({ inputs }) => inputs),
  ])
  const patterns = words.filter(({ isGlob }) => isGlob).map(({ value }) => value)
  const loose = tokensIn(command).filter((token) => !named.has(token))
  if (named.size + patterns.length + loose.length > defaults.permission.readings)
    return rules.map((placed) => ({ placed, how: 'reached', path: 'more names than are compared' }))
  const bases = await basesOf([...named], found, place)
  const about = async (names: Iterable<string>, how: Mention['how']): Promise<Mention[]> => {
    const hits: Mention[] = []
    for (const base of bases)
      for (const name of names) {
        const file = await fileAt(place, base, name)
        for (const placed of rules)
          if (coversFolder(placed, file))
            hits.push({ placed, how: (await isProse(name, file, place)) ? 'reached' : how, path: name })
      }
    return hits
  }
  const globbed: string[] = []
  for (const pattern of patterns)
    for (const base of bases) globbed.push(...((await matching(place, base, pattern)) ?? [pattern, '.']))
  // What a process has open or stands in is another way to every file.
  const byProcess = command.includes('/proc')
    ? rules.map((placed): Mention => ({ placed, how: 'reached', path: '/proc' }))
    : []
  return [
    ...(await about(named, 'named')),
    ...byProcess,
    ...(await about(globbed, 'reached')),
    ...(await about(loose, 'reached')),
    ...(await through(found, globbed, rules, bases, place)),
  ]
}

/** A sentence that begins like a path, as in the message of a commit, and no file. */
const isProse = async (name: string, { real }: NamedFile, { fs }: Place): Promise<boolean> =>
  /\s/.test(name) && !(await attempt('looking', () => fs.stat(real))).ok

const fileAt = async (place: Place, base: string, name: string): Promise<NamedFile> => ({
  written: writtenPath(place, base, name),
  real: await realPlace(place, base, name),
})

/** A word, and what of it may be a path: `HEAD:a`, `--file=a`, `:(top)a`, `-fa`, `@a`, `user@host:a`. */
function namesIn(words: readonly string[]): Set<string> {
  const names = new Set<string>()
  for (const word of words) {
    if (word.includes('\0')) continue
    names.add(word)
    for (const part of word.split(/[=:,@()]/)) if (part !== '') names.add(part)
    if (/^-\w./.test(word)) names.add(word.slice(2))
  }
  names.delete('')
  return names
}

/** What a program in a text may name, as `python -c "open('a')"`: every piece that quotes and signs leave. */
function tokensIn(command: string): readonly string[] {
  const plain = command.replaceAll(/['"\\]/g, ' ')
  const joined = command.replaceAll(/['"\\]/g, '')
  const pieces = [plain, joined].flatMap((text) => text.split(/[\s;|&<>()`=:,{}$@![\]\0]+/))
  return [...new Set(pieces)].filter((piece) => piece !== '' && !/^-+$/.test(piece))
}

/** Where a command may stand when it names something: where it starts, and every folder it goes to. */
async function basesOf(names: readonly string[], found: Analysis, place: Place): Promise<readonly string[]> {
  const bases = new Set([place.cwd])
  for (const { cwd } of found.steps) bases.add(isAbsolute(cwd) ? cwd : join(place.cwd, cwd))
  const moves = names.some((name) => /^(?:cd|pushd|-C|--directory|--work-tree|--git-dir|--chdir)$/.test(name))
  if (!moves) return [...bases]
  for (const name of names) {
    if (bases.size >= mostBases) break
    const real = await realPlace(place, place.cwd, name)
    const at = await attempt('looking', () => place.fs.stat(real))
    if (at.ok && at.kind === 'folder') bases.add(real)
  }
  return [...bases]
}
const mostBases = 16

/** Folders and histories that are read as a whole, where something below them is kept by a rule. */
async function through(
  found: Analysis,
  globbed: readonly string[],
  rules: readonly PlacedRule[],
  bases: readonly string[],
  place: Place,
): Promise<readonly Mention[]> {
  const hits: Mention[] = []
  for (const unit of unitsOf(found)) {
    const known = unit.filter((word) => word !== null)
    const fit = readOnly(known)
    const isGit = plainName(known[0]) === 'git'
    const read = fit.ok ? (isGit ? [] : (fit.files ?? fit.paths)) : foldersIn(known)
    const folders = showsNamesOnly(known) ? [] : read
    const isWhole = readsBelow(known) && (isGit || !fit.ok || read.length === 0)
    for (const name of [...folders, ...(isWhole ? ['.'] : []), ...(isWhole ? globbed : [])])
      for (const base of bases) {
        const { real } = await fileAt(place, base, name)
        for (const placed of rules)
          if (pathKind(placed.rule.tool) === 'Read' ? await holds(real, placed, place) : false)
            hits.push({ placed, how: 'reached', path: name })
      }
  }
  return hits
}

/** The commands of a plain shape; of any other every one that is not the rest of another's words. */
function unitsOf(found: Analysis): readonly (readonly MaybeWord[])[] {
  if (found.doubts.length === 0 && !found.isBlind) return found.steps.map(({ words }) => words)
  const seen = new Set<MaybeWord>()
  return found.readings.filter((words) => {
    const last = words.at(-1) ?? null
    const isRest = last !== null && seen.has(last)
    if (last !== null) seen.add(last)
    return !isRest
  })
}

const foldersIn = (words: readonly KnownWord[]): readonly string[] =>
  [...namesIn(words.slice(1).map(({ value }) => value))].filter((name) => !name.startsWith('-'))

/** Whether a folder holds, somewhere, what a rule keeps. A rule for names at any depth is looked for, as far as that goes. */
async function holds(folder: string, placed: PlacedRule, place: Place): Promise<boolean> {
  const at = await attempt('looking', () => place.fs.stat(folder))
  if (!at.ok || at.kind !== 'folder') return false
  if (folder !== placed.head && isInside(folder, placed.head))
    return (await attempt('looking', () => place.fs.stat(placed.head))).ok
  if (!isInside(placed.head, folder)) return false
  const open = [folder]
  for (let looked = 0; open.length > 0; looked++) {
    // More than are looked at: it is not known, so it is asked about.
    if (looked >= defaults.permission.keyFolders) return true
    const real = open.shift()!
    const listed = await attempt('looking', async () => ({ names: await place.fs.names(real) }))
    for (const name of listed.ok ? listed.names : []) {
      const path = join(real, name)
      if (placed.isAbout({ written: path, real: path })) return true
      const below = await attempt('looking', () => place.fs.stat(path))
      if (below.ok && below.kind === 'folder' && name !== '.git') open.push(path)
    }
  }
  return false
}

const nameOnly = new Set(
  'cd pushd popd ls stat mkdir rmdir test [ realpath readlink basename dirname du df tree pwd echo printf touch chmod chown which type true false : sleep date'.split(
    ' ',
  ),
)
const gitNameOnly = new Set(
  'status add commit branch checkout switch restore fetch pull push ls-files ls-tree rev-parse rev-list init remote config worktree merge rebase tag rm mv reset clean describe shortlog reflog symbolic-ref'.split(
    ' ',
  ),
)
const plainName = (word: KnownWord | undefined): string => word?.value.replace(/^.*\//, '') ?? ''

function gitCommand(words: readonly KnownWord[]): {
  readonly name: string
  readonly args: readonly string[]
} {
  let at = 1
  while (words[at]?.value.startsWith('-') === true)
    at += /^(?:-C|-c|--git-dir|--work-tree)$/.test(words[at]!.value) ? 2 : 1
  return { name: words[at]?.value ?? '', args: words.slice(at + 1).map(({ value }) => value) }
}

/** Commands that show no more of a folder than its names, or nothing. */
function showsNamesOnly(words: readonly KnownWord[]): boolean {
  const name = plainName(words[0])
  if (nameOnly.has(name)) return true
  if (name === 'find') return !words.some(({ value }) => /^-(?:exec|ok|execdir|okdir|fprint)/.test(value))
  return name === 'git' && gitNameOnly.has(gitCommand(words).name)
}

/** Commands that read what lies below without naming it: searches, lists handed on, histories with their texts. */
function readsBelow(words: readonly KnownWord[]): boolean {
  const name = plainName(words[0])
  if (/^(?:xargs|parallel|ag|ack|rg)$/.test(name)) return true
  if (name === 'find' || name === 'fd') return !showsNamesOnly(words) && words.length > 0
  if (/^[efz]?grep$/.test(name))
    return words.some(({ value }) =>
      /^-[A-Za-z]*[rRd]|^--(?:recursive|dereference-recursive|directories)/.test(value),
    )
  if (name !== 'git') return false
  const { name: what, args } = gitCommand(words)
  // Where paths are named behind `--` they are what is shown.
  const at = args.indexOf('--')
  if (at !== -1 && at < args.length - 1) return false
  const isShort = args.some((arg) =>
    /^--(?:stat|shortstat|numstat|name-only|name-status|quiet|summary|dirstat)\b|^-s$/.test(arg),
  )
  const isPatch = args.some((arg) =>
    /^(?:-p|-u|--patch.*|-U.*|--unified.*|-L.*|-c|--cc|-m|-W|--function-context)$/.test(arg),
  )
  const shown = args.filter((arg) => !arg.startsWith('-'))
  // `HEAD:src/a.ts` is that file, which was named.
  if (/^(?:show|cat-file)$/.test(what) && shown.length > 0 && shown.every((arg) => /.:./.test(arg)))
    return false
  if (/^(?:show|diff|diff-tree|diff-index|diff-files|range-diff)$/.test(what)) return isPatch || !isShort
  if (/^(?:log|whatchanged|stash|reflog)$/.test(what)) return isPatch
  return /^(?:grep|archive|format-patch|cat-file|fast-export|bundle|checkout-index)$/.test(what)
}
