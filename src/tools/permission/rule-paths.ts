// Rules that name paths, in the place they hold for. A rule and a file are compared by where they really lead, through
// links, from the home that is in force. One that denies or asks is also compared as it is written, composed, and without
// case where the disk knows none; it keeps a folder with all that is in it, and in a copy of the project (a worktree) it
// speaks of the copy and of the project. One that allows counts by the real path alone, and what it says of the project
// never leads out of it through a link.
import { dirname, join, resolve } from 'node:path'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { foldName } from '../../disk/safe-name.ts'
import { isInside } from '../../disk/under-root.ts'
import { compileGlob } from '../search/glob-pattern.ts'
import { realPlace, type Place } from './place.ts'
import { isAboutPath, pathKind, type Rule } from './rule.ts'

/** A file as it was named and as it really lies. */
export interface NamedFile {
  readonly written: string
  readonly real: string
}

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
