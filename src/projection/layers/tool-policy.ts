// What a layer knows of a tool: may its results be cleared, may they be written out. Tools themselves live higher up
// and come in as a function of the name; a tool nobody describes is judged by its name.
import { defaults } from '../../settings/defaults.ts'

/** The part of a tool's policy that layers look at; a tool's own policy fits. */
export interface ResultRule {
  /** `clear`: may go when it is old; `superseded`: only once newer work makes it old; the others stay. */
  readonly results: 'keep' | 'spill' | 'superseded' | 'clear' | 'never-clear'
  /** Largest result that enters the view whole. Null: the tool pages by itself and is never written out. */
  readonly maxResultChars: number | null
}

export type PolicyOf = (tool: string) => ResultRule | undefined

const clearable = new Set(defaults.clearing.tools)

/** A Read pages by itself: written out, it would be read again, and written out again. */
const byName = (tool: string): ResultRule => ({
  results: clearable.has(tool) ? 'clear' : 'keep',
  maxResultChars: tool === 'Read' ? null : defaults.results.maxChars,
})

export const ruleOf = (policyOf: PolicyOf | undefined, tool: string | undefined): ResultRule =>
  tool === undefined ? byName('') : (policyOf?.(tool) ?? byName(tool))
