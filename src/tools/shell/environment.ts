// The environment a command gets: the user's own without what opens doors. A variable goes by its name or because its
// value has the shape of a secret; `pass` names those that a command may have all the same. Nothing asks a question.
import { redact } from '../../disk/redact.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const secretName = /(?:^|_)(?:KEY|APIKEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|PAT|CREDENTIALS?|AUTH)$/i
const ours = /^(?:PALIMPSEST|ANTHROPIC|CLAUDE)_/i
/** Code that a shell would run before the command. */
const shellStart = new Set(['BASH_ENV', 'ENV', 'PROMPT_COMMAND', 'PS4'])
const calm: Environment = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
}

export function commandEnvironment(given: Environment, pass: readonly string[] = []): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...given, ...calm })) {
    if (value === undefined || shellStart.has(name)) continue
    const opensDoors = ours.test(name) || secretName.test(name) || redact(`${name}=${value}`).found.length > 0
    if (!opensDoors || pass.includes(name)) out[name] = value
  }
  return out
}
