// What the recorded future needed: for each answer the atoms its calls used and the texts its edits replaced, as far as
// they had been seen before. Depends on the recording alone, so it is found once for all policies.
import { defaults } from '../../settings/defaults.ts'
import type { Script, Step } from '../playing/script.ts'
import { atomsOf, wordsAround } from './atoms.ts'
import { seenSources, type SeenSource } from './sources.ts'
import { linesOf, textOf } from './texts.ts'
import { withCodeOpened } from '../../compaction/call-shape.ts'
import { stringsIn } from '../../projection/folding/render.ts'

export interface Need {
  readonly atoms: readonly string[]
  /** Those of the atoms that nothing shows again once they are out of sight: said by somebody, or put out by a command that cannot be repeated. */
  readonly saidOnce: readonly string[]
  /** Texts that an edit of this answer replaces. */
  readonly replaced: readonly string[]
}

/** What a block that is sent says of what is wanted. */
export interface Seen {
  /** Lines by the wanted atom that stands in them. */
  readonly lines: ReadonlyMap<string, readonly string[]>
  readonly text: string
}

export interface Needs {
  /** For each step. */
  readonly steps: readonly Need[]
  readonly wanted: ReadonlySet<string>
  /** Whether this line stood in the recording with this atom before the step. */
  readonly isOriginal: (atom: string, line: string, step: number) => boolean
  /** Whether a line shares a content word, the atom apart, with a line in which the atom stood before the step. */
  readonly keepsCompany: (atom: string, line: string, step: number) => boolean
  /** What had shown an atom, or a text word for word, before the step. */
  readonly sourcesOf: (atom: string, step: number) => readonly SeenSource[]
  readonly sourcesOfText: (text: string, step: number) => readonly SeenSource[]
  /** Blocks that were read already, whoever sent them: policies that are played one after the other send mostly the same. */
  readonly read: WeakMap<object, Seen>
}

interface Sightings {
  /** Lines in which an atom stood, and the step at which each was first seen. */
  readonly lines: Map<string, number>
  readonly sources: SeenSource[]
  /** Whether any of the sources can be looked up again. */
  isLasting: boolean
}

export function needsOf(script: Script): Needs {
  const seen = new Map<string, Sightings>()
  const shown: SeenSource[] = []
  const steps: Need[] = []
  for (const source of seenSources(script, (step) => steps.push(needOf(step, seen, shown)))) {
    shown.push(source)
    for (const line of linesOf(textOf(source.block))) {
      for (const atom of atomsOf(line)) {
        let sightings = seen.get(atom)
        if (sightings === undefined) {
          sightings = { lines: new Map(), sources: [], isLasting: false }
          seen.set(atom, sightings)
        }
        if (!sightings.lines.has(line)) sightings.lines.set(line, source.step)
        if (sightings.sources.at(-1) !== source) sightings.sources.push(source)
        sightings.isLasting ||= source.isLasting
      }
    }
  }
  const wanted = new Set(steps.flatMap(({ atoms }) => atoms))
  for (const atom of seen.keys()) if (!wanted.has(atom)) seen.delete(atom)
  const before =
    (step: number) =>
    (source: SeenSource): boolean =>
      source.step <= step
  return {
    steps,
    wanted,
    read: new WeakMap(),
    ...company(seen),
    sourcesOf: (atom, step) => (seen.get(atom)?.sources ?? []).filter(before(step)),
    sourcesOfText: (text, step) => shown.filter(before(step)).filter(({ plain }) => plain.includes(text)),
  }
}

function needOf(step: Step, seen: ReadonlyMap<string, Sightings>, shown: readonly SeenSource[]): Need {
  const calls = step.answer.content.flatMap((block) =>
    block.type === 'tool_use' && 'input' in block ? [block.input] : [],
  )
  const used = new Set(
    calls.flatMap((input) =>
      withCodeOpened(stringsIn(input), stringsIn).flatMap((text) => [...atomsOf(text)]),
    ),
  )
  const texts = new Set(calls.flatMap(replacedBy))
  const atoms = [...used].filter((atom) => seen.has(atom))
  return {
    atoms,
    saidOnce: atoms.filter((atom) => !seen.get(atom)!.isLasting),
    replaced: [...texts].filter((text) => shown.some(({ plain }) => plain.includes(text))),
  }
}

const oldText = /^(?:old_string|old_str|oldText|old_text|oldString)$/

/** The texts that a call says it replaces: fields of editing tools, and the old side of patches. */
export function replacedBy(input: unknown): readonly string[] {
  if (typeof input === 'string')
    return input.includes('*** Begin Patch') ? withCodeOpened([input], stringsIn).flatMap(patched) : []
  if (typeof input !== 'object' || input === null) return []
  return Object.entries(input).flatMap(([key, value]) =>
    oldText.test(key) && typeof value === 'string' ? worthy(value) : replacedBy(value),
  )
}

/** Each run of old lines that is changed, with the lines around it that the patch quotes. */
function patched(patch: string): readonly string[] {
  const texts: string[] = []
  let old: string[] = []
  let isChange = false
  const end = (): void => {
    if (isChange && old.length > 0) texts.push(...worthy(old.join('\n')))
    old = []
    isChange = false
  }
  for (const line of patch.split('\n')) {
    if (line.startsWith('-') || line.startsWith('+')) isChange = true
    if (line.startsWith('-') || line.startsWith(' ')) old.push(line.slice(1))
    else if (!line.startsWith('+')) end()
  }
  end()
  return texts
}

const worthy = (text: string): readonly string[] =>
  text.trim().length >= defaults.lab.editTextChars ? [text] : []

function company(seen: ReadonlyMap<string, Sightings>): Pick<Needs, 'isOriginal' | 'keepsCompany'> {
  const words = new Map<string, Map<string, number>>()
  const wordsOf = (atom: string): ReadonlyMap<string, number> => {
    let known = words.get(atom)
    if (known !== undefined) return known
    known = new Map()
    for (const [line, step] of seen.get(atom)?.lines ?? [])
      for (const word of wordsAround(atom, line)) known.set(word, Math.min(step, known.get(word) ?? step))
    words.set(atom, known)
    return known
  }
  return {
    isOriginal: (atom, line, step) => (seen.get(atom)?.lines.get(line) ?? Infinity) <= step,
    keepsCompany: (atom, line, step) => {
      const own = wordsOf(atom)
      for (const word of wordsAround(atom, line)) if ((own.get(word) ?? Infinity) <= step) return true
      return false
    },
  }
}
