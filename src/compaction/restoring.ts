// What a compaction restores: who gets how much of the room below the target, the outline of a file by the look of its
// declarations, and which files the messages that stay already show.
import { estimateText } from '../projection/tokens.ts'
import { defaults } from '../settings/defaults.ts'
import type { Edit } from '../transcript/fact.ts'
import type { Seq } from '../transcript/ids.ts'
import { modeKind } from '../transcript/markers.ts'
import { standsOn } from '../projection/layers/survey.ts'
import type { Part } from '../projection/view.ts'
import { deedOf, fileOf } from './files.ts'

/** Words that open a declaration, with what may stand before them. */
const opening =
  /^(?:(?:export|default|declare|public|private|protected|internal|static|final|abstract|async|pub(?:\([^)]*\))?|unsafe|extern|inline|virtual|override|sealed|partial|open|data)\s+)*(?:function|func|fn|def|fun|sub|class|interface|type|enum|struct|trait|impl|protocol|extension|module|mod|namespace|package|object|record|union|typedef|message|service|rpc|const|let|var|val|macro_rules!|#define|template|create\s+(?:table|view|index|function)|resource|variable)\b/i
/** `name(…) {` and `Type name(…) {`: methods and functions without a word before them. */
const method =
  /^(?!(?:if|for|while|switch|catch|return|else|do|with|match|foreach|using|lock)\b)[\w$<>[\],.:*&~\s]*?[\w$]+\s*\([^;]*\)[^;=]*\{\s*$/
const heading = /^#{1,4}\s+\S/
/** `key:` at the margin, as in YAML. */
const key = /^[\w.-]+:\s*(?:$|[|>&{[])/
const decoration = /^(?:import|using|include|require|from|use)\b/
/** Deeper than this is the inside of something that has been named. */
const deepest = 4

/** Lines as Read shows them, with their numbers; null where nothing in it looks like a declaration. */
export function outlineOf(shown: string, tokens: number): string | null {
  const lines: string[] = []
  let left = tokens
  let more = 0
  for (const line of shown.split('\n')) {
    const [, number = '', text = line] = /^\s*(\d+)\t(.*)$/.exec(line) ?? []
    if (!declares(text)) continue
    const shownLine = `${number === '' ? '' : `${number}: `}${shortened(text.trim())}`
    left -= estimateText(shownLine) + 1
    if (left < 0) more++
    else lines.push(shownLine)
  }
  if (lines.length === 0) return null
  return more === 0 ? lines.join('\n') : `${lines.join('\n')}\n[${more} more]`
}

function declares(line: string): boolean {
  const text = line.trimStart()
  const depth = line.length - text.length
  if (text === '' || depth > deepest || decoration.test(text)) return false
  if (depth === 0 && (heading.test(text) || key.test(text))) return true
  // A local variable is no declaration of the file.
  if (depth > 0 && /^(?:const|let|var|val)\b/.test(text)) return false
  return opening.test(text) || method.test(text)
}

function shortened(text: string): string {
  const most = defaults.restoration.outlineLineChars
  const bare = text.replace(/\s*\{\s*$/, '')
  return bare.length <= most ? bare : `${bare.slice(0, most)}…`.toWellFormed()
}

// Who gets how much of what is left below the target. What stands (plan, mode, tasks) comes first and files
// shrink first; among equals everything shrinks in proportion.

/** What each of these sizes gets of so much room. */
export function sharesOf(wanted: readonly number[], room: number): readonly number[] {
  const whole = wanted.reduce((sum, tokens) => sum + tokens, 0)
  const left = Math.max(0, room)
  const share = whole <= left ? 1 : left / whole
  return wanted.map((tokens) => Math.floor(tokens * share))
}

/** The beginning of a text within so many estimated tokens, up to a line end; the whole text when it fits. */
export function headWithin(
  text: string,
  tokens: number,
  estimate: (text: string) => number,
): { readonly text: string; readonly linesLeft: number } {
  if (estimate(text) <= tokens) return { text, linesLeft: 0 }
  const lines = text.split('\n')
  let low = 0
  let high = lines.length
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (estimate(lines.slice(0, middle).join('\n')) <= tokens) low = middle
    else high = middle - 1
  }
  return { text: lines.slice(0, low).join('\n'), linesLeft: lines.length - low }
}

// Which files the messages that stay still show, so that they are not given back a second time. A stub, a note that a
// file is unchanged and a result the server leaves out show nothing.

/** What stands after a boundary in any case, as it is then: no line of it need be kept. */
export const isRestored = ({ attachment }: Part): boolean =>
  attachment !== undefined &&
  (attachment.restored || attachment.kind === 'plan' || attachment.kind === modeKind)

/** A skill that was used is restored as it is now: quoted as it was, it would be taken for that. */
export const isSkillText = (text: string): boolean => text.startsWith('<skill name="')

/** The attachment that holds a file read again; its source is the path. */
export const fileKind = 'file'

/** Paths as they were given to the calls, and of attachments. */
export function shownFiles(kept: readonly Part[], edits: readonly Edit[]): ReadonlySet<string> {
  const stubbed = new Set<Seq>(edits.flatMap((edit) => (edit.kind === 'stub' ? [edit.at.seq] : [])))
  const paths = new Set<string>()
  const reads = new Map<string, string>()
  for (const part of kept) {
    if (part.attachment?.kind === fileKind && part.attachment.source !== null && part.by === null)
      paths.add(part.attachment.source)
    for (const block of part.blocks) {
      if (block.type === 'tool_use' && 'name' in block) {
        const path = fileOf(block)
        const deed = deedOf(block)
        // What was written stands in the call itself.
        if (path !== null && deed === 'written') paths.add(path)
        if (path !== null && deed === 'read') reads.set(block.id, path)
      }
      if (block.type !== 'tool_result' || !('is_error' in block)) continue
      const path = reads.get(block.tool_use_id)
      const isWhole = part.by === null && !stubbed.has(part.from) && block.cleared === undefined
      if (path !== undefined && isWhole && !block.is_error && standsOn(block) === null) paths.add(path)
    }
  }
  return paths
}

/** Paths of files that are put away but of whose reads some lines stay word for word beside the summary. */
export function excerptedFiles(gone: readonly Part[], edits: readonly Edit[]): ReadonlySet<string> {
  const kept = new Set<Seq>(
    edits.flatMap((edit) => (edit.kind === 'summary' ? edit.keep.map(({ at }) => at.seq) : [])),
  )
  const reads = new Map<string, string>()
  const paths = new Set<string>()
  for (const part of gone)
    for (const block of part.blocks) {
      if (block.type === 'tool_use' && 'name' in block && deedOf(block) === 'read') {
        const path = fileOf(block)
        if (path !== null) reads.set(block.id, path)
      }
      if (block.type !== 'tool_result' || !('is_error' in block) || !kept.has(part.from)) continue
      const path = reads.get(block.tool_use_id)
      if (path !== undefined && !block.is_error) paths.add(path)
    }
  return paths
}
