// Content that acts: files of a project that change what this program does or what the model is told. It acts only with
// the very bytes a person has approved, so whoever reads such a file hands the bytes it read to the gate before it uses
// them, and uses no others.
import { shaOf } from '../../memory/files.ts'

export const contentKinds = [
  'settings',
  'MCP servers',
  'MCP program',
  'instructions',
  'include',
  'skill',
  'command',
  'agent type',
  'output style',
] as const
/** `include`: a file outside the project that an instruction file of the project includes. */
export type ContentKind = (typeof contentKinds)[number]

export interface ActingFile {
  readonly kind: ContentKind
  readonly path: string
  readonly sha256: string
  readonly bytes: number
  /** Null where it is no text or too long to be kept; then no diff can be shown. */
  readonly text: string | null
}

/** Longer files are known by their hash alone. */
const keptBytes = 256 * 1024

export function actingFile(kind: ContentKind, path: string, bytes: Uint8Array): ActingFile {
  return { kind, path, sha256: shaOf(bytes), bytes: bytes.byteLength, text: textOf(bytes) }
}

function textOf(bytes: Uint8Array): string | null {
  if (bytes.byteLength > keptBytes) return null
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    return null
  }
}

/** What a file is known by: one approved as an instruction is not approved as a program. */
export const contentKey = ({ kind, path }: Pick<ActingFile, 'kind' | 'path'>): string => `${kind} ${path}`

/** What was decided about a folder. */
export interface FolderTrust {
  /** `this run`: by --trust; `by path`: from before contents were approved. */
  readonly standing: 'trusted' | 'this run' | 'refused' | 'unknown' | 'by path'
  /** What was approved. */
  readonly files: readonly ActingFile[]
  /** What was refused, each by its content: it is not asked about again. */
  readonly refused: readonly Refused[]
  readonly problems: readonly string[]
}
export type Refused = Pick<ActingFile, 'kind' | 'path' | 'sha256'>

// ---- the gate in front of everything that acts ----
// Loaders ask it with the bytes they have read; it answers from the pins and
// notes what it left out, so that this can be said and asked about.

export interface LeftOut {
  readonly kind: ContentKind
  readonly path: string
  readonly why: 'not trusted' | 'new' | 'changed'
  /** The same as a sentence, with what to do. */
  readonly says: string
}

export interface Gate {
  /** Whether the folder is trusted; what is new or changed in it is not for that. */
  readonly isTrusted: boolean
  /** Null when these bytes may act, else why not, as the rest of a sentence that begins with the path. */
  refusal(kind: ContentKind, path: string, bytes: Uint8Array): string | null
  /** From now on this content may act; what this program wrote itself. */
  approve(file: ActingFile): void
  /** Everything asked about so far that may not act, each once. */
  leftOut(): readonly LeftOut[]
}

const howTo = 'Look at it and decide with pal trust (/trust in a conversation)'

const reasons: Readonly<Record<FolderTrust['standing'], string>> = {
  trusted: '',
  'this run': '',
  refused: 'you chose not to trust this folder',
  unknown: 'this folder is not trusted',
  'by path': 'trust now covers contents, and this folder was trusted before that; confirm it once more',
}

export function gateOf({ standing, files }: Pick<FolderTrust, 'standing' | 'files'>): Gate {
  const pinned = new Map(files.map((file) => [contentKey(file), file.sha256]))
  const leftOut = new Map<string, LeftOut>()
  const isTrusted = standing === 'trusted' || standing === 'this run'
  return {
    isTrusted,
    refusal(kind, path, bytes) {
      const key = contentKey({ kind, path })
      // A run of its own trusts the folder; what lies outside of it has to be approved by its content.
      if (standing === 'this run' && kind !== 'include') return null
      if (isTrusted && pinned.get(key) === actingFile(kind, path, bytes).sha256) return null
      const why = !isTrusted ? 'not trusted' : pinned.has(key) ? 'changed' : 'new'
      const reason = {
        'not trusted': reasons[standing],
        new: 'it is new since you trusted this folder',
        changed: 'it has changed since you trusted it',
      }[why]
      // Of a trusted project's settings what denies or asks counts at once.
      const does = isTrusted && kind === 'settings' ? 'counts only where it denies or asks' : 'was not read'
      const says = `${does}: ${reason}. ${howTo}`
      leftOut.set(key, { kind, path, why, says: `${path} (${kind}) ${says}` })
      return says
    },
    approve: (file) => void pinned.set(contentKey(file), file.sha256),
    leftOut: () => [...leftOut.values()],
  }
}

/** Lets everything through and keeps it: so a list holds exactly what the loaders would use. */
export function recordingGate(): Gate & { readonly seen: () => readonly ActingFile[] } {
  const seen = new Map<string, ActingFile>()
  return {
    isTrusted: true,
    refusal(kind, path, bytes) {
      seen.set(contentKey({ kind, path }), actingFile(kind, path, bytes))
      return null
    },
    approve: () => undefined,
    leftOut: () => [],
    seen: () => [...seen.values()],
  }
}
