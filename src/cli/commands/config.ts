// What is kept of the user. `pal config`: the settings in force and who set each; one of them shown, set or unset in the
// user's own file. What takes effect later says so: the prompt and tools of a session are fixed when it begins.
// `pal login` and `pal logout`: an API key, kept and forgotten.
import { jsonIn, objectIn } from '../../transcript/json.ts'
import { basename, dirname, join } from 'node:path'
import { attempt, machineFileSystem, makeFolders } from '../../disk/fs.ts'
import { writeUnder } from '../../disk/under-root.ts'
import { settingsName } from '../../settings/load.ts'
import { ruleLists, type GivenRule, type RuleList } from '../../settings/rule-list.ts'
import { check, isKey, keys, type Key } from '../../settings/schema.ts'
import { providersOf } from '../../wires/providers.ts'
import { print, complain, exits, fail, type Exit } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { didYouMean } from '../terminal/suggest.ts'
import { table, wraps } from '../terminal/tables.ts'
import { credentialsFile, forgetKey, keepKey } from '../workplace/access.ts'
import { behindLink, readText } from '../workplace/files.ts'
import { ruleProblems } from '../workplace/rule-problems.ts'
import {
  homeOf,
  openWorkplace,
  showProblems,
  uniqueText,
  type ProjectFlags,
  type Workplace,
} from '../workplace/workplace.ts'
import type { CommandPrefix } from './undo.ts'

export interface ConfigFlags extends ProjectFlags {
  readonly unset?: boolean | undefined
}

export async function config(
  io: Io,
  key: string | undefined,
  value: string | undefined,
  flags: ConfigFlags,
): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  showProblems(place)
  return showConfig(place, key, value, flags)
}

export async function showConfig(
  place: Workplace,
  key: string | undefined,
  value: string | undefined,
  flags: ConfigFlags,
  prefix: CommandPrefix = 'pal ',
): Promise<Exit> {
  const { io } = place
  const wrong = wrongCall(key, value, flags, prefix)
  if (wrong !== null) return fail(io, exits.usage, wrong)
  if (key === undefined) return list(place, flags.json ?? false)
  if (!isKey(key))
    return fail(
      io,
      exits.usage,
      `unknown setting '${key}'.${didYouMean(key, Object.keys(keys))} ${prefix}config lists them all`,
    )
  if (value === undefined && flags.unset !== true) return one(place, key, flags.json ?? false)
  const given = value === undefined ? undefined : valueIn(value)
  const checked = given === undefined ? null : check(key, given)
  if (checked !== null && (!checked.ok || keys[key].onlyFlag?.includes(given) === true))
    return fail(io, exits.usage, `${key} must be ${keys[key].expected}`)
  const why = await write(place, key, given)
  if (why !== null) return fail(io, exits.failed, why)
  // Said now and not only at the next start: whoever writes a rule that names nothing believes that it holds.
  if (isGathered(key) && checked !== null)
    for (const problem of ruleProblems(rulesOf(key, given as readonly string[]), io.userHome))
      io.err(`pal: ${safeLine(problem)}\n`)
  const others = setBy(place, key).filter((scope) => scope !== 'user')
  return print(io, flags.json ?? false, { key, value: given ?? null, otherScopes: others }, () => {
    const theirs =
      others.length === 0
        ? ''
        : `; here the ${others.join(' and ')} settings ${isGathered(key) ? 'add to it' : 'override it'}`
    return `${key} is ${given === undefined ? 'unset' : JSON.stringify(given)} in your settings${theirs}. It takes effect at the next start\n`
  })
}

/** What cannot be meant together, or null. */
function wrongCall(
  key: string | undefined,
  value: string | undefined,
  { unset = false }: ConfigFlags,
  prefix: CommandPrefix,
): string | null {
  if (!unset) return null
  if (key === undefined)
    return `--unset needs a setting: ${prefix}config KEY --unset; ${prefix}config lists them all`
  return value === undefined
    ? null
    : '--unset takes no value, so nothing was changed; leave one of the two out'
}

const rulesOf = (list: RuleList, texts: readonly string[]): readonly GivenRule[] =>
  texts.map((text) => ({ list, text, source: 'user' }))

const isGathered = (key: Key): key is RuleList => ruleLists.some((one) => one === key)

/** One scope beats the others, but rules are gathered from all. */
function setBy({ loaded }: Workplace, key: Key): readonly string[] {
  const from = loaded.from.get(key)
  if (from === undefined) return []
  if (!isGathered(key)) return [from]
  return [...new Set(loaded.rules.filter((rule) => rule.list === key).map(({ source }) => source))]
}

function list(place: Workplace, json: boolean): Exit {
  const { io, loaded, settings } = place
  const set = [...loaded.from.keys()].map((key) => ({
    key,
    value: settings[key],
    from: setBy(place, key).join(', '),
  }))
  const unset = Object.keys(keys).filter((key) => isKey(key) && !loaded.from.has(key)) as readonly Key[]
  return print(io, json, set, () =>
    table(
      ['setting', wraps('value'), 'set by'],
      [
        ...set.map(({ key, value, from }) => [key, JSON.stringify(value), from]),
        ...unset.map((key) => [key, `(${keys[key].expected})`, 'default']),
      ],
      io.columns,
    ),
  )
}

function one(place: Workplace, key: Key, json: boolean): Exit {
  const { io, settings } = place
  const value = settings[key]
  const from = setBy(place, key).join(', ') || 'default'
  return print(io, json, { key, value: value ?? null, from, expected: keys[key].expected }, () =>
    value === undefined
      ? `${key} is not set, so the default applies; allowed: ${keys[key].expected}\n`
      : `${key} is ${JSON.stringify(value)} (${from}); allowed: ${keys[key].expected}\n`,
  )
}

/** As JSON where it is some, else as the words themselves. */
function valueIn(text: string): unknown {
  const value = jsonIn(text)
  if (value !== undefined) return value
  return text === 'on' ? true : text === 'off' ? false : text
}

const ownerOnly = 0o600
const ownerFolder = 0o700

/** Null when it was written, else why not. Everything else in the file stays. */
async function write({ home }: Workplace, key: Key, value: unknown): Promise<string | null> {
  const path = await behindLink(machineFileSystem, join(home, settingsName))
  const read = await readText(machineFileSystem, path)
  if (!read.ok) return `${path}: ${read.why}`
  const before = objectIn((read.text ?? '{}').replace(/^\uFEFF/, ''))
  if (before === null) return `${path} is not a JSON object; fix it first`
  const { [key]: _, ...rest } = before
  const after = value === undefined ? rest : { ...before, [key]: value }
  const bytes = new TextEncoder().encode(`${JSON.stringify(after, null, 2)}\n`)
  // The first thing a user does may be to set something: nothing has made the folder yet.
  const folder = await attempt(`making ${home}`, async () => ({
    done: await makeFolders(machineFileSystem, home, ownerFolder),
  }))
  if (!folder.ok) return folder.failure.message
  const written = await writeUnder(machineFileSystem, dirname(path), basename(path), bytes, {
    mode: ownerOnly,
    keepMode: true,
    makeFolders: ownerFolder,
    unique: uniqueText,
  })
  return written.ok ? null : written.failure.message
}

export async function login(io: Io, provider: string | null = null): Promise<Exit> {
  const name = provider === 'anthropic' ? null : provider
  if (name !== null) {
    const place = await openWorkplace(io, {})
    if (!place.ok) return complain(io, place)
    const known = ['anthropic', ...providersOf(place.settings.providers).keys()]
    if (!known.includes(name))
      return fail(
        io,
        exits.usage,
        `there is no provider ${name}; nothing was stored.${didYouMean(name, known)} There are: ${known.join(', ')}. One of your own stands in providers of your settings first`,
      )
  }
  const typed = io.inIsTerminal
    ? { ok: true as const, text: await io.secret(name === null ? 'API key: ' : `API key of ${name}: `) }
    : await io.piped()
  if (!typed.ok) return fail(io, exits.usage, typed.why)
  const key = (typed.text ?? '').trim()
  if (key === '' || /\s/.test(key))
    return fail(io, exits.usage, 'that is not a key: it must be one word. Nothing was stored')
  const home = homeOf(io)
  const kept = await keepKey(machineFileSystem, home, key, name, uniqueText)
  if (!kept.ok) return fail(io, exits.failed, `the key could not be stored: ${kept.failure.message}`)
  io.out(
    `The key is stored in ${credentialsFile(home)}, readable by you only. ${name === null ? 'pal logout' : `pal logout ${name}`} deletes it.\n`,
  )
  return exits.done
}

export async function logout(io: Io, provider: string | null = null): Promise<Exit> {
  const name = provider === 'anthropic' ? null : provider
  const forgotten = await forgetKey(machineFileSystem, homeOf(io), name, uniqueText)
  if (!forgotten.ok)
    return fail(io, exits.failed, `the key could not be removed: ${forgotten.failure.message}`)
  io.out(forgotten.had ? 'The key was deleted.\n' : 'No key was stored.\n')
  return exits.done
}
