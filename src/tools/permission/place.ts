// Where a path really leads, step by step as the system goes: through every link, and upwards from where a link led.
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path'
import { attempt, realOr, type FileSystem } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'
import { isMachinePath, isSecretPath, unwritableName } from '../files/protected-names.ts'

export interface Place {
  readonly fs: FileSystem
  /** The project, by its real path. */
  readonly root: string
  /** The project that this one is a copy of, as a worktree is: what is denied there stays denied. */
  readonly origin?: string | undefined
  /** Where commands start and relative paths begin. */
  readonly cwd: string
  readonly home: string | undefined
  /** The folder of the project's sessions: outputs that were kept there may be read, nothing else of it. */
  readonly sessions?: string | undefined
  /** Whether a rule keeps a file from being read unasked, by its real path. */
  readonly isForbidden?: ((real: string) => boolean) | undefined
}

export interface Finding {
  readonly real: string
  readonly isInside: boolean
  /** The output of a tool, kept beside a session of this project. */
  readonly isOutput: boolean
  readonly isSecret: boolean
  readonly isMachine: boolean
  readonly isForbidden: boolean
  /** The name that no tool writes, or null. */
  readonly unwritable: string | null
}

/** A backslash parts folders on Windows alone; elsewhere it is a letter, and such a name may be a link. */
const steps = sep === '/' ? /\// : /[/\\]/

export async function realPlace(place: Place, base: string, path: string): Promise<string> {
  const atHome =
    (path === '~' || steps.test(path.slice(1, 2))) && path.startsWith('~') && place.home !== undefined
  const whole = atHome ? place.home + path.slice(1) : path
  const root = isAbsolute(whole) ? parse(whole).root : null
  let real = root ?? (await realOr(place.fs, base))
  for (const step of whole.slice(root?.length ?? 0).split(steps)) {
    if (step === '' || step === '.') continue
    real = step === '..' ? dirname(real) : await realOr(place.fs, join(real, step))
  }
  return real
}

export async function lookAt(place: Place, base: string, path: string): Promise<Finding> {
  const real = await realPlace(place, base, path)
  const inside = isInside(place.root, real) || isInside(place.cwd, real)
  const isOutput = !inside && (await isKeptOutput(place, real))
  return {
    real,
    isInside: inside,
    isOutput,
    isSecret: isSecretPath(real) || isSecretPath(path),
    isMachine: isMachinePath(real),
    isForbidden: place.isForbidden?.(real) === true,
    unwritable: unwritableName(inside ? real.slice(place.root.length) : real),
  }
}

async function isKeptOutput({ fs, sessions }: Place, real: string): Promise<boolean> {
  if (sessions === undefined) return false
  const way = relative(await realOr(fs, sessions), real).split(sep)
  return way.length === 3 && way[0] !== '..' && way[1] === outputsFolder
}
/** As the file store names it. */
const outputsFolder = 'tool-results'

/** Why looking at it is not for everybody's tool to do unasked, or null. */
export function readDoubt(finding: Finding): string | null {
  const { real, isInside: inside, isOutput, isSecret, isMachine, isForbidden } = finding
  // As input it is none at all.
  if (real === '/dev/null') return null
  if (isMachine) return `${real} belongs to the machine`
  if (isSecret) return `${real} usually holds keys`
  if (isForbidden) return `a rule keeps ${real} from being read unasked`
  return inside || isOutput ? null : `${real} lies outside the project`
}

/**
 * Every path that a pattern may stand for, and more rather than less. Null when there are too many to look at.
 */
export async function matching(
  place: Place,
  base: string,
  pattern: string,
): Promise<readonly string[] | null> {
  if (!/[*?[]/.test(pattern)) return [pattern]
  let found = ['']
  for (const [at, step] of pattern.split('/').entries()) {
    const isGlob = /[*?[]/.test(step)
    const next: string[] = []
    for (const before of found) {
      if (!isGlob) next.push(at === 0 ? step : `${before}/${step}`)
      else
        for (const name of [...(await namesIn(place, base, at === 0 ? '.' : `${before}/`)), ...dots])
          if (fitsStep(step, name)) next.push(at === 0 ? name : `${before}/${name}`)
      if (next.length > defaults.permission.globMatches) return null
    }
    found = next
  }
  return found
}

/** In every folder, and to shells older than bash 5.2 such a pattern stands for them too. */
const dots = ['.', '..']

async function namesIn(place: Place, base: string, folder: string): Promise<readonly string[]> {
  return namesAt(place, await realPlace(place, base, folder))
}

async function namesAt({ fs }: Place, real: string): Promise<readonly string[]> {
  const listed = await attempt('looking', async () => ({ names: await fs.names(real) }))
  return listed.ok ? listed.names : []
}

/** Pieces between stars, in their order; a question mark is any one character. */
function fitsStep(step: string, name: string): boolean {
  // A shell without special options passes hidden names over.
  if (name.startsWith('.') && !step.startsWith('.')) return false
  // What a bracket holds, and where it ends, has its own rules: from there on anything may stand.
  const source = step.replace(/\[[\s\S]*$/, '*')
  const pieces = source.split(/\*+/)
  let at = 0
  for (const [index, piece] of pieces.entries()) {
    const isLast = index === pieces.length - 1
    const start = isLast && pieces.length > 1 ? Math.max(at, name.length - piece.length) : at
    const found = placeOf(piece, name, start, index === 0 || isLast)
    if (found === -1) return false
    at = found + piece.length
  }
  return pieces.length > 1 || at === name.length
}

function placeOf(piece: string, name: string, from: number, isFixed: boolean): number {
  for (let at = from; at + piece.length <= name.length; at++) {
    if (Array.from(piece).every((char, index) => char === '?' || char === name[at + index])) return at
    if (isFixed) return -1
  }
  return -1
}

/**
 * The disk as it was when a command was first looked at: a chain of commands names the same places again and again, and each
 * is asked for once (PM35).
 */
export function rememberingFs(fs: FileSystem): FileSystem {
  return {
    ...fs,
    realPath: once((path) => fs.realPath(path)),
    stat: once((path) => fs.stat(path)),
    names: once((path) => fs.names(path)),
    entries: once((path) => fs.entries(path)),
  }
}

/** A failure is remembered too. */
function once<T>(ask: (path: string) => Promise<T>): (path: string) => Promise<T> {
  const answers = new Map<string, Promise<T>>()
  return (path) => {
    const known = answers.get(path)
    if (known !== undefined) return known
    const answer = ask(path)
    answers.set(path, answer)
    return answer
  }
}
