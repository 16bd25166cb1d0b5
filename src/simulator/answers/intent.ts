// What the rule-based model wants to do, before a tool has been found for it.

export type Verb = 'read' | 'write' | 'edit' | 'run' | 'search' | 'list'

/** What a verb acts on; which of them are set depends on the verb. */
export interface Intent {
  readonly verb: Verb
  readonly path?: string | undefined
  readonly content?: string | undefined
  readonly old?: string | undefined
  readonly new?: string | undefined
  readonly command?: string | undefined
  readonly pattern?: string | undefined
}
