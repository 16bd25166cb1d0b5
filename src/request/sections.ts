// The system prompt as named sections with one boundary. What stands before the boundary is the same for
// everybody, what stands behind it belongs to this session. Sections are computed when a session begins and after a
// compaction that rewrites its beginning, and stay between the two, because each change of a text costs the whole cache
// behind it. The texts themselves come from the preset or the embedder.
import type { Section } from '../transcript/fact.ts'

/** In the order in which they are sent. */
export const staticSections = [
  'identity',
  'system-rules',
  'doing-tasks',
  'risky-actions',
  'tool-use',
  'tone',
] as const
export const dynamicSections = [
  'session-guidance',
  'memory-guidance',
  'environment',
  'language',
  'output-style',
  'mcp-instructions',
  'cleared-results',
  'budgets',
] as const

export type StaticName = (typeof staticSections)[number]
export type DynamicName = (typeof dynamicSections)[number]
/** A section of an embedder's own; it stands behind ours on its side. */
export type OwnName = `own:${string}`

/** Null or a blank text: the section is left out. */
type Compute = () => string | null

export type SectionDefinition =
  | { readonly name: StaticName | OwnName; readonly side: 'static'; readonly compute: Compute }
  | {
      readonly name: DynamicName | OwnName
      readonly side: 'dynamic'
      readonly compute: Compute
    }

export interface SectionOptions {
  /** A caller's own system prompt: it replaces everything, as one block with no static part. */
  readonly ownPrompt?: string | undefined
}

/** As they are now. */
export function renderSections(
  definitions: readonly SectionDefinition[],
  { ownPrompt }: SectionOptions = {},
): readonly Section[] {
  if (ownPrompt !== undefined) return shown('own:prompt', 'dynamic', ownPrompt)
  return definitions
    .toSorted((a, b) => orderOf(a) - orderOf(b))
    .flatMap(({ name, side, compute }) => shown(name, side, compute()))
}

function shown(name: string, side: Section['side'], text: string | null): readonly Section[] {
  return text === null || text.trim() === '' ? [] : [{ name, side, text }]
}

function orderOf({ name, side }: SectionDefinition): number {
  const known: readonly string[] = [...staticSections, ...dynamicSections]
  const at = known.indexOf(name)
  if (at >= 0) return at
  return side === 'static' ? staticSections.length - 0.5 : known.length
}
