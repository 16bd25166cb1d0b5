// Our own search through files, for machines without ripgrep. JavaScript's matcher can take for ever on a bad pattern, so
// it runs on a thread of its own, which is ended when one file takes too long: nothing else waits meanwhile.
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { readAt, type FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'

export interface ScanOptions {
  readonly pattern: string
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly context: number
}
/** A line that is shown: matched, or standing beside a match. */
export interface ScanLine {
  readonly line: number
  readonly text: string
  readonly matched: boolean
}

export type Scan =
  | { readonly ok: true; readonly lines: readonly ScanLine[] }
  | { readonly ok: false; readonly why: string }
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
): { readonly ok: true; readonly scanner: Scanner } | { readonly ok: false; readonly why: string } {
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
  const file = await fs.open(path, 'read').catch(() => null)
  if (file === null) return null
  try {
    const stat = await file.stat()
    if (stat.kind !== 'file' || stat.bytes > defaults.tools.scanFileBytes) return null
    const bytes = await readAt(file, 0, stat.bytes)
    return bytes.subarray(0, probeBytes).includes(0) ? null : Buffer.from(bytes).toString()
  } finally {
    await file.close()
  }
}
