// When the user types: the words go into the ledger, redacted. The ledger is the only source of what is ever quoted, so what
// the client itself puts into a prompt (notices of tasks, outputs of commands) stays out of it.
import { quotable } from '../clean.ts'
import { withoutOwnText } from '../own-text.ts'
import { coldReturn, resumePrice } from './cold.ts'
import { readOn, remainder } from './compacting.ts'
import type { HookRun } from './hook-input.ts'
import type { HookOutput } from './output.ts'
import { textOf } from './shape.ts'
import { appendTyped, keepShrinkPending, noteSource, sweepStates } from './state.ts'

const mostPromptChars = 4 * 1024 * 1024
/** Clients wrap what they say themselves in a tag; a person rarely begins with one. */
const clientNotice = /^\s*<[a-z][\w-]*[\s>]/i
/** `/compact` and the like, with nothing behind it. */
const bareCommand = /^\s*\/[\w:-]+\s*$/

/** The words as they may be kept, or null where nobody typed them or they are a command for the client. */
export function typedWords(prompt: string): string | null {
  const own = withoutOwnText(prompt)
  if (own.trim() === '' || clientNotice.test(own) || bareCommand.test(own)) return null
  const text = quotable(own).trim()
  return text === '' ? null : text
}

export function afterPrompt(run: HookRun): HookOutput {
  const { state, input, client, now } = run
  noteSource(state, input.transcript)
  const prompt = textOf(input.fields['prompt'], mostPromptChars)
  const text = prompt === null ? null : typedWords(prompt)
  if (text !== null) appendTyped(state, text, now)
  if (client === 'codex') return {}
  keepShrinkPending(state.root, run.options.shrink)
  // A long file is read a bit at each prompt, so that little is left when it is compacted.
  readOn({ ...run, isLate: soon(run, scanMs) })
  const message = coldReturn(run)
  return { ...remainder(run), ...(message === null ? {} : { message }) }
}

const scanMs = 50

function soon({ isLate }: HookRun, ms: number): () => boolean {
  const until = performance.now() + ms
  return () => isLate() || performance.now() > until
}

/** A session begins or is taken up again: old states go, and the price of a cold start is told. */
export function afterStart(run: HookRun): HookOutput {
  sweepStates(run.state.root, run.now, run.isLate)
  if (run.input.fields['source'] !== 'resume' || run.client !== 'claude') return {}
  const message = resumePrice(run)
  return message === null ? {} : { message }
}
