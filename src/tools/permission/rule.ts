// A rule as it is written in the settings: the name of a tool, and in brackets what of it is meant.
//
//   Bash                    every command          Bash(npm test)      this one     Bash(git log *)   with any words behind
//   Read(~/notes/**)        reading, Grep, Glob    Edit(src/**)        Edit and Write
//   WebFetch(domain:x.org)  and what lies below    mcp__server__tool   mcp__server  (all of its tools)   mcp__server__get_*
//
// Paths: `/…` from the root of the disk, `~/…` from the user's home, everything else from the project. What is not
// understood is said and never taken for a name: a rule that denies would silently deny nothing.
import type { GivenRule, RuleList } from '../../settings/rule-list.ts'
import { defaults } from '../../settings/defaults.ts'
import { compileGlob } from '../search/glob-pattern.ts'
import { dirname, join, resolve } from 'node:path'
import { attempt, type FileSystem, type OrWhy } from '../../disk/fs.ts'
import { foldName } from '../../disk/safe-name.ts'
import { isInside } from '../../disk/under-root.ts'
import { realPlace, type Place } from './place.ts'

export interface Rule extends GivenRule {
  readonly tool: string
  /** Null: all of the tool. */
  readonly what: string | null
  readonly matchesPath: ((path: string) => boolean) | null
}

export type ParsedRule = OrWhy<{ readonly rule: Rule }>

/** Tools whose rules may name paths: which kind of rule speaks for which tool. */
const pathKinds: Readonly<Record<string, 'Read' | 'Edit'>> = {
  Read: 'Read',
  Grep: 'Read',
  Glob: 'Read',
  Edit: 'Edit',
  Write: 'Edit',
}
export const pathKind = (tool: string): 'Read' | 'Edit' | null =>
  Object.hasOwn(pathKinds, tool) ? pathKinds[tool]! : null

/** Tools that are also meant in another case where a rule denies or asks. */
const spelled = ['Bash', 'WebFetch', 'WebSearch', 'Agent', 'Skill', ...Object.keys(pathKinds)]

const wireLetters = (name: string): string => name.replaceAll(/[^A-Za-z0-9_-]/g, '_')
/** The name of a server's tool as it is on the wire: what that does not take becomes _, and what is too long is cut. */
export const wireName = (name: string): string => wireLetters(name).slice(0, defaults.request.toolNameChars)

/** Reads a rule such as `Bash(npm test)`. */
export function parseRule(given: GivenRule): ParsedRule {
  const text = given.text.trim()
  const isOpen = given.list === 'allow'
  const [, named, inner] = /^(mcp__[^()]+|[A-Za-z][\w.-]*\*?|\*)(?:\(([\s\S]*)\))?$/.exec(text) ?? []
  const bad = (why: string): ParsedRule => ({ ok: false, why: `the rule ${JSON.stringify(text)} ${why}` })
  if (named === undefined)
    return bad('is not a tool name, or a name with something in parentheses, as Bash(npm test)')
  const other = isOpen ? undefined : spelled.find((name) => name.toLowerCase() === named.toLowerCase())
  const tool = other ?? named
  if (tool === '*' && isOpen) return bad('would allow everything; use permission mode bypass for that')
  if (tool.includes('*') && tool !== '*' && !tool.startsWith('mcp__'))
    return bad('may have a star only after mcp__')
  const meant = inner === undefined || /^\s*\*?\s*$/.test(inner) ? null : inner.trim()
  const what = meant === '~' && pathKind(tool) !== null ? '~/**' : meant
  const base = { ...given, text, tool, what, matchesPath: null }
  // What of Bash is meant is read with the command it is compared with.
  if (what === null || tool === 'Bash') return { ok: true, rule: base }
  if (tool === 'WebFetch')
    return /^domain:(?:[a-z0-9.-]+|\[[0-9a-f:.]+\])$/i.test(what)
      ? { ok: true, rule: { ...base, what: what.toLowerCase() } }
      : bad('must name a host, as WebFetch(domain:example.org)')
  if (pathKind(tool) === null) return bad(`says more than ${tool} understands; only its name can be given`)
  const odd = oddPath(what)
  if (odd !== null) return bad(odd)
  const glob = compileGlob(what.replace(/^[~.]\//, '/'))
  if (!glob.ok) return bad(`cannot be followed: ${glob.why}`)
  return { ok: true, rule: { ...base, matchesPath: glob.matches } }
}

/** The rule about this one file: signs of a pattern stand for themselves, and a bare name would be meant at any depth. */
export function ruleForFile(kind: 'Read' | 'Edit', path: string): string {
  const plain = plainPattern(path).replace(/\s$/, '[$&]')
  return `${kind}(${/^[~$!\s]|^[^/]*$/.test(plain) ? './' : ''}${plain})`
}

/** What is meant in this project, as a rule for every project. */
export const ruleEverywhere = (rule: string, root: string): string =>
  rule.replace(
    /^(Read|Edit)\((?![/~])(?:\.\/)?([\s\S]*)\)$/,
    (_, kind: string, path: string) => `${kind}(${plainPattern(root)}/${path})`,
  )

const plainPattern = (path: string): string => path.replaceAll(/[*?[\]{}\\]/g, '\\$&')

/** What other programs would read as more than a path, and we do not. */
function oddPath(what: string): string | null {
  if (what.startsWith('!')) return 'begins with !, which takes nothing back here; name what is meant'
  if (/^~[^/]/.test(what)) return "names another user's home; write the whole path"
  return /^\$(?:\w+|\{\w+\})(?:\/|$)/.test(what)
    ? 'begins with a variable, which is not looked up; write ~/… or the whole path'
    : null
}

/** Whether a rule speaks of a tool at all. */
export function isAbout(rule: Rule, tool: string): boolean {
  if (rule.tool === tool || rule.tool === '*') return true
  if (rule.tool.startsWith('mcp__')) return isAboutServer(rule, tool)
  const kind = pathKind(tool)
  return (
    kind !== null && (rule.tool === kind || (kind === 'Edit' && rule.tool === 'Write' && rule.what !== null))
  )
}

/** A star stands for any letters; the name of a server for all of its tools. */
function isAboutServer({ list, tool: named }: Rule, tool: string): boolean {
  const isOpen = list === 'allow'
  const most = defaults.request.toolNameChars
  const [first = '', ...rest] = named.split('*').map(wireLetters)
  if (rest.length === 0) {
    const server = isOpen ? first : first.replace(/_+$/, '')
    const isServer = !/^mcp__.+?__/.test(server)
    // Several long names may be cut to one, and only one of them was allowed.
    const isTool = tool === (isOpen ? first : first.slice(0, most))
    return isTool || (isServer && tool.startsWith(`${server}__`))
  }
  if (!tool.startsWith(first)) return false
  let at = first.length
  for (const part of rest.slice(0, -1)) {
    const found = tool.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  const last = rest.at(-1)!
  // Of a name that was cut nobody knows the end.
  const isCut = !isOpen && tool.length >= most
  return isCut || (tool.endsWith(last) && tool.length - last.length >= at)
}

/** Whether a rule with a path speaks of this real path. */
export function isAboutPath(
  rule: Rule,
  real: string,
  place: { readonly root: string; readonly home: string | undefined },
): boolean {
  if (rule.what === null || rule.matchesPath === null) return false
  const from = rule.what.startsWith('~/') ? place.home : rule.what.startsWith('/') ? '' : place.root
  if (from === undefined) return false
  if (real !== from && !real.startsWith(`${from}/`)) return false
  return rule.matchesPath(real.slice(from.length + 1))
}

/** Whether a rule for WebFetch speaks of this host. */
export function isAboutHost(rule: Rule, host: string): boolean {
  if (rule.what === null) return true
  const domain = rule.what.slice('domain:'.length)
  return host === domain || host.endsWith(`.${domain}`)
}

// ---- rules that name paths, in the place they hold for ----
// A rule and a file are compared by where they really lead, through
// links, from the home that is in force. One that denies or asks is also compared as it is written, composed, and without
// case where the disk knows none; it keeps a folder with all that is in it, and in a copy of the project (a worktree) it
// speaks of the copy and of the project. One that allows counts by the real path alone, and what it says of the project
// never leads out of it through a link.

/** A file as it was named and as it really lies. */
export interface NamedFile {
  readonly written: string
  readonly real: string
}

/** The rules about one call. */
export type RulesByList = Readonly<Record<RuleList, readonly Rule[]>>

export interface PlacedRule {
  readonly rule: Rule
  /** Where everything lies that it speaks of, as far as its pattern says; by the real path. */
  readonly head: string
  readonly isAbout: (file: NamedFile) => boolean
}

/** The fixed steps a pattern begins with, and the rest. */
function splitPattern(what: string): { readonly head: string; readonly rest: string } {
  const plain = what.replace(/^~\//, '/')
  // A name without a slash is meant at any depth.
  if (!plain.replace(/\/+$/, '').includes('/')) return { head: '', rest: plain }
  const steps = plain.split('/')
  const glob = steps.findIndex((step) => /[*?[\]{}\\]/.test(step))
  return glob === -1
    ? { head: plain, rest: '' }
    : { head: steps.slice(0, glob).join('/'), rest: steps.slice(glob).join('/') }
}

const baseOf = (rule: Rule, place: Pick<Place, 'root' | 'home'>): string | undefined =>
  rule.what?.startsWith('~/') === true ? place.home : rule.what?.startsWith('/') === true ? '/' : place.root

/** The rules that name paths, as they stand on the disk now. */
export async function placeRules(
  rules: readonly Rule[],
  place: Place,
  ignoresCase: (folder: string) => Promise<boolean>,
): Promise<readonly PlacedRule[]> {
  const placed: PlacedRule[] = []
  for (const rule of rules) {
    const base = baseOf(rule, place)
    if (rule.what === null || base === undefined || pathKind(rule.tool) === null) continue
    if (base === place.root && place.origin !== undefined && place.origin !== base && rule.list !== 'allow') {
      const there = { ...place, root: place.origin, origin: undefined }
      placed.push(...(await placeRules([rule], there, ignoresCase)))
    }
    const { head, rest } = splitPattern(rule.what)
    const written = resolve(base, head.replace(/^\/+/, ''))
    const real = await realPlace(place, '/', written)
    const matches = rest === '' ? (path: string) => path === '' : globBelow(rest, head === '')
    const isReal = (path: string): boolean => isBelow(real, path) && matches(pathBelow(real, path))
    if (rule.list === 'allow') {
      const leaves = isInside(place.root, written) && !isInside(place.root, real)
      const isAbout = ({ real: path }: NamedFile): boolean =>
        leaves ? isAboutPath(rule, path, place) : isReal(path)
      placed.push({ rule, head: real, isAbout })
      continue
    }
    const folds = await ignoresCase(real)
    const fold = (path: string): string =>
      folds ? path.split('/').map(foldName).join('/') : path.normalize('NFC')
    const folded = withAllBelow(rest, rest === '' ? matches : globBelow(fold(rest), head === ''))
    const heads = [...new Set([written, real].map(fold))]
    const isAbout = (file: NamedFile): boolean =>
      [file.written, file.real]
        .map(fold)
        .some((path) => heads.some((from) => isBelow(from, path) && folded(pathBelow(from, path))))
    placed.push({ rule, head: real, isAbout })
  }
  return placed
}

/** A path that a pattern does not know how to read speaks of everything below: it was read once, so it does not happen. */
function globBelow(rest: string, isAnywhere: boolean): (path: string) => boolean {
  const glob = compileGlob(isAnywhere ? rest : `/${rest}`)
  return glob.ok ? (path) => path !== '' && glob.matches(path) : () => true
}

/** What is meant as a folder is meant with all that is in it; only a star at the end says one step. */
function withAllBelow(rest: string, matches: (path: string) => boolean): (path: string) => boolean {
  if (/(?:^|\/)\*$/.test(rest)) return matches
  return (path) => {
    const steps = path.split('/')
    return steps.some((_, at) => matches(steps.slice(0, at + 1).join('/'))) || matches('')
  }
}

const isBelow = (folder: string, path: string): boolean =>
  folder === '/' || path === folder || path.startsWith(`${folder}/`)
const pathBelow = (folder: string, path: string): string =>
  folder === '/' ? path.slice(1) : path.slice(folder.length + 1)

/** Every file of a folder is meant, or the folder itself. */
export const coversFolder = (placed: PlacedRule, { written, real }: NamedFile): boolean =>
  placed.isAbout({ written, real }) ||
  placed.isAbout({ written: join(written, anyName), real: join(real, anyName) })
const anyName = '\u0001'

/** The name as it is written, without a look at the disk. */
export function writtenPath(place: Pick<Place, 'home'>, base: string, path: string): string {
  const isHome = place.home !== undefined && (path === '~' || path.startsWith('~/'))
  return isHome ? resolve(place.home, path.slice(2)) : resolve(base, path)
}

/** Whether a disk takes names that differ in case for one: the folder, or the nearest above it that tells, is looked up in the other case. */
export async function ignoresCase(fs: FileSystem, folder: string): Promise<boolean> {
  for (let at = folder; dirname(at) !== at; at = dirname(at)) {
    const name = at.slice(dirname(at).length).replace(/^\//, '')
    const other = name === name.toLowerCase() ? name.toUpperCase() : name.toLowerCase()
    const here = await attempt('looking', () => fs.stat(at))
    if (other === name || !here.ok) continue
    const there = await attempt('looking', () => fs.stat(join(dirname(at), other)))
    return there.ok && there.identity === here.identity
  }
  return false
}
