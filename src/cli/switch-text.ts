// What going on with another model costs, in words: said before the next request is sent.
import type { SwitchPrice } from '../engine/limits/switch-price.ts'
import type { Session } from '../engine/session.ts'
import { leftBehindText } from '../wires/left-behind.ts'
import { safeLine } from './terminal/safe-text.ts'
import { dollars, short } from './terminal/tables.ts'

/** What the next request costs that the model before would have read from its cache, and what of the conversation stays behind. */
export function switchText({ tokens, cached, dollars: paid, stays, left }: SwitchPrice): string {
  if (tokens === 0) return ''
  const price = paid === null ? 'at a price that is not known' : `for about ${dollars(paid)}`
  const instead = stays === null ? '' : `; the model before would have read it for about ${dollars(stays)}`
  const behind = leftBehindText(left)
  const anew = cached === 0 ? 'anew, ' : `again, ${short(cached)} of it from the cache of earlier answers: `
  return `The next request sends the whole conversation ${anew}${short(tokens)} tokens ${price}${instead}.\n${behind === null ? '' : `${safeLine(behind)}\n`}`
}

/** Of a session that is gone on with: another model than the one that answered last, and its price; null where it is the same. */
export function switchNotice(session: Session): string | null {
  const price = session.switchPrice()
  if (price.tokens === 0 || price.from === null) return null
  return `the last answer is by ${safeLine(price.from)}, the model is now ${safeLine(session.modelId)}. ${switchText(price).trimEnd()}`
}
