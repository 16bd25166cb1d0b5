// What was said in recent sessions that sounds as if it should last and stands in no memory: looked for narrowly, by the words
// people use for such things, so that what extraction missed is not lost. A transcript does not say who typed it, a person or
// a script; so what comes of it is data, like a page of the diary.
import { rawSentencesOf } from '../../../memory/trust/sentences.ts'
import { plain } from '../../../memory/trust/lines.ts'
import { defaults } from '../../../settings/defaults.ts'
import { textIn } from '../../../transcript/content.ts'
import { isKnown } from '../../../transcript/fact.ts'
import type { SessionId } from '../../../transcript/ids.ts'
import type { Failure, Store } from '../../../transcript/store.ts'
import type { Snapshot } from './snapshot.ts'

/** Where the sentences of a session stand among the pages a consolidation may take lines from. */
export const sessionsFolder = 'sessions'
const pageOf = (session: string): string => `${sessionsFolder}/${session}`

const lasting =
  /\b(?:remember|from now on|in (?:the )?future|going forward|always|never|prefer|don't ever|stop \w+ing|we (?:use|decided|agreed|switched)|deadline|ab (?:jetzt|sofort)|künftig|immer|niemals|nie|merk dir|wir (?:nutzen|verwenden|haben beschlossen)|désormais|dorénavant|toujours|jamais|retiens|on utilise|siempre|nunca|jamás|recuerda|a partir de ahora|usamos)\b|记住|以后|今后|总是|始终|从不|永远|我们用|覚えて|今後|必ず|いつも|決して/iu

/** The world with a page for each session that has such sentences; of the conversations touched since a moment. */
export async function withMissed(
  store: Store,
  world: Snapshot,
  since: number,
): Promise<
  { readonly ok: true; readonly world: Snapshot } | { readonly ok: false; readonly failure: Failure }
> {
  const said = new Map(world.said)
  const texts = new Map(world.texts)
  let looked = 0
  for await (const item of store.list()) {
    if (!item.ok) return item
    if (item.modifiedAt <= since || looked >= defaults.consolidation.sessionsRead) break
    const sentences = (await lastingIn(store, item.session, since)).filter((one) => !said.has(plain(one)))
    if (sentences.length === 0) continue
    looked++
    const page = pageOf(item.session)
    texts.set(page, sentences.join('\n'))
    for (const sentence of sentences) said.set(plain(sentence), new Set([page]))
  }
  return { ok: true, world: { ...world, said, texts } }
}

/** Statements of a conversation since then; none of a fork, an agent or a question. */
async function lastingIn(store: Store, session: SessionId, since: number): Promise<readonly string[]> {
  const found: string[] = []
  for await (const item of store.read(session)) {
    if (item.kind === 'failed') return []
    if (item.kind === 'damage' || !isKnown(item.entry)) continue
    const { fact, at } = item.entry
    if (fact.type === 'session-start' && fact.purpose !== 'main') return []
    if (fact.type !== 'user-message' || at <= since) continue
    if (fact.origin !== 'typed' && fact.origin !== 'queued') continue
    for (const sentence of rawSentencesOf(textIn(fact.content)))
      if (
        sentence.length <= defaults.consolidation.sentenceChars &&
        lasting.test(sentence) &&
        !/[?？\n]/u.test(sentence) &&
        found.length < defaults.consolidation.sentencesRead
      )
        found.push(sentence)
  }
  return found
}
