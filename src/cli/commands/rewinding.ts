// Back to an earlier message: which there are, and what the files were then. A rewind is a fact and takes nothing away;
// files are given back only where asked, only those a tool of ours wrote, and only where nobody changed them since.
import { createHash } from 'node:crypto'
import { attempt, readAt, type FileSystem } from '../../disk/fs.ts'
import { removeIfThere, replaceFile } from '../../disk/replace.ts'
import type { Session } from '../../engine/session.ts'
import { defaults } from '../../settings/defaults.ts'
import { beforeImageIn, beforeImageName, type BeforeImage } from '../../tools/files/before-image.ts'
import { isKnown } from '../../transcript/fact.ts'
import { seq, type Seq } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import { textIn } from '../../transcript/content.ts'

export interface Earlier {
  /** The message, and the place a rewind goes back to: the one before it. */
  readonly at: Seq
  readonly to: Seq
  readonly words: string
}

/** What the user said, newest first, as far as it stands in the view. */
export function earlierInputs(session: Session): readonly Earlier[] {
  const inputs = [...session.view().messages].flatMap((message) =>
    message.parts.filter((part) => part.kind === 'input'),
  )
  return inputs.toReversed().map(({ from, blocks }) => ({
    at: from,
    to: seq(from - 1),
    words: textIn(blocks, ' '),
  }))
}

export interface GivenBack {
  readonly restored: readonly string[]
  /** With the reason. */
  readonly left: readonly string[]
}

/** Gives files back as they were at `to`. The newest change first, so that several to one file undo in turn. */
export async function giveFilesBack(
  fs: FileSystem,
  store: Store,
  session: Session,
  to: Seq,
  unique: () => string,
): Promise<GivenBack> {
  const restored = new Set<string>()
  const left: string[] = []
  const stopped = new Set<string>()
  for await (const { callId, file } of changesSince(store, session, to)) {
    const blob = await store.getBlob(session.id, beforeImageName(callId))
    const image = blob.ok ? beforeImageIn(blob.bytes) : null
    const path = image?.path ?? file
    if (stopped.has(path)) continue
    const why = image === null ? 'what it was before is not kept' : await putBack(fs, image, unique)
    if (why === null) restored.add(path)
    else {
      // An older state must not be put over one that could not be undone.
      stopped.add(path)
      left.push(`${path}: ${why}`)
    }
  }
  return { restored: [...restored], left }
}

async function* changesSince(
  store: Store,
  session: Session,
  to: Seq,
): AsyncGenerator<{ readonly callId: string; readonly file: string }> {
  const failed = new Set<string>()
  for await (const item of store.readBack(session.id)) {
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    if (item.entry.seq <= to) return
    const { fact } = item.entry
    if (fact.type === 'tool-result' && fact.isError) failed.add(fact.call)
    if (fact.type !== 'assistant-message') continue
    for (const block of fact.content.toReversed()) {
      if (block.type !== 'tool_use' || !('input' in block) || failed.has(block.id)) continue
      const file = block.input['file_path']
      if ((block.name === 'Edit' || block.name === 'Write') && typeof file === 'string')
        yield { callId: block.id, file }
    }
  }
}

/** Null when it was put back, else why not. */
async function putBack(fs: FileSystem, image: BeforeImage, unique: () => string): Promise<string | null> {
  const { path, before, after } = image
  const now = await attempt(`reading ${path}`, async () => {
    const file = await fs.open(path, 'read')
    try {
      const { bytes, mode } = await file.stat()
      if (bytes > defaults.tools.editFileBytes) return { hash: '', mode }
      return {
        hash: createHash('sha256')
          .update(await readAt(file, 0, bytes))
          .digest('hex'),
        mode,
      }
    } finally {
      await file.close()
    }
  })
  if (!now.ok) return now.failure.message
  if (now.hash !== after) return 'it was changed by somebody else since'
  if (before !== null) {
    const put = await replaceFile(fs, path, Buffer.from(before), { mode: now.mode, unique })
    return put.ok ? null : put.failure.message
  }
  const removed = await attempt(`removing ${path}`, async () => ({ was: await removeIfThere(fs, path) }))
  return removed.ok ? null : removed.failure.message
}
