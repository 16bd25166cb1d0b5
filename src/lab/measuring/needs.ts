// What the recorded future needed: for each answer the atoms its calls used and the texts its edits replaced, as far as
// they had been seen before. Depends on the recording alone, so it is found once for all policies.
import { defaults } from '../../settings/defaults.ts'
import type { Script, Step } from '../playing/script.ts'
import { atomsOf, wordsAround } from './atoms.ts'
import { contentText, leaves, linesOf, textOf, withoutLineNumbers } from './texts.ts'

export interface Need {
  readonly atoms: readonly string[]
  /** Texts that an edit of this answer replaces. */
  readonly replaced: readonly string[]
}

export interface Needs {
  /** For each step. */
  readonly steps: readonly Need[]
  readonly wanted: ReadonlySet<string>
  /** Whether this line stood in the recording with this atom before the step. */
  readonly isOriginal: (atom: string, line: string, step: number) => boolean
  /** Whether a line shares a content word, the atom apart, with a line in which the atom stood before the step. */
  readonly keepsCompany: (atom: string, line: string, step: number) => boolean
}

/** Lines in which an atom stood, and the step at which each was first seen. */
type Sightings = Map<string, number>

export function needsOf(script: Script): Needs {
  const seen = new Map<string, Sightings>()
  const shown: string[] = []
  const steps: Need[] = []
  const see = (text: string, step: number): void => {
    if (text === '') return
    shown.push(withoutLineNumbers(text))
    for (const line of linesOf(text)) {
      for (const atom of atomsOf(line)) {
        const lines = seen.get(atom)
        if (lines === undefined) seen.set(atom, new Map([[line, step]]))
        else if (!lines.has(line)) lines.set(line, step)
      }
    }
  }
  if (script.reminder !== null) see(script.reminder, 0)
  for (const [index, step] of script.steps.entries()) {
    for (const text of incomingTexts(step)) see(text, index)
    steps.push(needOf(step, seen, shown))
    for (const block of step.answer.content) see(textOf({ ...block }), index + 1)
  }
  const wanted = new Set(steps.flatMap(({ atoms }) => atoms))
  return { steps, wanted, ...company(seen, wanted) }
}

function* incomingTexts({ results, input }: Step): Generator<string> {
  for (const { content } of results) yield contentText(content)
  for (const block of input) yield textOf({ ...block })
}

function needOf(step: Step, seen: ReadonlyMap<string, Sightings>, shown: readonly string[]): Need {
  const calls = step.answer.content.flatMap((block) =>
    block.type === 'tool_use' && 'input' in block ? [block.input] : [],
  )
  const used = new Set(calls.flatMap((input) => leaves(input).flatMap((text) => [...atomsOf(text)])))
  const texts = new Set(calls.flatMap(replacedBy))
  return {
    atoms: [...used].filter((atom) => seen.has(atom)),
    replaced: [...texts].filter((text) => shown.some((before) => before.includes(text))),
  }
}

const oldText = /^(?:old_string|old_str|oldText|old_text|oldString)$/

/** The texts that a call says it replaces: fields of editing tools, and the old side of patches. */
export function replacedBy(input: unknown): readonly string[] {
  if (typeof input === 'string') return input.includes('*** Begin Patch') ? patched(input) : []
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

function company(
  seen: Map<string, Sightings>,
  wanted: ReadonlySet<string>,
): Pick<Needs, 'isOriginal' | 'keepsCompany'> {
  const words = new Map<string, Map<string, number>>()
  const wordsOf = (atom: string): ReadonlyMap<string, number> => {
    let known = words.get(atom)
    if (known !== undefined) return known
    known = new Map()
    for (const [line, step] of seen.get(atom) ?? [])
      for (const word of wordsAround(atom, line)) known.set(word, Math.min(step, known.get(word) ?? step))
    words.set(atom, known)
    return known
  }
  for (const atom of seen.keys()) if (!wanted.has(atom)) seen.delete(atom)
  return {
    isOriginal: (atom, line, step) => (seen.get(atom)?.get(line) ?? Infinity) <= step,
    keepsCompany: (atom, line, step) => {
      const own = wordsOf(atom)
      for (const word of wordsAround(atom, line)) if ((own.get(word) ?? Infinity) <= step) return true
      return false
    },
  }
}
