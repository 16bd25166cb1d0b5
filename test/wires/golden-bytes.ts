// The bytes of requests over made-up and recorded sessions as one hash a session: whoever moves code of a wire must
// find the same ones after. The sessions come from a generator of their own, so that they stay when others learn more.
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { importFile, toEntries } from '../../src/lab/index.ts'
import { Fold } from '../../src/projection/fold.ts'
import { createComposer } from '../../src/wires/anthropic/compose.ts'
import type { ComposeParameters } from '../../src/request/compose.ts'
import { played, type Move } from '../../src/testing/arbitrary.ts'
import { countingIds, fixedClock } from '../../src/testing/builders.ts'
import type { UserBlock } from '../../src/transcript/content.ts'

export interface Frozen {
  /** Requests that were composed. */
  readonly requests: number
  readonly sha256: string
}

const models = ['claude-sonnet-4-6', 'claude-opus-5-5'] as const
const forms: readonly Omit<ComposeParameters, 'model' | 'bindsPrefix'>[] = [
  { maxTokens: 1000, lifetime: '5m' },
  { maxTokens: 64_000, lifetime: '1h', thinking: { type: 'adaptive' }, effort: 'high' },
  { maxTokens: 64_000, lifetime: null, thinking: { type: 'enabled', budget_tokens: 2000 } },
  {
    maxTokens: 1000,
    lifetime: '5m',
    betas: ['context-management-2025-06-27'],
    contextEdits: [{ type: 'clear_tool_uses_20250919', keep: { type: 'tool_uses', value: 3 } }],
  },
]

/** Composes at each call with one composer for each form and remembers everything that came out. */
function freezer() {
  const sum = createHash('sha256')
  const composers = [createComposer(), createComposer({ references: true, tag: (part) => `[#${part.from}]` })]
  let requests = 0
  return {
    look: (fold: Fold, turn: number): void => {
      const model = models[turn % models.length]!
      const form = forms[turn % forms.length]!
      const parameters = { ...form, model, bindsPrefix: model === models[1] }
      for (const composer of composers) {
        const outcome = composer.compose(fold.view(), parameters)
        if (!outcome.ok) {
          sum.update(outcome.why)
          continue
        }
        requests++
        const { body, betas, hash, lastBreakpoint, withoutThinking } = outcome.composed
        sum.update(JSON.stringify([body, betas, hash, lastBreakpoint, withoutThinking]))
      }
    },
    frozen: (): Frozen => ({ requests, sha256: sum.digest('hex') }),
  }
}

/** A small generator of numbers: the same on every machine and in every version. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const texts = [
  'fix the login',
  '',
  ' \n',
  '修复登录页面的错误',
  '🔥 emoji 👩‍👩‍👧',
  'cut \ud83d',
  'a\u2028b "quoted" \\d+',
  'line of output\n'.repeat(400),
]
const image: UserBlock = {
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
}
const edits = ['stub', 'drop', 'summarise', 'clear', 'pin', 'undo', 'release', 'rewind'] as const

function movesOf(seed: number): readonly Move[] {
  const pick = numbers(seed)
  const text = (): string => texts[pick(texts.length)]!
  const move = (): Move => {
    const kind = pick(20)
    if (kind < 4) {
      const words: UserBlock = { type: 'text', text: text() }
      return { move: 'say', content: pick(4) === 0 ? [image, words] : [words], injected: pick(6) === 0 }
    }
    if (kind < 10) {
      const said = Array.from({ length: pick(3) }, text)
      return {
        move: 'answer',
        texts: said,
        calls: pick(4),
        thinks: pick(2) === 0,
        cut: pick(10) === 0,
        usage: pick(2) === 0,
        model: models[pick(4) === 0 ? 1 : 0]!,
      }
    }
    if (kind < 16) return { move: 'result', text: text(), isError: pick(4) === 0, image: pick(4) === 0 }
    if (kind < 18) return { move: (['crash', 'attach', 'ask', 'end', 'instruct'] as const)[pick(5)]! }
    const asked = pick(2) === 0 ? 'user' : 'automatic'
    return { move: edits[pick(edits.length)]!, at: pick(1000), span: pick(20), asked }
  }
  return Array.from({ length: 10 + pick(80) }, move)
}

export function frozenMadeUp(seed: number): Frozen {
  const { look, frozen } = freezer()
  let turn = seed
  played(movesOf(seed), (fact, fold) => {
    look(fold, turn++)
    return fact
  })
  return frozen()
}

/** At places spread over each session; every request of each would take minutes. */
const looks = 12

export async function frozenRecorded(folder: string, file: string): Promise<Frozen> {
  const imported = await importFile(join(folder, file))
  if (!imported.ok) throw new Error(imported.failure.message)
  const { entries } = toEntries(imported.recording, { ids: countingIds(), clock: fixedClock() })
  const fold = new Fold()
  const { look, frozen } = freezer()
  for (const [index, entry] of entries.entries()) {
    fold.push(entry)
    if (index % Math.ceil(entries.length / looks) === 0 || index === entries.length - 1) look(fold, index)
  }
  return frozen()
}
