// Which files the messages that stay still show, so that they are not given back a second time. A stub, a note that a
// file is unchanged and a result the server leaves out show nothing.
import type { Edit } from '../../transcript/fact.ts'
import type { Seq } from '../../transcript/ids.ts'
import { standsOn } from '../../projection/layers/survey.ts'
import type { Part } from '../../projection/view.ts'
import { deedOf, fileOf } from '../files.ts'

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
