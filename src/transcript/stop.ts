// Why an answer ended, in words of ours: every wire has its own, and the raw one is kept beside.

/**
 * end: it was finished · length: no room for more output · tool: it waits for results · refusal, filter: the provider would
 * not go on · window: the window was full · paused: it goes on when asked · other: a word nobody knows, or none.
 */
export type StopKind = 'end' | 'length' | 'tool' | 'refusal' | 'filter' | 'window' | 'paused' | 'other'

const kinds: ReadonlyMap<string, StopKind> = new Map([
  ['end_turn', 'end'],
  ['stop_sequence', 'end'],
  ['max_tokens', 'length'],
  ['tool_use', 'tool'],
  ['refusal', 'refusal'],
  ['model_context_window_exceeded', 'window'],
  ['pause_turn', 'paused'],
])

/** What a word of the Messages API means; transcripts without `ended` have these words alone. */
export const stopKindOf = (word: string | null): StopKind => kinds.get(word ?? '') ?? 'other'

/** Why an answer ended: as its wire said, or by its word. */
export const endOf = ({
  stop,
  ended,
}: {
  readonly stop: string | null
  readonly ended?: StopKind | undefined
}): StopKind => ended ?? stopKindOf(stop)
