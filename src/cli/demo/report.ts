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
    ...layers.map(({ layer, edits, results, tokensFreed }) => [
      layer,
      String(edits),
      whole(tokensFreed),
      `${results} results replaced by a short text that says what was there; Expand gives them back`,
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

const promptOf = (sum: Sum): number => sum.fresh + sum.read + sum.written
