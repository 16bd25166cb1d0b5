// What an agent that did not finish leaves: why it ended, and what it had said by then. It is read from its transcript,
// since a compaction may have put the earlier words out of its view.
import { defaults } from '../../settings/defaults.ts'
import { isKnown } from '../../transcript/fact.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Store } from '../../transcript/store.ts'
import type { Slice } from '../core.ts'

export const notFinished = (why: string): string => `[It did not finish: ${why.replace(/\.$/, '')}.]`

/** The newest of what it said, oldest first. What cannot be read any more is left out: the reason stands in any case. */
export const saidSoFar = ({ options, session }: Slice<'options' | 'session'>): Promise<string> =>
  saidIn(options.store, session)

export async function saidIn(store: Store, session: SessionId): Promise<string> {
  const said: string[] = []
  for await (const item of store.read(session)) {
    if (item.kind !== 'entry' || !isKnown(item.entry)) continue
    const { fact } = item.entry
    if (fact.type !== 'assistant-message') continue
    said.push(
      ...fact.content.flatMap((block) => (block.type === 'text' && 'text' in block ? [block.text] : [])),
    )
  }
  return said.join('\n').trim().slice(-defaults.agents.saidChars).toWellFormed()
}
