// Write: puts a whole file in place, old bytes or new ones and never a part. A file that exists must have been read in
// this session and must not have changed since; its mode, byte order mark and kind of line ends stay.
import { holdsTag } from '../../disk/redact.ts'
import { defaults } from '../../settings/defaults.ts'
import { text as textField, toolWith, type InputOf } from '../input.ts'
import { failed, succeeded } from '../outcome.ts'
import type { Tool } from '../tool.ts'
import { fileChange } from './file-change.ts'
import type { PathGate } from './path-gate.ts'
import {
  byteOrderMark,
  endsWithReturns,
  holdsHalfCharacter,
  loadText,
  shownDoubt,
  withReturns,
  writeNoted,
} from './text-file.ts'

const fields = { file_path: textField('As for Read'), content: textField('') }

/** Writes a file. */
export function writeTool(gate: PathGate): Tool<InputOf<typeof fields>> {
  return toolWith(fields, {
    name: 'Write',
    description:
      'Create a file, or replace all of one you have read. Parent directories are created. To change part of a file use Edit.',
    policy: { readOnly: false, results: 'clear', maxResultChars: defaults.tools.maxResultChars },
    async run({ file_path: path, content }, env) {
      if (holdsHalfCharacter(content))
        return failed('`content` holds half of a character (a lone surrogate). Nothing was written.')
      const refused = await gate.writeRefusal(env.cwd, path)
      if (refused !== null) return failed(refused.message)
      const loaded = await loadText(gate, env.cwd, path)
      if (!loaded.ok && loaded.failure.code !== 'not-found') return failed(loaded.failure.message)
      const old = loaded.ok ? loaded : null
      const known = old === null ? undefined : env.readFiles.get(old.path)
      if (old !== null && known === undefined)
        return failed(`${path} exists and was not read in this session. Read it first.`)
      if (old !== null && known?.sha256 !== old.sha256)
        return failed(`${path} changed since it was read. Read it again.`)
      if (old !== null && holdsTag(content) && !holdsTag(old.text)) {
        return failed(
          `\`content\` holds a [secret:…] tag, which only marks what was hidden from you. Writing it would destroy the secret; use Edit around it.`,
        )
      }
      const target = old ?? (await gate.locate(env.cwd, path))
      if ('ok' in target && !target.ok) return failed(target.failure.message)
      const another = shownDoubt(env, target.path, old?.sha256 ?? null)
      if (another !== null) return failed(another)
      const text = inStyleOf(old?.text ?? null, content)
      const bytes = Buffer.from(text)
      if (bytes.length > defaults.tools.editFileBytes)
        return failed(
          `\`content\` has ${bytes.length} bytes; at most ${defaults.tools.editFileBytes} are written.`,
        )
      const was = { path: target.path, text: old?.text ?? null, mark: old?.stat.mark ?? null }
      const written = await writeNoted(gate, env, path, bytes, was)
      if (!written.ok) return failed(`${path} was not written: ${written.failure.message}`)
      const lines = content === '' ? 0 : content.split('\n').length - (content.endsWith('\n') ? 1 : 0)
      return {
        ...succeeded(
          `${old === null ? 'Created' : 'Replaced'} ${path} (${counted(lines, 'line')}, ${counted(bytes.length, 'byte')}).`,
        ),
        change: fileChange(path, old === null ? 'new' : 'overwrite', old?.text ?? null, text),
      }
    },
  })
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** The content with the byte order mark and the kind of line ends that the file has. */
export function inStyleOf(old: string | null, content: string): string {
  if (old === null) return content
  const ends = endsWithReturns(old) && !content.includes('\r') ? withReturns(content) : content
  return old.startsWith(byteOrderMark) && !ends.startsWith(byteOrderMark) ? byteOrderMark + ends : ends
}
