// Our own list of files and our own search through them, for machines without ripgrep. JavaScript's matcher can take for ever on a bad pattern, so
// it runs on a thread of its own, which is ended when one file takes too long: nothing else waits meanwhile.
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { closing, readAt, type FileSystem, type OrWhy } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { compilePath } from './glob-pattern.ts'

interface ScanOptions {
  readonly pattern: string
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly context: number
}
/** A line that is shown: matched, or standing beside a match. */
interface ScanLine {
  readonly line: number
  readonly text: string
  readonly matched: boolean
}

export type Scan = OrWhy<{ readonly lines: readonly ScanLine[] }>
export interface Scanner {
  /** The lines of one file; none for what is not text, or when nobody waits any more. */
  scan(path: string, signal: AbortSignal): Promise<Scan>
  /** Ends the thread. */
  close(): Promise<void>
}

const probeBytes = 8192

export function createScanner(
  fs: FileSystem,
  root: string,
  options: ScanOptions,
): OrWhy<{ readonly scanner: Scanner }> {
  const { pattern, multiline } = options
  const flags = `gm${options.ignoreCase ? 'i' : ''}${multiline ? 's' : ''}`
  const wrong = faultOf(pattern, flags)
  if (wrong !== null) return { ok: false, why: wrong }
  let thread: Promise<Worker> | null = null
  const close = async (): Promise<void> => {
    const running = thread
    thread = null
    if (running !== null) await (await running).terminate()
  }
  return {
    ok: true,
    scanner: {
      close,
      async scan(path, signal) {
        const text = await textOf(fs, join(root, path))
        if (text === null) return { ok: true, lines: [] }
        thread ??= startThread({ pattern, flags, multiline })
        const matched = await answerOf(await thread, text, signal)
        if (matched === 'none') return { ok: true, lines: [] }
        if (matched === 'late') await close()
        return matched === 'late'
          ? { ok: false, why: tooSlow }
          : { ok: true, lines: shownLines(text, new Set(matched), options.context) }
      },
    },
  }
}

function faultOf(pattern: string, flags: string): string | null {
  try {
    return RegExp(pattern, flags) && null
  } catch (error) {
    return (error as Error).message
  }
}

const tooSlow = 'the pattern takes too long on these files; make it simpler'

function startThread(about: { pattern: string; flags: string; multiline: boolean }): Promise<Worker> {
  const worker = new Worker(matcher, { eval: true, workerData: about, env: {} })
  worker.unref()
  return new Promise((resolve, reject) => {
    worker.once('online', () => resolve(worker))
    worker.once('error', reject)
  })
}

/** The lines that match; `late` when it took too long, `none` when nobody waits any more. */
function answerOf(worker: Worker, text: string, signal: AbortSignal): Promise<number[] | 'late' | 'none'> {
  return new Promise((resolve) => {
    const end = (result: number[] | 'late' | 'none'): void => {
      clearTimeout(timer)
      worker.off('message', end)
      signal.removeEventListener('abort', onAbort)
      resolve(result)
    }
    const onAbort = (): void => end('none')
    const timer = setTimeout(() => end('late'), defaults.tools.patternStallMs)
    worker.once('message', end)
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    else worker.postMessage(text, [])
  })
}

/** Runs on the thread, which has no file of its own in the bundle. Lines are counted from 0. */
const matcher = `
const { parentPort, workerData } = require('node:worker_threads')
const { pattern, flags, multiline } = workerData
const regex = new RegExp(pattern, flags)
const singly = (text) => text.split(/\\r?\\n/).flatMap((line, at) => {
  regex.lastIndex = 0
  return regex.test(line) ? [at] : []
})
const across = (text) => {
  const found = new Set()
  let [line, from] = [0, 0]
  const goTo = (place) => {
    for (let at = text.indexOf('\\n', from); at >= 0 && at < place; at = text.indexOf('\\n', from)) {
      line++
      from = at + 1
    }
    return line
  }
  for (const match of text.matchAll(regex)) {
    const first = goTo(match.index)
    const last = goTo(match.index + Math.max(0, match[0].length - 1))
    for (let one = first; one <= last; one++) found.add(one)
  }
  return [...found]
}
parentPort.on('message', (text) => parentPort.postMessage(multiline ? across(text) : singly(text)))
`

function shownLines(text: string, matched: ReadonlySet<number>, context: number): ScanLine[] {
  if (matched.size === 0) return []
  const shown: ScanLine[] = []
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    const near = Array.from({ length: 2 * context + 1 }, (_, step) => at - context + step)
    if (near.some((one) => matched.has(one)))
      shown.push({ line: at + 1, text: line, matched: matched.has(at) })
  }
  return shown
}

async function textOf(fs: FileSystem, path: string): Promise<string | null> {
  const bytes = await bytesOf(fs, path, defaults.tools.scanFileBytes)
  return bytes === null || bytes.subarray(0, probeBytes).includes(0) ? null : bytes.toString()
}

/** Null for what is no file, or a larger one. */
async function bytesOf(fs: FileSystem, path: string, most: number): Promise<Buffer | null> {
  const file = await fs.open(path, 'read').catch(() => null)
  if (file === null) return null
  return await closing(file, async () => {
    const stat = await file.stat()
    if (stat.kind !== 'file' || stat.bytes > most) return null
    return Buffer.from(await readAt(file, 0, stat.bytes))
  })
}

// ---- files, folder by folder in the order of names, without what ignore files leave out, without `.git`, and never through a link ----

interface IgnoreRule {
  /** The folder whose ignore file says it, relative to the root, `''` or ending in a slash. */
  readonly base: string
  readonly matches: (path: string) => boolean
  readonly keep: boolean
  readonly foldersOnly: boolean
}

const ignoreNames = ['.gitignore', '.ignore', '.rgignore']
const ignoreFileBytes = 1024 * 1024

/** Paths relative to the root, with `/`. */
export async function* walkFiles(fs: FileSystem, root: string, signal: AbortSignal): AsyncGenerator<string> {
  let count = 0
  for await (const path of walkFolder(fs, root, '', [], signal)) {
    if (signal.aborted || ++count > defaults.tools.walkFiles) return
    yield path
  }
}

async function* walkFolder(
  fs: FileSystem,
  root: string,
  base: string,
  above: readonly IgnoreRule[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  const names = [...(await fs.names(join(root, base)).catch(() => []))].sort()
  const rules = [...above]
  for (const name of ignoreNames)
    if (names.includes(name)) rules.push(...(await rulesOf(fs, root, base, name)))
  for (const name of names) {
    if (signal.aborted) return
    if (name === '.git') continue
    const path = base + name
    // What vanished meanwhile, or cannot be looked at, is not there for us.
    const kind = (await fs.stat(join(root, path)).catch(() => null))?.kind
    // A name that is not UTF-8 leads nowhere; whoever lists files says so.
    if (
      (kind === 'file' || (kind === undefined && name.includes('\uFFFD'))) &&
      !isIgnored(rules, path, false)
    )
      yield path
    if (kind === 'folder' && !isIgnored(rules, path, true))
      yield* walkFolder(fs, root, `${path}/`, rules, signal)
  }
}

/** The last rule that speaks of a path decides. */
function isIgnored(rules: readonly IgnoreRule[], path: string, folder: boolean): boolean {
  const rule = rules.findLast(
    ({ base, matches, foldersOnly }) => (folder || !foldersOnly) && matches(path.slice(base.length)),
  )
  return rule !== undefined && !rule.keep
}

async function rulesOf(fs: FileSystem, root: string, base: string, name: string): Promise<IgnoreRule[]> {
  const bytes = await bytesOf(fs, join(root, base, name), ignoreFileBytes)
  return bytes === null ? [] : rulesIn(bytes.toString(), base)
}

/** The rules of an ignore file. Pure. */
function rulesIn(text: string, base: string): IgnoreRule[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const trimmed = line.replace(/(?<!\\)\s+$/, '')
    if (trimmed === '' || trimmed.startsWith('#')) return []
    const keep = trimmed.startsWith('!')
    const pattern = keep ? trimmed.slice(1) : trimmed
    if (pattern.length > defaults.tools.patternChars) return []
    return [{ base, matches: compilePath(pattern), keep, foldersOnly: pattern.endsWith('/') }]
  })
}
