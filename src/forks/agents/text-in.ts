// A small text file that lies under a root, also through every link.
import { attempt, readAt, type FileSystem } from '../../disk/fs.ts'
import { openUnder } from '../../disk/under-root.ts'
import { defaults } from '../../settings/defaults.ts'

type ReadText =
  | { readonly ok: true; readonly text: string; readonly bytes: Uint8Array }
  | { readonly ok: false; readonly why: string }

export async function textIn(
  fs: FileSystem,
  root: string,
  name: string,
  most: number = defaults.agents.typeBytes,
): Promise<ReadText> {
  const opened = await openUnder(fs, root, name)
  if (!opened.ok) return no(opened.failure.message)
  const { file, stat } = opened
  const read = await attempt(`reading ${name}`, async () => ({ bytes: await readAt(file, 0, most + 1) }))
  const closed = await attempt(`closing ${name}`, async () => (await file.close(), {}))
  if (!read.ok || !closed.ok)
    return no(read.ok ? (closed as { failure: { message: string } }).failure.message : read.failure.message)
  if (read.bytes.byteLength > most) return no(`it has ${stat.bytes} bytes, and at most ${most} are read`)
  return { ok: true, text: read.bytes.toString('utf8'), bytes: read.bytes }
}

const no = (why: string) => ({ ok: false, why }) as const
