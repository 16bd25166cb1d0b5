// The system prompt as named sections with one boundary. What stands before the boundary is the same for
// everybody, what stands behind it belongs to this session. A section is computed once and kept until `reset` (clear or
// compaction), because each change of its text costs the whole cache behind it; one that must follow the moment says
// why, and stands on the dynamic side. The texts themselves come from the preset or the embedder.
import type { Section } from '../transcript/fact.ts'

/** In the order in which they are sent. */
export const staticSections = [
  'identity',
  'system-rules',
  'doing-tasks',
  'risky-actions',
  'tool-use',
  'tone',
  'brevity',
] as const
export const dynamicSections = [
  'session-guidance',
  'memory-guidance',
  'environment',
  'language',
  'output-style',
  'mcp-instructions',
  'scratchpad',
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
      /** Computed for every request, and this is why it has to be. */
      readonly volatile?: string | undefined
    }

export interface Sections {
  /** The same list as before where no text has changed. */
  render(): readonly Section[]
  /** Forgets what was computed. */
  reset(): void
}

export interface SectionOptions {
  /** A caller's own system prompt: it replaces everything, as one block with no static part. */
  readonly ownPrompt?: string | undefined
}

export function createSections(
  definitions: readonly SectionDefinition[],
  options: SectionOptions = {},
): Sections {
  const ordered = definitions.toSorted((a, b) => orderOf(a) - orderOf(b))
  const { ownPrompt } = options
  const kept = new Map<SectionDefinition, string | null>()
  let last: readonly Section[] = []
  const textOf = (definition: SectionDefinition): string | null => {
    const isVolatile = definition.side === 'dynamic' && definition.volatile !== undefined
    if (isVolatile || !kept.has(definition)) kept.set(definition, definition.compute())
    return kept.get(definition) ?? null
  }
  const make = (): readonly Section[] => {
    if (ownPrompt !== undefined) return shown('own:prompt', 'dynamic', ownPrompt)
    return ordered.flatMap((definition) => shown(definition.name, definition.side, textOf(definition)))
  }
  return {
    render: () => {
      const sections = make()
      if (!isSame(sections, last)) last = sections
      return last
    },
    reset: () => kept.clear(),
  }
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

function isSame(a: readonly Section[], b: readonly Section[]): boolean {
  return (
    a.length === b.length &&
    a.every((section, index) => section.name === b[index]!.name && section.text === b[index]!.text)
  )
}
