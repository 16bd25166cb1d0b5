// What a compaction would do, in words: what goes, what stays, what is given back, what it costs, what the audit says.
import type { Audit } from '../../compaction/audit.ts'
import type { Compacted } from '../../engine/compacting/ask.ts'
import type { Session } from '../../engine/session.ts'
import { lookUp, ratesOf } from '../../model/models.ts'
import type { Preset } from '../../preset.ts'
import type { Part, View } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import { safeLine, safeText } from '../terminal/safe-text.ts'
import { dollars, percent, whole } from '../terminal/tables.ts'
import { textIn } from '../../transcript/content.ts'

export function describePreview(
  made: Compacted,
  session: Session,
  preset: Pick<Preset, 'models' | 'modelId'>,
): string {
  const { tokensBefore, tokensAfter, source, texts, audit, restored, restoredTokens } = made
  const view = session.view()
  const parts = [...view.messages].flatMap((message) => message.parts)
  const { span } = made
  const gone = span === null ? [] : parts.filter((part) => part.from >= span.from && part.to <= span.to)
  return [
    `${whole(tokensBefore)} tokens would become ${whole(tokensAfter)} (${source ?? 'large results cleared'})`,
    goes(gone, made, view),
    `stays   ${made.partsKept} parts as they are`,
    restored.length === 0
      ? ''
      : `back    ${whole(restoredTokens)} tokens are given back: ${restored.map((one) => safeLine(one)).join(', ')}`,
    cost(made, view, preset),
    audit === null ? '' : audited(audit),
    ...texts.map((text) => `\n${safeText(text)}`),
  ]
    .filter((line) => line !== '')
    .join('\n')
    .concat('\n')
}

function goes(gone: readonly Part[], { partsGone, span }: Compacted, view: View): string {
  if (span === null) return 'goes    only the middle of large results'
  const tokens = view.factor * gone.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, 0)
  const inputs = gone.filter(({ kind }) => kind === 'input')
  const largest = gone
    .filter(({ kind }) => kind === 'result')
    .toSorted((a, b) => b.estimate - a.estimate)
    .slice(0, defaults.cli.previewLines)
  return [
    `goes    ${partsGone} parts at ${span.from}-${span.to}, ${whole(Math.round(tokens))} tokens`,
    ...inputs.slice(-defaults.cli.previewLines).map((part) => `        ${part.from}  you: ${wordsOf(part)}`),
    ...largest.map(
      (part) =>
        `        ${part.from}  ${part.tool ?? 'result'}: ${whole(Math.round(view.factor * part.estimate))} tokens`,
    ),
  ].join('\n')
}

const wordsOf = (part: Part): string => {
  const text = textIn(part.blocks, ' ')
  return safeLine(text.slice(0, defaults.cli.firstWordsChars))
}

/** What stands before the span is read as ever, the rest written once; afterwards each request reads less. */
function cost(
  { tokensBefore, tokensAfter, span }: Compacted,
  view: View,
  { models, modelId }: Pick<Preset, 'models' | 'modelId'>,
): string {
  const info = lookUp(models, modelId)
  const rates = info === null ? null : ratesOf(info, tokensBefore)
  if (rates === null) return ''
  const stays = [...view.messages]
    .flatMap((message) => message.parts)
    .filter((part) => part.to < (span?.from ?? 0))
  const head = stays.reduce((sum, part) => sum + part.estimate - part.clearedEstimate, view.fixedEstimate)
  const written = Math.max(0, tokensAfter - view.factor * head)
  const read = (tokensBefore - (tokensAfter - written)) * rates.read
  const once = (written * rates.write5m - read) / million
  const each = ((tokensBefore - tokensAfter) * rates.read) / million
  const first = once > 0 ? `${dollars(once)} more` : `${dollars(-once)} less`
  return `costs   the next request ${first} than with a warm cache, every later one ${dollars(each)} less`
}

const million = 1_000_000

function audited({ retention, lost, kinds }: Audit): string {
  const rows = Object.entries(kinds).filter(([, { found }]) => found > 0)
  return [
    `audit   ${percent(retention)} of what was looked for would still be in sight`,
    ...rows.map(([kind, { found, kept }]) => `        ${kind}: ${kept} of ${found}`),
    ...(lost.length === 0 ? [] : [`        lost: ${lost.map((one) => safeLine(one)).join(', ')}`]),
  ].join('\n')
}
