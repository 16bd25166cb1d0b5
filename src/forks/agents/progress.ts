// What a running agent is at, in three to five words: asked of the cheapest model from what the agent called
// last, without tools and outside of its conversation. A phrase that is vague, in the past, or names nothing it touched is dropped.
import { forOthers } from '../../disk/redact.ts'
import { price, type ModelTable } from '../../model/models.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Worker } from './worker.ts'

const system = 'You name what an agent is doing right now.'

/** Asks every so often as long as the agent runs. Gives back how to stop. */
export function startProgress(worker: Worker, modelId: string): () => void {
  let asked = ''
  let isAsking = false
  const timer = setInterval(() => {
    const calls = recentCalls(worker)
    if (isAsking || worker.isIdle || calls === '' || calls === asked) return
    asked = calls
    isAsking = true
    void askPhrase(worker, modelId, calls).finally(() => {
      isAsking = false
    })
  }, defaults.agents.progressMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** The session that started the agent pays; the phrase changes nobody's view. */
export async function askPhrase(worker: Worker, modelId: string, calls: string): Promise<void> {
  const { outcome, text } = await worker.parent.fork({
    purpose: 'progress',
    directive: `The agent works on: ${worker.about.label}\nIts newest calls, the last one at the end:\n${calls}\n\nSay what it is doing in 3 to 5 words, in the present tense, naming the file or function at hand, as in "Reading the parser tests". Only these words.`,
    apart: { system, conversation: [], modelId },
    maxOutputTokens: defaults.agents.progressTokens,
  })
  const phrase = outcome === 'done' ? phraseOf(text, calls) : null
  if (phrase !== null) worker.phrase = phrase
}

/** What it called last, as text. */
export function recentCalls({ events }: Pick<Worker, 'events'>): string {
  const { progressCalls, progressCallChars } = defaults.agents
  return events
    .flatMap((event) =>
      event.type === 'tool-start' ? [forOthers(`${event.name} ${JSON.stringify(event.input)}`)] : [],
    )
    .slice(-progressCalls)
    .map((line) => line.slice(0, progressCallChars).toWellFormed())
    .join('\n')
}

/** The phrase, or null when it says nothing. */
export function phraseOf(text: string, calls: string): string | null {
  const phrase = text
    .trim()
    .replace(/^["'“]|["'”.…]+$/gu, '')
    .trim()
  const words = phrase.split(/\s+/u)
  const { progressLeastWords, progressWords } = defaults.agents
  if (phrase.includes('\n') || words.length < progressLeastWords || words.length > progressWords) return null
  if (
    !/^\p{Lu}?\p{L}+ing$/u.test(words[0]!) ||
    /^(?:working|processing|continuing|thinking|doing|making)$/iu.test(words[0]!)
  )
    return null
  const touched = new Set(calls.toLowerCase().match(/[\p{L}\p{N}_]{3,}/gu))
  const named =
    phrase
      .toLowerCase()
      .match(/[\p{L}\p{N}_]{3,}/gu)
      ?.slice(1) ?? []
  return named.some((word) => touched.has(word)) ? phrase : null
}

/** The model of this provider whose prompt costs least; null where no price is known. */
export function cheapestModel(models: ModelTable, like: string): string | null {
  const provider = models.get(like)?.provider ?? 'anthropic'
  const priced = [...models.values()].flatMap((info) => {
    const cost = info.provider === provider ? price(info, sample) : null
    return cost === null ? [] : [{ id: info.id, dollars: cost.total }]
  })
  return priced.toSorted((a, b) => a.dollars - b.dollars)[0]?.id ?? null
}
const sample = { input: 1000, cacheRead: 0, cacheWrite: 0, output: 50 }
