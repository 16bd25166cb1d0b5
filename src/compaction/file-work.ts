// Which files the calls worked on, lately more than long ago, and where in them. What was worked on will be; nothing here
// knows the future.
import { defaults } from '../settings/defaults.ts'
import type { Fold } from '../projection/fold.ts'
import type { Part, ViewBlock } from '../projection/view.ts'
import type { Kept } from '../transcript/fact.ts'
import { callShape, isChange, leavesOf, showsFile } from './call-shape.ts'
import { listsTasks } from './task-list.ts'
import { countedIn, hiddenAnswers } from './scoring/counted.ts'
import { changedLines } from './changes.ts'
import { isCall, plainCall, type CallBlock } from './plain-call.ts'

/** What calls did to a file. */
export interface FileWork {
  /** Calls on it, changes more than reads, those of long ago less. */
  work: number
  changes: number
  /** Answers given when it was last worked on, last changed and last shown; -1 where it never was. */
  last: number
  lastChange: number
  lastShown: number
  /** Lines that changes removed or put in, without their white space. */
  readonly touched: Set<string>
  /** Lines that a change removed and none has put in since, with the answers given then. */
  readonly gone: Map<string, number>
}

/** A block of an entry. */
export interface Place {
  readonly part: Part
  readonly block: ViewBlock
  /** Its index in the entry. */
  readonly source: number
}

export interface Usage {
  /** The file that this block shows or names on which calls have worked most; null where there is none. */
  fileOf(block: ViewBlock): FileWork | null
  /** The block shows the text of a file: what an edit will have to quote. */
  showsFile(block: ViewBlock): boolean
  /** The block shows a file that comes with the instructions anyway. */
  isInstructions(block: ViewBlock): boolean
  /** The block is a list of tasks, or what came of one: an older one would be taken for the newest. */
  isTasks(block: ViewBlock): boolean
  /** Answers that came after an entry that is in sight, or that an earlier boundary kept in pieces. */
  ageOf(at: number): number
  /** The call with this id, also one that an earlier boundary kept. */
  callOf(id: string): Place | undefined
  /** Every file that calls worked on. */
  readonly files: ReadonlyMap<string, FileWork>
  /** Answers so far. */
  readonly now: number
}

interface Worked {
  readonly place: Place
  readonly files: readonly string[]
  readonly shows: boolean
  readonly changes: boolean
  readonly isTasks: boolean
}

interface InSight {
  readonly fold: Fold
  readonly parts: readonly Part[]
}

/** Calls that an earlier boundary kept say what their results show, and use nothing any more: what that boundary had counted counts on. */
export function usageIn({ fold, parts }: InSight): Usage {
  const counted = countedIn(fold, parts)
  const { fading, changeWeight, keptAge } = defaults.excerpts
  const files = new Map<string, FileWork>()
  const calls = new Map<string, Worked>()
  const ages = new Map<number, number>()
  const answers = parts.filter((part) => part.kind === 'answer')
  const upTo = counted?.upTo ?? -1
  const hidden = hiddenAnswers(counted, parts)
  const now = answers.length + hidden.all
  let age = now
  for (const [name, work = 0, changes = 0, last = -1, lastChange = -1, lastShown = -1] of counted?.files ??
    [])
    files.set(name, {
      work: work * Math.exp(-(now - counted!.answers) / fading),
      changes,
      last,
      lastChange,
      lastShown,
      touched: new Set(),
      gone: new Map(),
    })
  for (const part of parts) {
    age -= part.kind === 'answer' ? 1 : (hidden.by.get(part) ?? 0)
    ages.set(part.from, age)
    const isCounted = part.from <= upTo
    const weight = Math.exp(-age / fading)
    if (part.kind === 'edit')
      for (const { place } of keptIn(fold, part))
        if (isCall(place.block)) calls.set(place.block.id, workedBy(place.block, place))
    for (const [index, call] of part.blocks.entries()) {
      if (!isCall(call)) continue
      const own = workedBy(call, { part, block: call, source: part.source[index]! })
      calls.set(call.id, own)
      for (const name of own.files) {
        const file = files.get(name) ?? newFile()
        files.set(name, file)
        if (own.changes) {
          for (const text of leavesOf(call.input)) if (text.length < mostTouched) touch(file, text)
          const { out, into } = changedLines(call.input)
          for (const line of out) file.gone.set(line, now - age)
          for (const line of into) file.gone.delete(line)
        }
        if (isCounted) continue
        file.work += weight * (own.changes ? changeWeight : 1)
        file.last = now - age
        if (own.shows) file.lastShown = now - age
        if (!own.changes) continue
        file.changes++
        file.lastChange = now - age
      }
    }
  }
  // Where a text stands the first entry behind it does not.
  for (const [at, born = now] of counted?.kept ?? []) ages.set(at, now - born)
  const workOf = (block: ViewBlock) => {
    if (isCall(block)) return calls.get(block.id)
    return block.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined
  }
  return {
    now,
    fileOf: (block) => {
      const own = (workOf(block)?.files ?? []).flatMap((name) => files.get(name) ?? [])
      return own.reduce<FileWork | null>(
        (most, file) => (most === null || file.work > most.work ? file : most),
        null,
      )
    },
    showsFile: (block) => (isCall(block) ? workOf(block)?.changes : workOf(block)?.shows) === true,
    isInstructions: (block) =>
      workOf(block)?.files.some((file) => instructionFiles.has(file.slice(file.lastIndexOf('/') + 1))) ===
      true,
    isTasks: (block) => workOf(block)?.isTasks === true || listsTasksIn(block),
    ageOf: (at) => ages.get(at) ?? keptAge,
    callOf: (id) => calls.get(id)?.place,
    files,
  }
}

const listsTasksIn = (block: ViewBlock): boolean =>
  block.type === 'tool_result' &&
  'is_error' in block &&
  block.content.some((inner) => inner.type === 'text' && listsTasks(inner.text))

function workedBy(call: CallBlock, place: Place): Worked {
  const shape = callShape(plainCall(call))
  return {
    place,
    files: shape.files.map(nearestOf),
    shows: showsFile(shape),
    changes: isChange(shape),
    isTasks: shape.isTasks,
  }
}

/** What an earlier boundary kept in lines. */
export function keptIn(
  fold: Fold,
  { from }: Part,
): readonly { readonly place: Place; readonly lines: NonNullable<Kept['lines']> }[] {
  const top = fold.edits.topAt(from)
  if (top?.edit.kind !== 'summary') return []
  return top.edit.keep.flatMap(({ at, lines }) => {
    const part = lines === undefined ? undefined : fold.units.find(at.seq)
    const index = part?.source.indexOf(at.block ?? 0) ?? -1
    if (part === undefined || index < 0) return []
    return [{ place: { part, block: part.blocks[index]!, source: at.block ?? 0 }, lines: lines! }]
  })
}

const newFile = (): FileWork => ({
  work: 0,
  changes: 0,
  last: -1,
  lastChange: -1,
  lastShown: -1,
  touched: new Set(),
  gone: new Map(),
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

/** Each with its nearest folder: commands name them in many ways. */
const nearestOf = (path: string): string => path.split('/').slice(-2).join('/')
