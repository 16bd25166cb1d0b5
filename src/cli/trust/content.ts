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
