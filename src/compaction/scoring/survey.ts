// A span and what follows it, looked through once: every name with what is known of it, every line that could stay, and the
// subject (file, command, message) each belongs to. Flat: each block is read once, whatever came before.
import { redact } from '../../disk/redact.ts'
import { blockWords, isPinned } from '../../projection/folding/render.ts'
import { estimateText } from '../../projection/tokens.ts'
import type { Part, ViewBlock } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Counted } from '../../transcript/fact.ts'
import { callShape, isChange, isNumber, leavesOf, titleOf, type CallShape } from '../call-shape.ts'
import { isCall, pieceIn, plainCall, type CallBlock } from '../plain-call.ts'
import { isRestored, isSkillText } from '../restoring.ts'
import { errorLine, namesIn } from '../phrases.ts'
import type { Fold } from '../../projection/fold.ts'
import { parseSections, titledLines } from '../sections.ts'
import { bornAs, countedAt, countedIn, countsFrom, hiddenAnswers, type HiddenAnswers } from './counted.ts'
import { piecesOf, wordsIn, type Line, type LineRole, type ReadLines } from './lines.ts'
import { newCounts, type NameCounts } from './names.ts'

export interface Subject {
  readonly title: string
  /** Answers given when it was last worked on, and how often it was. */
  last: number
  work: number
}

export interface Survey {
  readonly names: readonly string[]
  /** The place of each among them. */
  readonly index: ReadonlyMap<string, number>
  readonly counts: readonly NameCounts[]
  readonly subjects: readonly Subject[]
  readonly lines: readonly Line[]
  /** Indexes of the names that each part shows. */
  readonly shown: readonly ReadonlySet<number>[]
  /** Indexes of the names in each line that was looked through. */
  readonly met: ReadonlyMap<string, readonly number[]>
  /** The lines of a block where they were looked through as they stand. */
  readonly read: ReadonlyMap<ViewBlock, ReadLines>
  /** Answers so far. */
  readonly now: number
  /** Words of the last answers, and of the newest input. */
  readonly recent: ReadonlySet<string>
  readonly asked: ReadonlySet<string>
}

interface SurveyContext {
  readonly fold: Fold
  readonly parts: readonly Part[]
}

/** Of a view longer than any window its newest part: what lies further back is the least likely to be needed. */
export function surveyOf(context: SurveyContext): Survey {
  const reader = new Reader(context)
  const first = newestFrom(context)
  for (const [index, part] of context.parts.entries()) reader.read(part, index, index >= first)
  return reader.survey()
}

function newestFrom({ parts }: SurveyContext): number {
  let tokens = 0
  for (let index = parts.length - 1; index >= 0; index--) {
    tokens += parts[index]!.estimate
    if (tokens > defaults.excerpts.mostTokens) return index + 1
  }
  return 0
}

interface Known {
  readonly shape: CallShape
  readonly subject: number
}

class Reader {
  readonly #context: SurveyContext
  readonly #index = new Map<string, number>()
  readonly #counts: NameCounts[] = []
  readonly #subjects: Subject[] = []
  readonly #byTitle = new Map<string, number>()
  readonly #lines: Line[] = []
  readonly #met = new Map<string, readonly number[]>()
  readonly #read = new Map<ViewBlock, ReadLines>()
  readonly #errors = new Map<string, boolean>()
  readonly #calls = new Map<string, Known>()
  readonly #shown: Set<number>[] = []
  readonly #answers: Part[] = []
  #part = -1
  /** An earlier boundary has counted what is read. */
  #isCounted = false
  readonly #total: number
  #asked = ''
  #now = 0
  /** What an earlier boundary had counted, and the answers that texts stand for. */
  readonly #counted: Counted | null
  readonly #hidden: HiddenAnswers

  constructor(context: SurveyContext) {
    this.#context = context
    const answers = context.parts.filter(({ kind }) => kind === 'answer')
    const counted = countedIn(context.fold, context.parts)
    this.#counted = counted
    this.#hidden = hiddenAnswers(counted, context.parts)
    this.#total = answers.length + this.#hidden.all
    if (counted === null) return
    for (const [title, last, work] of counted.subjects) {
      if (title !== '') this.#byTitle.set(title, this.#subjects.length)
      this.#subjects.push({ title, last, work })
    }
    for (const [name, ...counts] of counted.names) {
      this.#index.set(name, this.#counts.length)
      this.#counts.push(countsFrom(counts))
    }
  }

  read(part: Part, index: number, isLooked: boolean): void {
    this.#part = index
    this.#shown.push(new Set())
    this.#isCounted = this.#counted !== null && part.from <= this.#counted.upTo
    this.#now += this.#hidden.by.get(part) ?? 0
    if (part.kind === 'answer') {
      this.#now++
      this.#answers.push(part)
    }
    if (!isLooked) return
    if (part.kind === 'edit') return this.#readEdit(part)
    for (const [at, block] of part.blocks.entries()) {
      // Plan and mode are restored where they still hold, what a stub left is not what the entry holds, a made-up result holds nothing, and what is pinned stays in any case.
      const isPlain = part.by === null && part.source[at] !== -1 && !isRestored(part)
      const stays = isPinned(this.#context.fold.edits.pins, part.from, part.source[at]!, Infinity)
      this.#readBlock(part, block, isPlain && !stays)
    }
  }

  survey(): Survey {
    const { recentAnswers } = defaults.score
    return {
      names: [...this.#index.keys()],
      index: this.#index,
      counts: this.#counts,
      subjects: this.#subjects,
      lines: this.#lines,
      now: this.#now,
      recent: wordsIn(
        this.#answers
          .slice(-recentAnswers)
          .flatMap(({ blocks }) => blocks.map(blockWords))
          .join('\n'),
      ),
      asked: wordsIn(this.#asked.slice(0, mostAsked)),
      shown: this.#shown,
      met: this.#met,
      read: this.#read,
    }
  }

  #readBlock(part: Part, block: ViewBlock, isCandidate: boolean): void {
    const text = blockWords(block)
    if (text === '') return
    if (part.kind === 'input') {
      this.#asked = text
      // What a person said stays word for word beside the text.
      this.#note(text, { at: part.from, role: 'answer', subject: -1, isCandidate: false, count: 'typed' })
      return
    }
    if (isCall(block)) {
      const plain = plainCall(block)
      const [known, leaves] = [this.#known(plain), leavesOf(plain.input)]
      const lines = leaves.filter((leaf) => !isNumber(leaf)).join('\n')
      const count = isChange(known.shape) ? 'edits' : 'uses'
      this.#note(lines, { at: part.from, role: 'call', subject: known.subject, isCandidate, count })
      // A number is a use of what was seen elsewhere, and no sighting of its own.
      for (const name of new Set(leaves.filter(isNumber).flatMap((leaf) => [...namesIn(leaf)]))) {
        const index = this.#isCounted ? undefined : this.#index.get(name)
        if (index !== undefined) this.#count(index, count, known.subject)
      }
      return
    }
    const call = block.type === 'tool_result' ? this.#calls.get(block.tool_use_id) : undefined
    const role: LineRole = part.kind === 'answer' ? 'answer' : 'result'
    const subject = call?.subject ?? this.#subject(role === 'answer' ? saidTitle : injectedTitle)
    const read = this.#note(text, {
      at: part.from,
      role,
      subject,
      isCandidate: isCandidate && !isSkillText(text),
      count: role === 'answer' ? 'said' : 'seen',
    })
    if (read !== null) this.#read.set(block, read)
  }

  /** What an earlier boundary kept: the lines of its text under their subjects, and its excerpts. */
  #readEdit(part: Part): void {
    for (const [index, block] of part.blocks.entries()) {
      const text = blockWords(block)
      const sections = index === 0 ? parseSections(text) : null
      if (sections === null) {
        if (index > 0 && keptByOthers.test(text)) {
          const { at = part.from, words } = pieceIn(this.#context.fold, text)
          const subject = this.#subject(keptTitle)
          this.#note(words, { at, role: 'kept', subject, isCandidate: true, count: 'seen' })
        }
        continue
      }
      let next = 0
      const known = this.#linesOf(part, sections.details)
      for (const item of sections.details) {
        const { title, lines } = titledLines(item)
        const subject = this.#subject(title)
        for (const line of lines) {
          const born = bornAs(known?.[next++])
          const of = {
            at: part.from,
            role: 'kept',
            ...born,
            subject,
            isCandidate: true,
            count: 'seen',
          } as const
          this.#note(line, of)
        }
      }
    }
  }

  /** Where the lines of a text came from; null where they are not those that were written down. */
  #linesOf({ from }: Part, details: readonly string[]): Counted['lines'] | null {
    const lines = countedAt(this.#context.fold, from)?.lines
    const count = details.reduce((sum, item) => sum + titledLines(item).lines.length, 0)
    return lines?.length === count ? lines : null
  }

  #known(block: CallBlock): Known {
    const shape = callShape(block)
    const subject = this.#subject(titleOf(block, shape))
    const own = this.#subjects[subject]!
    const known = { shape, subject }
    this.#calls.set(block.id, known)
    if (this.#isCounted) return known
    own.last = this.#now
    own.work += isChange(shape) ? defaults.excerpts.changeWeight : 1
    return known
  }

  #subject(title: string): number {
    const known = this.#byTitle.get(title)
    if (known !== undefined) return known
    this.#byTitle.set(title, this.#subjects.length)
    return this.#subjects.push({ title, last: this.#now, work: 0 }) - 1
  }

  /** Null where the text was not looked through as it stands. */
  #note(
    text: string,
    of: {
      readonly at: number
      readonly role: LineRole
      /** Answers before it, where it is not read where it stood. */
      readonly born?: number | undefined
      readonly isError?: boolean | undefined
      readonly subject: number
      readonly isCandidate: boolean
      readonly count: 'uses' | 'edits' | 'said' | 'typed' | 'seen'
    },
  ): ReadLines | null {
    const inBlock = new Set<number>()
    const before = new Map<string, readonly number[]>()
    const all: (readonly number[])[] = []
    const age = this.#total - (of.born ?? this.#now)
    const plain = redact(text).text
    const lines = plain.split('\n')
    const pieces = piecesOf(lines)
    for (const line of pieces) {
      const known = before.get(line)
      const names = known ?? this.#namesOf(line)
      all.push(names)
      // What a block says twice it says once.
      if (known !== undefined) continue
      before.set(line, names)
      if (names.length === 0) continue
      const isError = of.isError ?? (of.role === 'result' && this.#isError(line))
      for (const name of names) {
        if (isError && !this.#isCounted) this.#counts[name]!.errors++
        if (inBlock.has(name)) continue
        inBlock.add(name)
        if (!this.#isCounted) this.#count(name, of.count, of.subject)
        this.#shown[this.#part]!.add(name)
      }
      if (!of.isCandidate) continue
      const tokens = estimateText(line) + 1
      this.#lines.push({
        text: line,
        at: of.at,
        part: this.#part,
        subject: of.subject,
        role: of.role,
        age,
        isError,
        names,
        tokens,
      })
    }
    return plain === text && pieces === lines ? { lines, names: all } : null
  }

  /** Files are read again and again: a line that was met before is not looked through twice. */
  #namesOf(line: string): readonly number[] {
    const known = this.#met.get(line)
    if (known !== undefined) return known
    const found: number[] = []
    for (const name of namesIn(line)) {
      let index = this.#index.get(name)
      if (index === undefined) {
        index = this.#counts.push(newCounts(this.#now)) - 1
        this.#index.set(name, index)
      }
      if (!found.includes(index)) found.push(index)
    }
    this.#met.set(line, found)
    return found
  }

  #isError(line: string): boolean {
    const known = this.#errors.get(line) ?? errorLine.test(line)
    this.#errors.set(line, known)
    return known
  }

  #count(name: number, kind: 'uses' | 'edits' | 'said' | 'typed' | 'seen', subject: number): void {
    const counts = this.#counts[name]!
    counts.last = this.#now
    counts.seen++
    if (kind === 'uses' || kind === 'edits') {
      counts.uses++
      counts.lastUse = this.#now
    }
    if (kind === 'edits') counts.edits++
    if (kind === 'said') counts.said++
    if (kind === 'typed') counts.typed++
    if (subject >= 0 && counts.subject !== subject) {
      counts.subjects++
      counts.subject = subject
    }
  }
}

const mostAsked = 8000
const keptByOthers = /^<kept [^>]*from="(?!user)/
const saidTitle = 'said'
const injectedTitle = 'attached'
const keptTitle = 'kept before'
