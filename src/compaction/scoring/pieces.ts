// What is known of a piece of an older block (some neighbouring lines) that could stay word for word: what shows it, how much
// and how lately its file was worked on, and whether earlier changes lie in it. The score makes of it the chance that an edit
// will quote it before it is shown again.
import type { FileWork } from '../file-work.ts'

export interface PieceFacts {
  /** Answers that came after it. */
  readonly age: number
  readonly now: number
  /** Its block shows the text of a file. */
  readonly shows: boolean
  readonly role: 'call' | 'answer' | 'result'
  readonly isKept: boolean
  readonly file: FileWork | null
  /** Those that say something, without white space at their ends; asked for only where changes are known. */
  readonly lines: () => readonly string[]
  /** Lines of all its block. */
  readonly blockLines: number
  readonly tokens: number
  /** What the score expects of the names in it. */
  readonly need: number
}

/** In the order of the weights. */
export const pieceFeatures = [
  'always',
  'shows a file',
  'in a call',
  'in an answer',
  'kept before',
  'answers since',
  'has a file',
  'work on its file',
  'changes of its file',
  'answers since its file was worked on',
  'its file was changed',
  'answers since its file was changed',
  'its file was shown later',
  'lines of its block',
  'lines that changes have touched',
  'share of its lines that changes have touched',
  'names likely to be needed',
  'tokens',
  'answers so far',
  'shows a file that was changed',
  'in a call on a file that was changed lately',
  'shows a file, work on it',
  'shows a file, answers since it was worked on',
  'shows a file, answers since',
  'lines that changes have removed since',
  'share of its lines that changes have removed since',
] as const

const log = Math.log1p
const lately = 10

export function pieceValues(facts: PieceFacts): readonly number[] {
  const { age, now, shows, role, isKept, file, blockLines, tokens, need } = facts
  const touched =
    file === null || file.touched.size === 0
      ? 0
      : facts.lines().filter((line) => file.touched.has(line)).length
  const gone =
    file === null || file.gone.size === 0
      ? 0
      : facts.lines().filter((line) => (file.gone.get(line) ?? -1) >= now - age).length
  const shareOf = (count: number): number => (count === 0 ? 0 : count / facts.lines().length)
  const isShown = shows && role === 'result'
  const isChanged = file !== null && file.changes > 0
  return [
    1,
    isShown ? 1 : 0,
    role === 'call' ? 1 : 0,
    role === 'answer' ? 1 : 0,
    isKept ? 1 : 0,
    log(age),
    file === null ? 0 : 1,
    log(file?.work ?? 0),
    log(file?.changes ?? 0),
    file === null ? 0 : log(now - file.last),
    isChanged ? 1 : 0,
    isChanged ? log(now - file.lastChange) : 0,
    file !== null && file.lastShown > now - age ? 1 : 0,
    log(blockLines),
    log(touched),
    shareOf(touched),
    log(need),
    log(tokens),
    log(now),
    isShown && isChanged ? 1 : 0,
    role === 'call' && isChanged && now - file.lastChange <= lately ? 1 : 0,
    isShown ? log(file?.work ?? 0) : 0,
    isShown && file !== null ? log(now - file.last) : 0,
    isShown ? log(age) : 0,
    log(gone),
    shareOf(gone),
  ]
}
