// The port through which a person is asked. Whatever stands in a question came from a model: a surface shows it whole,
// never cut, with everything that cannot be seen written out.
import type { FileChange } from '../files/file-change.ts'
import type { RuleList } from '../../settings/rule-list.ts'

/** `local`: the project's own local settings; `user`: everywhere. */
export type KeepScope = 'user' | 'local'

export interface Question {
  readonly tool: string
  readonly callId: string
  /** What would happen, line by line: the command, the path and the change, the address. */
  readonly subject: string
  /** The change that Edit or Write would make in the file as it is now; left out where there is none to show. */
  readonly change?: FileChange | undefined
  /** Why the call cannot work as it is, or why its change is not shown. */
  readonly problem?: string | undefined
  /** Why it is asked. */
  readonly why: string
  /** The exact rules that an answer for longer would set; empty when only this once can be given. */
  readonly rules: readonly string[]
  /** Where rules can be kept; empty where nothing can be. */
  readonly scopes: readonly KeepScope[]
  /** The rules as they are kept for every project, where they differ: a path of the project is absolute there. */
  readonly everywhere?: readonly string[] | undefined
  /** Why an answer that a person may look for is not offered. */
  readonly note?: string | undefined
}

export type Answer =
  | { readonly kind: 'once' }
  /** Until the program ends. */
  | { readonly kind: 'session' }
  | { readonly kind: 'always'; readonly scope: KeepScope }
  | { readonly kind: 'no'; readonly words?: string | undefined }
  /** The call is not run and the turn ends: the model is not asked further. */
  | { readonly kind: 'interrupt' }

/** Must resolve when the signal aborts; its answer is then ignored. */
export type AskUser = (question: Question, signal: AbortSignal) => Promise<Answer>

export type KeepRules = (
  scope: KeepScope,
  list: RuleList,
  rules: readonly string[],
) => Promise<{ readonly ok: true } | { readonly ok: false; readonly why: string }>

/** What a call would do, in plain lines. */
export function subjectOf(
  tool: string,
  input: Readonly<Record<string, unknown>>,
  change?: FileChange,
): string {
  const text = (key: string): string => (typeof input[key] === 'string' ? input[key] : '')
  switch (tool) {
    case 'Bash':
      return text('command')
    case 'WebFetch':
      return text('url')
    case 'Write':
      return `${text('file_path')}${fate(change)}\n${text('content')}`
    case 'Edit':
      return `${text('file_path')}\n${marked('- ', text('old_string'))}\n${marked('+ ', text('new_string'))}`
    case 'Read':
      return text('file_path')
    default:
      return JSON.stringify(input, null, 2)
  }
}

const fate = (change: FileChange | undefined): string => {
  if (change === undefined || change.kind === 'edit') return ''
  return change.kind === 'new' ? ' (new file)' : ` (${overwritten(change)})`
}

/** What becomes of the lines a file had. */
export const overwritten = ({ linesBefore }: FileChange): string =>
  `overwrites ${linesBefore} ${linesBefore === 1 ? 'line' : 'lines'}`

const marked = (mark: string, text: string): string =>
  text
    .split('\n')
    .map((line) => `${mark}${line}`)
    .join('\n')
