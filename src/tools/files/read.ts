// Read: one page of a text file with line numbers, or an image. It pages by itself and is never written out, since reading
// what was written out would make a loop. Reading again what has not changed and still stands in the view gives
// a short stub instead. The file is streamed: memory depends on the page, not on the file.
import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import { failureOf, readAt, type OpenFile } from '../../disk/fs.ts'
import { blocksOf } from '../../disk/replace.ts'
import { estimateText } from '../../projection/tokens.ts'
import { defaults } from '../../settings/defaults.ts'
import { optional, text, whole, toolWith, type InputOf } from '../input.ts'
import { unchangedNote } from '../../transcript/markers.ts'
import { failed, headOf, interrupted, succeeded } from '../outcome.ts'
import type { Tool, ToolEnv, ToolOutcome } from '../tool.ts'
import type { PathGate } from './path-gate.ts'

const limits = defaults.tools
const blockBytes = 256 * 1024
/** Bytes that tell a picture or a binary file. */
const probeBytes = 8192

const fields = {
  file_path: text('Absolute, ~/, or relative to the working directory'),
  offset: optional(whole('First line, from 1', 1)),
  limit: optional(whole('', 1, limits.readPageLines)),
}
type ReadInput = InputOf<typeof fields>

/** Reads a file, a picture or a document. */
export function readTool(gate: PathGate): Tool<ReadInput> {
  return toolWith(fields, {
    name: 'Read',
    description: `Read a text file (numbered lines) or an image. Returns up to ${limits.readPageLines.toLocaleString('en-US')} lines; continue with \`offset\`. Prefer one large read. An unchanged file you can still see is not repeated.`,
    policy: { readOnly: true, results: 'clear', maxResultChars: null },
    async run(input, env, signal) {
      const opened = await gate.openToRead(env.cwd, input.file_path)
      if (!opened.ok) return failed(await whyNot(gate, env, input.file_path, opened.failure))
      try {
        return await show(input, env, signal, opened)
      } catch (error) {
        return failed(failureOf(error, `Reading ${input.file_path}`).message)
      } finally {
        await opened.file.close()
      }
    },
  })
}

interface Opened {
  readonly file: OpenFile
  readonly path: string
  readonly stat: { readonly bytes: number; readonly modifiedMs: number }
}

async function show(
  input: ReadInput,
  env: ToolEnv,
  signal: AbortSignal,
  { file, path, stat }: Opened,
): Promise<ToolOutcome> {
  if (stat.bytes > limits.readFileBytes) {
    return failed(
      `${input.file_path} has ${stat.bytes} bytes, more than Read reads. Use Grep, or Bash with sed -n.`,
    )
  }
  const probe = await readAt(file, 0, Math.min(stat.bytes, probeBytes))
  const media = imageType(probe)
  if (media !== null) return await image(input, file, stat.bytes, media)
  if (probe.includes(0))
    return failed(`${input.file_path} is a binary file (${stat.bytes} bytes); there is no text to show.`)
  const { offset = 1, limit = limits.readPageLines } = input
  const page = await readPage(file, offset, limit, signal)
  if (page === null) return interrupted()
  // A page behind the end shows nothing: whoever saw nothing of a file has not read it, and may not replace it.
  if (page.shown === 0 && page.lines > 0) return succeeded(render(page, offset))
  const part = page.shown === page.lines ? null : { offset, limit }
  const known = env.readFiles.get(path)
  const same =
    known !== undefined &&
    known.sha256 === page.sha256 &&
    known.part?.offset === part?.offset &&
    known.part?.limit === part?.limit
  // An edit leaves no call that shows the file.
  if (same && known.callId !== '' && env.isShown(known.callId))
    return succeeded(unchangedNote(input.file_path, known.callId))
  env.readFiles.set(path, {
    sha256: page.sha256,
    mtimeMs: stat.modifiedMs,
    bytes: stat.bytes,
    part,
    callId: env.callId,
  })
  return succeeded(render(page, offset))
}

interface Page {
  readonly text: readonly string[]
  readonly shown: number
  readonly lines: number
  readonly cut: number
  readonly sha256: string
}

/** One pass: the hash of everything, the number of lines, and the lines of the page. */
async function readPage(
  file: OpenFile,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<Page | null> {
  const hash = createHash('sha256')
  const text: string[] = []
  let [line, tokens, cut, full] = [1, 0, 0, false]
  let pieces: Uint8Array[] = []
  let lineBytes = 0
  let begun = false
  const keepBytes = limits.readLineChars * 4 + 4
  const wanted = () => line >= offset && text.length < limit && !full
  const endLine = () => {
    if (wanted()) {
      const whole = Buffer.concat(pieces)
        .toString('utf8')
        .replace(/\r$/, '')
        .replace(line === 1 ? /^\uFEFF/ : /^(?!)/, '')
      const short = headOf(whole, limits.readLineChars)
      const shown = `${line}\t${short.length < whole.length || lineBytes > keepBytes ? `${short}… [line cut]` : whole}`
      tokens += estimateText(shown) + 1
      // A page shows at least one line, however long it is.
      if (tokens > limits.readPageTokens && text.length > 0) full = true
      else {
        text.push(shown)
        if (shown.endsWith('… [line cut]')) cut++
      }
    }
    line++
    pieces = []
    lineBytes = 0
    begun = false
  }
  for await (const block of blocksOf(file, blockBytes)) {
    if (signal.aborted) return null
    hash.update(block)
    for (let at = 0; at < block.length;) {
      const end = block.indexOf(10, at)
      const stop = end < 0 ? block.length : end
      if (wanted() && lineBytes <= keepBytes)
        pieces.push(block.subarray(at, Math.min(stop, at + keepBytes + 1)))
      lineBytes += stop - at
      begun = true
      if (end >= 0) endLine()
      at = stop + 1
    }
  }
  if (begun) endLine()
  return { text, shown: text.length, lines: line - 1, cut, sha256: hash.digest('hex') }
}

function render(page: Page, offset: number): string {
  if (page.lines === 0) return '[the file is empty]'
  if (page.shown === 0) return `[the file has ${page.lines} lines; there is no line ${offset}]`
  const last = offset + page.shown - 1
  const rest = last < page.lines ? `; go on with offset ${last + 1}` : ''
  const note = page.shown === page.lines ? '' : `\n[lines ${offset} to ${last} of ${page.lines}${rest}]`
  return page.text.join('\n') + note
}

async function image(input: ReadInput, file: OpenFile, bytes: number, media: string): Promise<ToolOutcome> {
  if (bytes > limits.imageBytes) {
    return failed(
      `${input.file_path} is an image of ${bytes} bytes; images up to ${limits.imageBytes} bytes are shown. Make it smaller first.`,
    )
  }
  const data = Buffer.from(await readAt(file, 0, bytes)).toString('base64')
  return { content: [{ type: 'image', source: { type: 'base64', media_type: media, data } }], isError: false }
}

function imageType(head: Uint8Array): string | null {
  const begins = (...bytes: number[]) => bytes.every((byte, at) => head[at] === byte)
  const latin = (from: number, to: number) => Buffer.from(head.subarray(from, to)).toString('latin1')
  if (begins(0x89, 0x50, 0x4e, 0x47)) return 'image/png'
  if (begins(0xff, 0xd8, 0xff)) return 'image/jpeg'
  if (/^GIF8[79]a/.test(latin(0, 6))) return 'image/gif'
  return latin(0, 4) === 'RIFF' && latin(8, 12) === 'WEBP' ? 'image/webp' : null
}

async function whyNot(
  gate: PathGate,
  env: ToolEnv,
  path: string,
  failure: { readonly code: string; readonly message: string },
): Promise<string> {
  const located = await gate.locate(env.cwd, path)
  if (!located.ok) return located.failure.message
  const stat = await gate.fs.stat(located.path).catch(() => null)
  if (stat?.kind === 'folder') return `${path} is a folder. Use Glob to list files in it.`
  if (stat?.kind === 'other') return `${path} is a device, pipe or socket, not a file.`
  if (stat !== null) return failure.message
  const names = await gate.fs.names(dirname(located.path)).catch(() => [])
  const wanted = basename(path).toLowerCase()
  const stem = wanted.replace(/\.[^.]*$/, '')
  const close = names.filter(
    (name) => name.toLowerCase() === wanted || name.toLowerCase().replace(/\.[^.]*$/, '') === stem,
  )
  return `${path} was not found. ${close.length > 0 ? `In that folder there is: ${close.slice(0, 5).join(', ')}.` : 'Find it with Glob.'}`
}
