// What a vendor's summary keeps alone and with the companion's block, at every recorded compaction, beside controls: nothing,
// as many of the last characters, rules alone. Needs are judged by the lab's own rule, rules by labels given by hand.
import { createHash } from 'node:crypto'
import { sentencesOf } from '../src/compaction/phrases.ts'
import { wantedAt, type Wanted } from '../src/lab/compactions/details.ts'
import { judgedBy } from '../src/lab/compactions/judge.ts'
import { recordedMoments, type CompactionMoment } from '../src/lab/compactions/moments.ts'
import type { RecordedTurn, Recording } from '../src/lab/recording.ts'
import { estimateText } from '../src/projection/tokens.ts'
import { defaults } from '../src/settings/defaults.ts'
import { fenced } from '../src/transcript/fence.ts'
import { blockAt, typedIn, workIn, type SoFar } from '../src/companion/audit.ts'
import type { TypedWords } from '../src/companion/block-input.ts'
import { shownIn, laterWork, noWork } from '../src/companion/reading.ts'
import { spansIn, type CompactedSpan } from '../src/companion/spans.ts'
import { rulesIn, sightOf } from '../src/companion/words.ts'

/** What stands behind a compaction, by how it came. */
export const measuredTexts = [
  'nothing',
  'vendor',
  'vendor + last characters',
  'vendor + rules alone',
  'vendor + companion',
] as const
export type MeasuredText = (typeof measuredTexts)[number]

/** Sums over compactions. */
export const noMeasure = {
  compactions: 0,
  messages: 0,
  messagesWhole: 0,
  rules: 0,
  rulesKept: 0,
  needs: 0,
  bare: 0,
  company: 0,
  useful: 0,
  /** Tokens that were added to the vendor's text. */
  added: 0,
  /** In equivalents of an input token: what carrying them costs up to the next compaction, and what was paid for all. */
  carrying: 0,
  paid: 0,
}
export type Measure = Readonly<typeof noMeasure>

export interface MeasuredMoment {
  readonly session: string
  readonly client: string
  /** From 1. */
  readonly number: number
  readonly texts: Readonly<Record<MeasuredText, Measure>>
  /** Needs that stand neither in the vendor's text nor in the block. */
  readonly missed: readonly string[]
}

/** The label of a sentence. */
export const labelOf = (sentence: string): string =>
  createHash('sha256').update(sentence.replaceAll(/\s+/g, ' ').trim()).digest('hex').slice(0, labelChars)
const labelChars = 16

/** Every compaction of a recording whose summary can be read. */
export function* measuredMoments(
  recording: Recording,
  labels: ReadonlySet<string>,
): Generator<MeasuredMoment> {
  const typed: TypedWords[] = []
  const spans = [...spansIn(recording)]
  const moments = recordedMoments(recording)
  let work = noWork
  for (const [index, moment] of moments.entries()) {
    typed.push(...typedIn(spans[index]!, typed.length))
    work = laterWork(work, workIn(spans[index]!, work))
    if (moment.vendor === null) continue
    const paid = paidAfter(recording.turns.slice(moment.turn + 1, moments[index + 1]?.turn))
    yield momentOf(
      recording,
      moment,
      spans[index]!,
      { typed: [...typed], work },
      { number: index + 1, labels, paid },
    )
  }
}

function momentOf(
  recording: Recording,
  moment: CompactionMoment,
  span: CompactedSpan,
  { typed, work }: SoFar,
  given: { readonly number: number; readonly labels: ReadonlySet<string>; readonly paid: Paid },
): MeasuredMoment {
  const { number, labels, paid } = given
  const wanted = wantedAt(moment)
  const vendor = moment.vendor!
  const head = { client: recording.client, folder: folderIn(span) }
  const block = blockAt(head, { typed, work }, number).text
  const rules = typed.flatMap(rulesIn).toReversed()
  const added: Readonly<Record<MeasuredText, string>> = {
    nothing: '',
    vendor: '',
    'vendor + last characters': shownIn(span.turns).slice(-block.length),
    'vendor + rules alone': rules.length === 0 ? '' : fenced('typed', {}, rules.join('\n')),
    'vendor + companion': block,
  }
  const measured = (text: MeasuredText): Measure => {
    const shown = text === 'nothing' ? '' : `${vendor}\n${added[text]}`
    return measureOf(shown, added[text], wanted, { typed, labels, paid })
  }
  const missed = judgedBy(`${vendor}\n${block}`, wanted.details).filter(({ company }) => !company)
  return {
    session: recording.name,
    client: recording.client.split(' ', 1)[0]!,
    number,
    texts: Object.fromEntries(measuredTexts.map((text) => [text, measured(text)])) as MeasuredMoment['texts'],
    missed: missed.map(({ detail }) => detail.atom),
  }
}

function measureOf(
  shown: string,
  added: string,
  wanted: Wanted,
  {
    typed,
    labels,
    paid,
  }: { readonly typed: readonly TypedWords[]; readonly labels: ReadonlySet<string>; readonly paid: Paid },
): Measure {
  const isShown = sightOf(shown)
  const judged = judgedBy(shown, wanted.details)
  const rules = typed.flatMap(({ text }) => sentencesOf(text)).filter((one) => labels.has(labelOf(one)))
  const tokens = added === '' ? 0 : estimateText(added)
  const { read, write5m } = defaults.lab.equivalents
  return {
    compactions: 1,
    messages: typed.length,
    messagesWhole: typed.filter(({ text }) => isShown(text)).length,
    rules: rules.length,
    rulesKept: rules.filter(isShown).length,
    needs: judged.length,
    bare: judged.filter(({ bare }) => bare).length,
    company: judged.filter(({ company }) => company).length,
    useful: judged.filter(({ useful }) => useful).length,
    added: tokens,
    carrying: paid.requests === 0 ? 0 : tokens * (write5m + read * (paid.requests - 1)),
    paid: paid.equivalents,
  }
}

interface Paid {
  readonly requests: number
  readonly equivalents: number
}

/** What the provider counted after a compaction, up to the next. */
function paidAfter(turns: readonly RecordedTurn[]): Paid {
  const { fresh, read, write5m, output } = defaults.lab.equivalents
  let [requests, equivalents] = [0, 0]
  for (const { usage } of turns) {
    if (usage === undefined) continue
    requests++
    equivalents +=
      fresh * usage.input + read * usage.cacheRead + write5m * usage.cacheWrite + output * usage.output
  }
  return { requests, equivalents }
}

/** The folder that most files at work lie below; a recording does not say where it was held. */
function folderIn({ turns }: CompactedSpan): string | null {
  const counts = new Map<string, number>()
  for (const { content } of turns)
    for (const { block } of content) {
      if (block.type !== 'tool_use' || !('input' in block)) continue
      for (const value of Object.values(block.input)) {
        const found = typeof value === 'string' ? /^\/(?:[^/\s]+\/){3,}/.exec(value)?.[0] : undefined
        if (found === undefined) continue
        const parts = found.split('/').slice(1, -1)
        for (let depth = 3; depth <= parts.length; depth++) {
          const folder = `/${parts.slice(0, depth).join('/')}`
          counts.set(folder, (counts.get(folder) ?? 0) + 1)
        }
      }
    }
  const all = Math.max(0, ...counts.values())
  const wide = [...counts].filter(([, count]) => count >= all * mostShare).map(([folder]) => folder)
  return wide.sort((a, b) => b.length - a.length)[0] ?? null
}
const mostShare = 0.8
