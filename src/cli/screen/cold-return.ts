// The price of coming back: when the cache has run out since the last answer, the next request writes the
// whole context again. Said before it is paid.
import type { Session } from '../../engine/session.ts'
import { lookUp, ratesOf } from '../../model/models.ts'
import type { Preset } from '../../preset.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Settings } from '../../settings/schema.ts'
import { dollars, whole } from '../terminal/tables.ts'

/** Rates are for so many tokens. */
const million = 1_000_000

export function coldReturn(
  session: Session,
  preset: Pick<Preset, 'models' | 'modelId'>,
  lifetime: Settings['cacheLifetime'],
  now: number = Date.now(),
): string | null {
  if (lifetime === 'off') return null
  const view = session.view()
  const answers = [...view.messages].flatMap((message) =>
    message.parts.filter(({ kind }) => kind === 'answer'),
  )
  const last = answers.at(-1)
  const lives = defaults.request.cacheLifetimeMs[lifetime ?? '5m']
  if (last === undefined || now - last.at <= lives) return null
  const info = lookUp(preset.models, last.model ?? preset.modelId)
  const rates = info === null ? null : ratesOf(info, view.tokens)
  if (rates === null) return `the cache has run out: the next request sends ${whole(view.tokens)} tokens anew`
  const write = lifetime === '1h' ? rates.write1h : rates.write5m
  return (
    `the cache has run out: the next request writes ${whole(view.tokens)} tokens anew, about ${dollars((view.tokens * write) / million)} ` +
    `instead of ${dollars((view.tokens * rates.read) / million)}; /compact first makes it smaller`
  )
}
