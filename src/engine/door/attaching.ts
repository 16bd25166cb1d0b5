// What travels beside the words of the user: files they named, a mode, a plan. Attachments are no user input: a
// compaction does not keep them word for word, but what stands (plan, mode) is said again after it.
import type { Fact } from '../../transcript/fact.ts'
import type { Slice } from '../core.ts'
import { readFilesNow } from '../restoring/read-through.ts'

/** Files as Read shows them, ready to be written down, and those that cannot be read. They can be edited at once. */
export async function fileAttachments(
  core: Slice<'options' | 'readFiles' | 'view'>,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<{ readonly facts: readonly Fact[]; readonly unread: readonly string[] }> {
  const found = await readFilesNow(core, paths, signal)
  const facts = [...found].map(([path, { content, file }]): Fact => {
    if (file !== null) core.readFiles.set(path, { ...file, callId: '' })
    const [first, ...others] = content
    const text = first?.type === 'text' ? first.text.replaceAll('</named-file', '< /named-file') : ''
    const named = `<named-file path=${JSON.stringify(path)}>\nThe user named this file; it is shown as it is now.\n${text}\n</named-file>`
    return {
      type: 'attachment',
      kind: 'file',
      content: [{ type: 'text', text: named }, ...(first?.type === 'text' ? others : content)],
      source: path,
    }
  })
  return { facts, unread: paths.filter((path) => !found.has(path)) }
}
