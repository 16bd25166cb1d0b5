// The end of the demo: what each layer did, and what it came to.
import { bar, dollars, percent, table, whole } from '../terminal/tables.ts'
import type { Figures, Sum } from './figures.ts'

const barWidth = 30

export function reportOf(figures: Figures, windowTokens: number): string {
  const { sent, everythingCached, everythingUncached, layers, kept } = figures
  const prompt = sent.fresh + sent.read + sent.written
  const rows = [
    ...(kept.results === 0
      ? []
      : [
          [
            'result gate',
            String(kept.results),
            '–',
            `large results kept beside the session (${whole(kept.bytes)} bytes), a preview in the context`,
          ],
        ]),
    ...layers.map(({ layer, edits, replaced, tokensFreed }) => [
      layer,
      String(edits),
      whole(tokensFreed),
      (deeds[layer] ?? ((count) => `${count} edits of the view`))(replaced),
    ]),
  ]
  const done =
    rows.length === 0
      ? 'No layer had to act.\n'
      : table(
          [
            { title: 'layer' },
            { title: 'times', right: true },
            { title: 'tokens freed', right: true },
            { title: 'what it did' },
          ],
          rows,
        )
  const most = Math.max(sent.dollars, everythingCached.dollars, everythingUncached.dollars)
  const costs: readonly (readonly [string, Sum])[] = [
    ['this session', sent],
    ['everything, cached', everythingCached],
    ['everything, uncached', everythingUncached],
  ]
  const cost = table(
    [
      { title: '' },
      { title: 'requests', right: true },
      { title: 'prompt tokens', right: true },
      { title: 'from cache', right: true },
      { title: 'longest', right: true },
      { title: 'cost', right: true },
      { title: '' },
    ],
    costs.map(([name, sum]) => [
      name,
      String(sum.requests),
      whole(promptOf(sum)),
      percent(promptOf(sum) === 0 ? 0 : sum.read / promptOf(sum)),
      whole(sum.longest),
      dollars(sum.dollars),
      bar(most === 0 ? 0 : sum.dollars / most, barWidth),
    ]),
  )
  const saved = everythingUncached.dollars === 0 ? 0 : 1 - sent.dollars / everythingUncached.dollars
  const fits =
    everythingUncached.longest > windowTokens
      ? ` Sent whole, it would have passed the window of ${whole(windowTokens)} tokens.`
      : ''
  return `${done}
${cost}
${percent(sent.read / Math.max(1, prompt))} of the prompt came from the cache; ${percent(saved)} less than sending everything uncached.${fits}
The tokens are the simulator's own count, the prices those of the model it plays. The model is scripted: this shows the
mechanics, not how well a real model works.
`
}

/** What a layer did, in words; Expand gives back what it took. */
const deeds: Readonly<Record<string, (count: number) => string>> = {
  'tool-result-budget': (count) => `${count} results that came together kept beside the session`,
  snip: () => 'finished turns taken out at the word of the model',
  microcompact: (count) => `${count} old results replaced by a line that says what they were`,
  autocompact: () => 'the older part replaced by an account of it, your words kept',
}

const promptOf = (sum: Sum): number => sum.fresh + sum.read + sum.written
