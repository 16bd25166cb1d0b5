// Which instruction files the user has lived with. Kept per project in the user's folder, never in the project:
// `instructions.json`, {"pins": {"/path": "sha256"}, "includes": ["/path"]}.
//
// At the start of a session what is there is taken as it is, and what changed since the last time is said. While a
// session runs, a file nobody knew that was written after the session began is refused until the user accepts it; one
// that was known and changed is followed, and that is said.
import type { InstructionText } from './read.ts'

export interface Pins {
  /** Why a file is not to be followed now, or null. */
  refusal(file: Pick<InstructionText, 'path' | 'modifiedMs'>): string | null
}

export interface PinnedFiles {
  readonly pins: Readonly<Record<string, string>>
  readonly includes: readonly string[]
}
export const noPins: PinnedFiles = { pins: {}, includes: [] }

/** What holds while a session runs that began at this time. */
export function pinsSince(known: PinnedFiles, begunMs: number): Pins {
  return {
    refusal: ({ path, modifiedMs }) => {
      if (Object.hasOwn(known.pins, path) || modifiedMs < begunMs) return null
      return `${path} appeared while this session ran and is not followed; accept it with pal memory accept ${path}, or begin a new session`
    },
  }
}

export function pinnedIn(text: string): PinnedFiles {
  try {
    const value = JSON.parse(text) as Partial<Record<string, unknown>> | null
    const pins = value?.['pins']
    const includes = value?.['includes']
    return {
      pins: typeof pins === 'object' && pins !== null ? textsIn(pins) : {},
      includes: Array.isArray(includes) ? includes.filter((one) => typeof one === 'string') : [],
    }
  } catch (error) {
    if (error instanceof SyntaxError) return noPins
    throw error
  }
}

const textsIn = (pins: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(pins).flatMap(([path, sha]) => (typeof sha === 'string' ? [[path, sha]] : [])),
  )

/** Paths whose text is not the one that was known. New ones are no change. */
export const changedSince = (
  known: PinnedFiles,
  files: readonly { readonly path: string; readonly sha256: string }[],
): readonly string[] =>
  files
    .filter(({ path, sha256 }) => Object.hasOwn(known.pins, path) && known.pins[path] !== sha256)
    .map(({ path }) => path)
