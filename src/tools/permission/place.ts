// Where a path really leads, step by step as the system goes: through every link, and upwards from where a link led.
import { dirname, isAbsolute, join, parse, relative, sep } from 'node:path'
import { systemCode, type FileSystem } from '../../disk/fs.ts'
import { isInside } from '../../disk/under-root.ts'
import { isMachinePath, isSecretPath, unwritableName } from '../files/protected-names.ts'

export interface Place {
  readonly fs: FileSystem
  /** The project, by its real path. */
  readonly root: string
  /** Where commands start and relative paths begin. */
  readonly cwd: string
  readonly home: string | undefined
  /** The folder of the project's sessions: outputs that were kept there may be read, nothing else of it. */
  readonly sessions?: string | undefined
}

export interface Finding {
  readonly real: string
  readonly isInside: boolean
  /** The output of a tool, kept beside a session of this project. */
  readonly isOutput: boolean
  readonly isSecret: boolean
  readonly isMachine: boolean
  /** The name that no tool writes, or null. */
  readonly unwritable: string | null
}

export async function realPlace(place: Place, base: string, path: string): Promise<string> {
  const atHome = /^~(?=$|[/\\])/.test(path) && place.home !== undefined
  const whole = atHome ? place.home + path.slice(1) : path
  const root = isAbsolute(whole) ? parse(whole).root : null
  let real = root ?? (await existing(place.fs, base))
  for (const step of whole.slice(root?.length ?? 0).split(/[/\\]/)) {
    if (step === '' || step === '.') continue
    real = step === '..' ? dirname(real) : await existing(place.fs, join(real, step))
  }
  return real
}

/** What is not there yet lies where its name says. */
async function existing(fs: FileSystem, path: string): Promise<string> {
  try {
    return await fs.realPath(path)
  } catch (error) {
    if (systemCode(error) === null) throw error
    return path
  }
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
    unwritable: unwritableName(inside ? real.slice(place.root.length) : real),
  }
}

async function isKeptOutput({ fs, sessions }: Place, real: string): Promise<boolean> {
  if (sessions === undefined) return false
  const way = relative(await existing(fs, sessions), real).split(sep)
  return way.length === 3 && way[0] !== '..' && way[1] === outputsFolder
}
/** As the file store names it. */
const outputsFolder = 'tool-results'

/** Why looking at it is not for everybody's tool to do unasked, or null. */
export function readDoubt({ real, isInside: inside, isOutput, isSecret, isMachine }: Finding): string | null {
  if (isMachine && real !== '/dev/null') return `${real} belongs to the machine`
  if (isSecret) return `${real} usually holds keys`
  return inside || isOutput ? null : `${real} lies outside the project`
}
