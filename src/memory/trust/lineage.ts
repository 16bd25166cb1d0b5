// What a write came from (law M1). The engine tells what was typed and what was read; this decides from it
// who is speaking. The model has no say: there is no field it could fill.
//
//   nothing but the user and what the user confirmed was read   → the user's words, or the model's own inference
//   anything else was read                                      → data, unless it is made of whole sentences the user typed
import type { Provenance, SourceKind, Trust } from '../memory.ts'
import { isSupported, isVerbatim } from './sentences.ts'

export interface Reading {
  readonly tool: string
  /** Where it came from, where that is known: an address or a path. */
  readonly source: string | null
  readonly trust: Trust
}

export interface Lineage {
  readonly session: string
  /** Of the talk itself: there the user is at hand to be asked. */
  readonly isMain: boolean
  /** The entry whose call writes. */
  readonly message: string | null
  /** What the user typed, as far as the model sees it. */
  readonly userWords: readonly string[]
  /** When the last of them were typed. */
  readonly typedAt?: number | undefined
  /** Read since the last thing the user typed, and before that, as far as the model sees it. */
  readonly turn: readonly Reading[]
  readonly before: readonly Reading[]
}

/** The same where nobody types: what the program was called with may be a stranger's. */
export const untyped = (lineage: Lineage): Lineage => ({
  ...lineage,
  userWords: [],
  before: [...lineage.before, { tool: 'prompt', source: null, trust: 'data' }],
})

export interface Derived {
  readonly by: Provenance
  /** This turn has read what nobody vouches for, so a person is asked first where there is one. */
  readonly asks: boolean
}

const webTools = /^(?:web|fetch|browser|http)/i
const isData = ({ trust }: Reading): boolean => trust === 'data'

export function derive(lineage: Lineage, text: string, now: number): Derived {
  const data = [...lineage.before, ...lineage.turn].filter(isData)
  const isUsers =
    data.length === 0 ? isSupported(text, lineage.userWords) : isVerbatim(text, lineage.userWords)
  const [kind, trust] = speaker(data, isUsers)
  const from = data.flatMap(({ tool, source }) => (source === null ? [tool] : [tool, source]))
  const by: Provenance = {
    kind,
    trust,
    session: lineage.session,
    message: lineage.message,
    from: [...new Set(from)],
    at: now,
  }
  return { by, asks: lineage.isMain && lineage.turn.some(isData) }
}

function speaker(data: readonly Reading[], isUsers: boolean): readonly [SourceKind, Trust] {
  if (isUsers) return ['user', 'user']
  if (data.length === 0) return ['model', 'model']
  return [data.some(({ tool }) => webTools.test(tool)) ? 'web' : 'tool', 'data']
}
