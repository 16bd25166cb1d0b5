// The environment a command gets: the user's own without what opens doors. A variable goes by its name or because its
// value has the shape of a secret. Nothing asks a question.
import { join } from 'node:path'
import { findProgram, pathOutside } from '../../disk/programs.ts'
import { redact } from '../../disk/redact.ts'

export type Environment = Readonly<Record<string, string | undefined>>

const secretName =
  /(?:^|_)(?:KEY|APIKEY|API_KEYS|(?:AUTH)?TOKEN|SECRET|SECRET_KEY_BASE|PASSWORD|PASSWD|PASS|SSHPASS|PASSPHRASE|PAT|CREDENTIALS?|CREDS|AUTH|AUTH_CONFIG|AUTHORIZATION|COOKIE)$|_PWD$/i
const ours = /^(?:PAL|PALIMPSEST|ANTHROPIC|CLAUDE)_/i
/** Secrets under names that do not end like one: what a database and a collector of telemetry are opened with. */
const opening = /^(?:PGPASSWORD|PGPASSFILE|PGSERVICEFILE|PGSSLKEY|OTEL_EXPORTER_OTLP_(?:\w+_)?HEADERS)$/i
/** Code that a shell would run before or instead of the command, and what changes how it reads one. */
const shellStart = /^(?:BASH_ENV|ENV|PROMPT_COMMAND|PS4|CDPATH|GLOBIGNORE|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/
const calm: Environment = {
  TERM: 'dumb',
  NO_COLOR: '1',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
  GIT_TERMINAL_PROMPT: '0',
  // A look must not write or start a program, and a folder that merely looks like a repository is none.
  GIT_OPTIONAL_LOCKS: '0',
  GIT_CONFIG_COUNT: '2',
  GIT_CONFIG_KEY_0: 'safe.bareRepository',
  GIT_CONFIG_VALUE_0: 'explicit',
  GIT_CONFIG_KEY_1: 'core.fsmonitor',
  GIT_CONFIG_VALUE_1: 'false',
}

export function commandEnvironment(given: Environment): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, value] of Object.entries({ ...given, ...calm })) {
    if (value === undefined || shellStart.test(name)) continue
    const isWithheld =
      ours.test(name) ||
      secretName.test(name) ||
      opening.test(name) ||
      redact(`${name}=${value}`).found.length > 0
    if (!isWithheld) out[name] = name === 'PATH' ? absolutePath(value) : value
  }
  return out
}

/** A folder relative to the project would let the project say what `ls` is. */
export const absolutePath = (value: string): string => pathOutside(value, [])

/** What a command needs to find its way, its language and its time. */
const neutral =
  /^(?:HOME|USER|LOGNAME|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TMP|TEMP|PWD|TERM|NO_COLOR|PAGER|SYSTEMROOT|SYSTEMDRIVE|WINDIR|COMSPEC|PATHEXT|USERPROFILE|APPDATA|LOCALAPPDATA|MSYSTEM)$/i
/** Where programs and what they are made of are looked for. */
const searched = /^(?:PATH|LD_LIBRARY_PATH|DYLD_LIBRARY_PATH)$/i

/**
 * For a command that runs unasked because it is read-only: a variable can make a harmless program start another one, and
 * a folder of the project in PATH can replace the program, so only what is known to do neither is there.
 */
export function readOnlyEnvironment(given: Environment, project: readonly string[]): Record<string, string> {
  const out: Record<string, string> = {}
  for (const [name, value] of Object.entries(commandEnvironment(given))) {
    if (searched.test(name)) out[name] = pathOutside(value, project)
    else if (neutral.test(name)) out[name] = value
  }
  const { HOME: home } = out
  return { ...out, ...quietNpm, ...(home === undefined ? {} : { NPM_CONFIG_CACHE: join(home, '.npm') }) }
}

/** The project's own `.npmrc` would say where npm writes its log and its times, and which registry it asks for a newer npm. */
const quietNpm = {
  NPM_CONFIG_LOGS_MAX: '0',
  NPM_CONFIG_TIMING: 'false',
  NPM_CONFIG_UPDATE_NOTIFIER: 'false',
}

/** Variables that make a read-only program start another one, or read its options from a file. */
const starting =
  /^(?:RIPGREP_CONFIG_PATH|GREP_OPTIONS|LESSOPEN|LESSCLOSE|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)$/

/**
 * For a command of which a rule allowed a part while the others are read-only: the environment of what was allowed, which
 * may need it, without what would make the others run a program of the project.
 */
export function mixedEnvironment(
  given: Record<string, string>,
  project: readonly string[],
  parts: readonly string[],
): Record<string, string> {
  const kept = Object.entries(given).filter(
    ([name, value]) =>
      !starting.test(name) && !(name === 'NODE_OPTIONS' && /require|import|loader/.test(value)),
  )
  const { PATH: path = '' } = given
  const isTaken = parts.some((word) => findProgram(word, path, []) !== findProgram(word, path, project))
  return { ...Object.fromEntries(kept), ...(isTaken ? { PATH: pathOutside(path, project) } : {}) }
}
