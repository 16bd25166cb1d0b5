// Which files the calls worked on, lately more than long ago, and where in them. What was worked on will be; nothing here
// knows the future.
import { defaults } from '../settings/defaults.ts'
import type { Part, ViewBlock } from '../projection/view.ts'
import { callShape, leavesOf, showsFile } from './call-shape.ts'

/** What calls did to a file. */
export interface FileWork {
  /** Calls on it, changes more than reads, those of long ago less. */
  work: number
  changes: number
  /** Answers given when it was last worked on, last changed and last shown; -1 where it never was. */
  last: number
  lastChange: number
  lastShown: number
  /** Lines that changes took out or put in, without their white space. */
  readonly touched: Set<string>
}

export interface Usage {
  /** The file that this block shows or names on which calls have worked most; null where there is none. */
  fileOf(block: ViewBlock): FileWork | null
  /** The block shows the text of a file: what an edit will have to quote. */
  showsFile(block: ViewBlock): boolean
  /** The block shows a file that comes with the instructions anyway. */
  isInstructions(block: ViewBlock): boolean
  /** Answers that came after a part. */
  age(part: Part): number
  /** Answers so far. */
  readonly now: number
}

interface Worked {
  readonly files: readonly string[]
  readonly shows: boolean
  readonly changes: boolean
}

type Call = Extract<ViewBlock, { readonly type: 'tool_use'; readonly input: unknown }>

/** `earlier` are calls that an earlier boundary kept: they say what their results show, and use nothing any more. */
export function usageIn(parts: readonly Part[], earlier: readonly ViewBlock[]): Usage {
  const { fading, changeWeight } = defaults.excerpts
  const files = new Map<string, FileWork>()
  const calls = new Map<string, Worked>()
  const ages = new Map<Part, number>()
  const learn = (call: Call): Worked => {
    const shape = callShape(call)
    const own = {
      files: shape.files.map(nearestOf),
      shows: showsFile(shape),
      changes: shape.deed === 'edited' || shape.deed === 'written',
    }
    calls.set(call.id, own)
    return own
  }
  for (const call of earlier.filter(isCall)) learn(call)
  const now = parts.filter((part) => part.kind === 'answer').length
  let age = now
  for (const part of parts) {
    if (part.kind === 'answer') age--
    ages.set(part, age)
    const weight = Math.exp(-age / fading)
    for (const call of part.blocks.filter(isCall)) {
      const own = learn(call)
      for (const name of own.files) {
        const file = files.get(name) ?? newFile()
        files.set(name, file)
        file.work += weight * (own.changes ? changeWeight : 1)
        file.last = now - age
        if (own.shows) file.lastShown = now - age
        if (!own.changes) continue
        file.changes++
        file.lastChange = now - age
        for (const text of leavesOf(call.input)) if (text.length < mostTouched) touch(file, text)
      }
    }
  }
  const callOf = (block: ViewBlock) => {
    if (isCall(block)) return calls.get(block.id)
    return block.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined
  }
  return {
    now,
    fileOf: (block) => {
      const own = (callOf(block)?.files ?? []).flatMap((name) => files.get(name) ?? [])
      return own.reduce<FileWork | null>(
        (most, file) => (most === null || file.work > most.work ? file : most),
        null,
      )
    },
    showsFile: (block) => (isCall(block) ? callOf(block)?.changes : callOf(block)?.shows) === true,
    isInstructions: (block) =>
      callOf(block)?.files.some((file) => instructionFiles.has(file.slice(file.lastIndexOf('/') + 1))) ===
      true,
    age: (part) => ages.get(part) ?? 0,
  }
}

const newFile = (): FileWork => ({
  work: 0,
  changes: 0,
  last: -1,
  lastChange: -1,
  lastShown: -1,
  touched: new Set(),
})

/** A whole file that is written touches all of it and says nothing of where. */
const mostTouched = 4000
const leastLine = 4

function touch({ touched }: FileWork, text: string): void {
  if (!text.includes('\n') && text.length < 2 * leastLine) return
  for (const line of text.split('\n')) {
    const bare = line.replace(/^[-+ ]/, '').trim()
    if (bare.length >= leastLine) touched.add(bare)
  }
}

const instructionFiles: ReadonlySet<string> = new Set(defaults.restoration.instructionFiles)

const isCall = (block: ViewBlock): block is Call => block.type === 'tool_use' && 'input' in block

/** Each with its nearest folder: commands name them in many ways. */
const nearestOf = (path: string): string => path.split('/').slice(-2).join('/')
