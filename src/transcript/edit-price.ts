// What an edit was expected to save and cost when it was made.

/** The numbers of a choice, as they are written down with it. */
export interface ClearingPrice {
  /** Why it was made; `unsent`: before it was ever sent, `asked`: the model wanted it, `boundary`: a text stands for it. */
  readonly kind: 'time' | 'cached' | 'economy' | 'pressure' | 'expired' | 'unsent' | 'asked' | 'boundary'
  readonly isWarm: boolean
  readonly freedTokens: number
  readonly tailTokens: number
  readonly expectedRequests: number
  readonly saves: number
  readonly costs: number
  readonly net: number
  readonly isWorth: boolean
}
/** What the server says it has left out by itself so far. */
export interface ServerReport {
  readonly kind?: undefined
  readonly toolUses: number
  readonly thinkingTurns: number
  readonly tokens: number
}
export type EditPrice = ClearingPrice | ServerReport
