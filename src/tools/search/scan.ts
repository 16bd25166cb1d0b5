// Our own search through files, for machines without ripgrep. JavaScript's matcher can take for ever on a bad pattern, so
// it runs under a clock that can stop it in the middle; the pattern that needs it is given up for good.
import { join } from 'node:path'
import { createContext, Script } from 'node:vm'
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
  /** The lines of one file; none for what is not text. */
  scan(path: string): Promise<Scan>
}

const probeBytes = 8192
const callIt = new Script('search()')

export function createScanner(
  fs: FileSystem,
  root: string,
  options: ScanOptions,
): { readonly ok: true; readonly scanner: Scanner } | { readonly ok: false; readonly why: string } {
  let regex: RegExp
  try {
    regex = new RegExp(options.pattern, `gm${options.ignoreCase ? 'i' : ''}${options.multiline ? 's' : ''}`)
  } catch (error) {
    return { ok: false, why: (error as Error).message }
  }
  // One room for all files: making one takes longer than most searches.
  const room: { search: () => void } = { search: () => {} }
  const context = createContext(room)
  const timed = (work: () => void): boolean => {
    room.search = work
    try {
      callIt.runInContext(context, { timeout: defaults.tools.patternStallMs })
      return true
    } catch (error) {
      // The error is of the room's own kind, so only its code can be asked.
      if (typeof error === 'object' && error !== null && 'code' in error && error.code === timeoutCode)
        return false
      throw error
    }
  }
  return {
    ok: true,
    scanner: {
      async scan(path) {
        const text = await textOf(fs, join(root, path))
        if (text === null) return { ok: true, lines: [] }
        let matched: ReadonlySet<number> = new Set()
        const inTime = timed(() => {
          matched = matchedLines(regex, text, options.multiline)
        })
        return inTime
          ? { ok: true, lines: shownLines(text, matched, options.context) }
          : { ok: false, why: tooSlow }
      },
    },
  }
}

const timeoutCode = 'ERR_SCRIPT_EXECUTION_TIMEOUT'
const tooSlow = 'the pattern takes too long on these files; make it simpler'

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

function matchedLines(regex: RegExp, text: string, multiline: boolean): Set<number> {
  const found = new Set<number>()
  if (multiline) {
    let [line, from] = [0, 0]
    const goTo = (place: number) => {
      for (let at = text.indexOf('\n', from); at >= 0 && at < place; at = text.indexOf('\n', from)) {
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
    return found
  }
  for (const [at, line] of text.split(/\r?\n/).entries()) {
    regex.lastIndex = 0
    if (regex.test(line)) found.add(at)
  }
  return found
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
