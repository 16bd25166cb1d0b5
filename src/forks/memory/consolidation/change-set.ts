// From proposals to a change set. Pure. What code can do better than a model it does itself: days become dates, pointers
// that lead nowhere are fixed. Then the set is looked at as a whole: every retired memory has somebody that stands in
// its place, and no more is lost at once than the limit. Law: made again on its own result, nothing is left to do.
import type { OrWhy } from '../../../disk/failure.ts'
import type { SourcedChange } from '../../../memory/memory-store.ts'
import { codeLines } from '../../../memory/format/dates.ts'
import { isRule, sessionless } from '../../../memory/memory.ts'
import { readMemoryText, withFields, withoutField } from '../../../memory/format/frontmatter.ts'
import { defaults } from '../../../settings/defaults.ts'
import { linesOf, plain, plainSentencesOf } from '../../../memory/trust/lines.ts'
import {
  successorIn,
  successorRefusal,
  proposalRefusal,
  provenanceOf,
  sourcesOf,
  type Staged,
} from './check.ts'
import type { Doubts } from './doubts.ts'
import { datedLine, type Snapshot } from './snapshot.ts'

export type ChangeSetOutcome = OrWhy<{
  readonly changes: readonly SourcedChange[]
  readonly report: readonly string[]
}>

export function changeSetOf(
  world: Snapshot,
  proposals: Staged,
  now: number,
  doubts: Doubts = new Map(),
): ChangeSetOutcome {
  const refused: string[] = []
  const staged = accepted(world, proposals, refused)
  const successors = new Map<string, string>()
  for (const [file, text] of staged) {
    const successor = successorIn(text)
    if (successor !== null) successors.set(file, successor)
  }
  const changes: SourcedChange[] = []
  const report: string[] = []
  const files = new Set([...world.memories.keys(), ...staged.keys()])
  const there = new Set([...world.there, ...files])
  for (const file of files) {
    const known = world.memories.get(file)
    const successor = successors.get(file)
    if (successor !== undefined && known !== undefined) {
      changes.push({
        file,
        text: null,
        expected: known.sha,
        by: sessionless('model', known.by.trust, now, [successor]),
      })
      report.push(`retired ${file}: ${successor} replaces it`)
      continue
    }
    const proposed = staged.get(file) ?? known?.text ?? ''
    const doubt = proposed === known?.text ? doubts.get(file) : doubtMoved(world, file, proposed)
    const text = doubted(fixed(world, file, proposed, successors, there, report), doubt)
    if (text === known?.text) continue
    if (typeof doubt === 'string') report.push(`doubtful ${file}: ${doubt}`)
    if (doubt === null) report.push(`no longer doubtful: ${file}`)
    if (proposed !== known?.text) report.push(known === undefined ? `made ${file}` : `changed ${file}`)
    const isMoved = proposed !== known?.text
    const by = isMoved || known === undefined ? provenanceOf(world, file, proposed, now) : known.by
    changes.push({ file, text, expected: known?.sha ?? null, by })
  }
  const why = lossRefusal(world, changes)
  if (why !== null) return { ok: false, why }
  return { ok: true, changes, report: [...report, ...refused.map((one) => `left out: ${one}`)] }
}

/** With its doubt, without one, or as it is. */
function doubted(text: string, doubt: string | null | undefined): string {
  if (doubt === undefined) return text
  return doubt === null ? withoutField(text, 'doubtful') : withFields(text, { doubtful: doubt })
}

/** What is made of something doubtful is doubtful. */
function doubtMoved(world: Snapshot, file: string, text: string): string | undefined {
  const parts = [...sourcesOf(world, file, text)].map((source) => world.memories.get(source)?.memory.doubtful)
  return parts.find((doubt) => doubt !== undefined)
}

/** The proposals that hold together; what one that fell out carried falls out too, until nothing changes any more. */
function accepted(world: Snapshot, proposals: Staged, refused: string[]): Staged {
  let staged = new Map(proposals)
  for (let before = -1; before !== staged.size;) {
    before = staged.size
    const next = new Map(staged)
    for (const [file, text] of staged) {
      const successor = successorIn(text)
      const why =
        successor === null
          ? proposalRefusal(world, staged, file, text)
          : successorRefusal(world, staged, file, successor)
      if (why === null) continue
      next.delete(file)
      refused.push(`${file}: ${why}`)
    }
    staged = next
  }
  return staged
}

/** Days for dates, and pointers to what stands. */
function fixed(
  world: Snapshot,
  file: string,
  text: string,
  successors: ReadonlyMap<string, string>,
  files: ReadonlySet<string>,
  report: string[],
): string {
  const { head, body } = readMemoryText(text)
  const start = text.slice(0, text.length - body.length)
  const hasDays = !isRule(head)
  const code = codeLines(body)
  const lines = body.split('\n').map((line, i) => {
    const pointed = pointing(line, file, successors, files)
    if (pointed !== line) report.push(`fixed a reference in ${file}`)
    const dated = hasDays && !code.has(i) ? datedLine(world, file, line) : null
    if (dated === null) return pointed
    report.push(`dated a line of ${file}: ${dated.trim()}`)
    return pointing(dated, file, successors, files)
  })
  const description = hasDays ? datedLine(world, file, head.description) : null
  return (description === null ? start : withFields(start, { description })) + lines.join('\n')
}

/** A pointer to a retired memory leads to its successor; one that leads nowhere keeps its words. */
function pointing(
  line: string,
  file: string,
  successors: ReadonlyMap<string, string>,
  files: ReadonlySet<string>,
): string {
  return line.replace(
    /\[([^\]\n]*)\]\(([^)\s:#]+\.md)\)/gu,
    (whole: string, words: string, target: string) => {
      const successor = lastSuccessor(target, successors)
      if (successor === target) return files.has(target) || target.includes('/') ? whole : words
      return successor === file ? words : `[${words}](${successor})`
    },
  )
}

function lastSuccessor(file: string, successors: ReadonlyMap<string, string>): string {
  let now = file
  for (let steps = successors.size; steps > 0; steps--) now = successors.get(now) ?? now
  return now
}

function lossRefusal(world: Snapshot, changes: readonly SourcedChange[]): string | null {
  const after = new Set<string>()
  const changed = new Map(changes.map((change) => [change.file, change.text]))
  let total = 0
  for (const [file, { text }] of world.memories) {
    const now = changed.has(file) ? changed.get(file)! : text
    total += linesOf(text).facts.length
    for (const sentence of now === null ? [] : plainSentencesOf(now)) after.add(sentence)
  }
  for (const { file, text } of changes)
    if (text !== null && !world.memories.has(file)) for (const one of plainSentencesOf(text)) after.add(one)
  let lost = 0
  for (const [file, { text }] of world.memories)
    for (const line of linesOf(text).facts) {
      const dated = datedLine(world, file, line)
      const now = dated === null ? null : plain(dated)
      const isThere = (one: string): boolean => after.has(one)
      const isKept =
        now === null
          ? lineSentences(line).every(isThere)
          : after.has(now) || lineSentences(now).every(isThere)
      if (!isKept) lost++
    }
  const most = Math.max(
    defaults.consolidation.lossLines,
    Math.floor(defaults.consolidation.lossShare * total),
  )
  return lost > most
    ? `${lost} of ${total} lines would be lost, more than ${most} at once; nothing was changed`
    : null
}

const lineSentences = (line: string): readonly string[] => plainSentencesOf(`---\n---\n${line}`)
