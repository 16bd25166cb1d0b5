// `pal doctor`: looks at everything the program stands on, and says for each thing what was found and how to mend it.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { attempt, machineFileSystem, makeFolders } from '../../disk/fs.ts'
import { findProgram } from '../../disk/programs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { lookUp } from '../../model/models.ts'
import { modelOf, projectStore, sessionsFolder, tableOf } from '../../preset.ts'
import { namedIn, unknownOf } from '../../preset/model-choice.ts'
import { sandboxOf, withoutSandbox } from '../../preset/permission.ts'
import { defaults } from '../../settings/defaults.ts'
import { findRipgrep } from '../../tools/search/ripgrep.ts'
import { complain, exits, type Exit } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { prose, whole } from '../terminal/tables.ts'
import { openWorkplace, uniqueText, type ProjectFlags, type Workplace } from '../workplace/workplace.ts'
import { modelIn, wireIn } from '../../preset/reaching.ts'
import { providersOf, unreachable } from '../../wires/providers.ts'
import { bad, good, note, hardLinks, machineChecks, type Check } from './doctor-machine.ts'
import type { Model } from '../../model/model.ts'
import { promptTokens } from '../../model/usage.ts'
import { Fold } from '../../projection/fold.ts'
import { seq, uuid } from '../../transcript/ids.ts'
import type { Spoken } from '../../wires/wire.ts'

export interface AskingFlags extends ProjectFlags {
  /** Ask the model one tiny question. */
  readonly ask?: boolean | undefined
}

/** With a provider only that is asked, by one tiny request. */
export async function doctor(io: Io, provider: string | undefined, flags: AskingFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const checks =
    provider === undefined ? await allChecks(place, flags) : [await askedOf(place, provider, flags)]
  if (flags.json === true) io.out(`${safeJson(checks, 2)}\n`)
  else for (const check of checks) io.out(prose(asLines(check), io.columns))
  return checks.some(({ state }) => state === 'bad') ? exits.failed : exits.done
}

async function allChecks(place: Workplace, flags: AskingFlags): Promise<readonly Check[]> {
  return [
    nodeVersion(process.versions.node),
    ...(await machineChecks(place)),
    await writableStore(place),
    whoAnswers(place),
    knownModel(place),
    ...(flags.ask === true ? [await asked(place)] : []),
    await ripgrep(place),
    await git(place),
    await sandbox(place),
    ...settings(place),
    ...(await sessionHealth(place)),
  ]
}

const marks = { good: 'ok  ', note: 'note', bad: 'BAD ' } as const
const asLines = ({ what, state, found, fix }: Check): string =>
  `${marks[state]}  ${what}: ${safeLine(found)}\n${fix === null ? '' : `      → ${safeLine(fix)}\n`}`

function nodeVersion(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = defaults.cli.leastNode
  const isEnough = major > leastMajor || (major === leastMajor && minor >= leastMinor)
  return isEnough
    ? good('Node', version)
    : bad('Node', `${version} is too old`, `install Node ${leastMajor}.${leastMinor} or later`)
}

/** Writes a small file where sessions go and takes it away again. */
async function writableStore(place: Workplace): Promise<Check> {
  const folder = sessionsFolder(place.home, place.project)
  const probe = join(folder, `.pal-probe-${uniqueText()}`)
  const made = await attempt(`making ${folder}`, async () => ({
    done: await makeFolders(machineFileSystem, folder, ownerFolder),
  }))
  const options = { mode: ownerFile, unique: uniqueText }
  const written = made.ok ? await replaceFile(machineFileSystem, probe, new Uint8Array(1), options) : made
  const removed = written.ok
    ? await attempt(`removing ${probe}`, async () => ({ done: await machineFileSystem.unlink(probe) }))
    : written
  if (removed.ok) return (await hardLinks(folder)) ?? good('sessions', `can be written to ${folder}`)
  return bad(
    'sessions',
    removed.failure.message,
    `make ${place.home} writable, or set PALIMPSEST_HOME to a folder that is; --unsaved continues without saving`,
  )
}
const ownerFolder = 0o700
const ownerFile = 0o600

function whoAnswers({ access, accessFrom, accessMissing, settings }: Workplace): Check {
  if (accessMissing !== null) return bad('model access', accessMissing, 'docs/providers.md lists them')
  // Of another provider than Anthropic its address is said already.
  if (access !== null && namedIn(settings, modelOf(settings)).provider !== null)
    return good('model access', accessFrom)
  if (access === null)
    return note(
      'model access',
      'no key and no base URL: only --offline works',
      'set ANTHROPIC_API_KEY, or run pal login',
    )
  return good('model access', `${accessFrom}${access.baseUrl === undefined ? '' : `, at ${access.baseUrl}`}`)
}

function knownModel(place: Workplace): Check {
  const name = modelOf(place.settings)
  const info = lookUp(tableOf(place.settings), name)
  const unknown = unknownOf(place.settings)
  if (unknown !== null) return bad('model', unknown, 'docs/providers.md says how')
  if (info === null)
    return note(
      'model',
      `${name} is not in the table: its window is guessed and its price unknown`,
      'add it under "models" in the settings',
    )
  return good('model', `${name}, window ${whole(place.settings.window ?? info.window)} tokens`)
}

/** One tiny request, sent only when it is asked for: it costs a few tokens. */
async function asked(place: Workplace, id: string = modelOf(place.settings)): Promise<Check> {
  if (place.access === null) return bad('asking the model', 'nothing can be sent', 'set a key first')
  const reaching = { model: place.access, settings: place.settings }
  const outcome = await askOnce(modelIn(reaching)!, wireIn(reaching, tableOf(place.settings))(id))
  return outcome.ok
    ? good('asking the model', `${id} answered in ${outcome.ms} ms, ${outcome.tokens} tokens`)
    : bad('asking the model', `${id}: ${outcome.why}`, 'check key, address and name; docs/providers.md')
}

/** A provider by the model of the settings where that is one of its own, else by the cheapest one that is known. */
async function askedOf(place: Workplace, provider: string, { cwd }: AskingFlags): Promise<Check> {
  const { settings } = place
  const what = `asking ${provider}`
  const known = providersOf(settings.providers)
  if (provider !== anthropic && !known.has(provider))
    return bad(what, 'there is no such provider', `one of ${[anthropic, ...known.keys()].join(', ')}`)
  const nameOf = (id: string): string => namedIn(settings, id).provider?.name ?? anthropic
  const rows = [...tableOf(settings).values()].filter((row) => row.provider === provider)
  const cheapest = rows.toSorted((a, b) => (a.prices?.input ?? Infinity) - (b.prices?.input ?? Infinity))[0]
  const chosen = modelOf(settings)
  if (nameOf(chosen) === provider) return asked(place, chosen)
  if (cheapest === undefined)
    return bad(
      what,
      'no model of it is known here',
      `name one: PALIMPSEST_MODEL=${provider}/NAME pal doctor ${provider}`,
    )
  // Keys are looked for by the model that is asked.
  const model = provider === anthropic ? cheapest.id : `${provider}/${cheapest.id}`
  const own = await openWorkplace(place.io, { cwd, settings: { model } })
  if (!own.ok) return bad(what, own.message, 'docs/providers.md says how')
  const reached = known.get(provider)
  const why = reached === undefined ? null : unreachable(reached, own.access?.keys?.[provider])
  return why === null ? asked(own, model) : bad(what, why, 'docs/providers.md says how')
}
const anthropic = 'anthropic'

async function ripgrep({ io, project }: Workplace): Promise<Check> {
  const found = await findRipgrep(io.environment['PATH'], [project.root, project.cwd])
  return found === null
    ? note(
        'ripgrep',
        'not found; searches use the slower built-in one',
        'install ripgrep (rg), or npm install --include=optional for its package',
      )
    : good('ripgrep', found)
}

async function git(place: Workplace): Promise<Check> {
  const { root, cwd } = place.project
  const program = findProgram('git', place.io.environment['PATH'], [root, cwd])
  const version = await new Promise<string | null>((resolve) => {
    if (program === null) return resolve(null)
    execFile(program, ['--version'], { timeout: defaults.cli.probeMs }, (error, stdout) =>
      resolve(error === null ? stdout.trim() : null),
    )
  })
  return version === null
    ? note('git', 'not found', 'install git if you want the agent to use it')
    : good('git', version)
}

async function sandbox(place: Workplace): Promise<Check> {
  const { sandbox: mode = 'auto', sandboxNetwork: network = false } = place.settings
  const why = await sandboxOf(
    { ...place, environment: place.io.environment, userHome: place.io.userHome },
    machineFileSystem,
  ).state()
  if (why === null)
    return good('sandbox', `commands run inside it, ${network ? 'with' : 'without'} the network`)
  const way = process.platform === 'linux' ? 'install bubblewrap (bwrap)' : null
  if (mode === 'require')
    return bad(
      'sandbox',
      `no command runs: ${why}`,
      `${way === null ? '' : `${way}, or `}set sandbox to auto`,
    )
  return note(
    'sandbox',
    withoutSandbox(why),
    mode === 'off' ? 'set sandbox to auto' : (way ?? 'read each command before you allow it'),
  )
}

function settings(place: Workplace): readonly Check[] {
  const trust = place.trusted
    ? good('trust', `${place.project.root} is trusted`)
    : good('trust', `${place.project.root} is not trusted; nothing in it takes effect (pal trust --list)`)
  if (place.problems.length === 0) return [trust, good('settings', 'nothing wrong')]
  return [trust, ...place.problems.map((problem) => bad('settings', problem, 'fix it there'))]
}

/** Who holds a session, and whether the newest can be read to their ends. */
async function sessionHealth(place: Workplace): Promise<readonly Check[]> {
  const store = projectStore(place)
  const checks: Check[] = []
  let looked = 0
  for await (const info of store.list()) {
    if (!info.ok) {
      checks.push(bad('sessions', info.failure.message, 'inspect that folder'))
      continue
    }
    if (++looked > defaults.cli.probedSessions) break
    const { session } = info
    const owner = (await store.owners([session])).get(session)
    if (owner !== undefined)
      checks.push(
        note(
          `session ${session}`,
          `is open in ${owner.who} since ${new Date(owner.since).toISOString()}`,
          owner.freeAt === undefined
            ? 'close it there, or branch off with --fork-session'
            : `close it there, or branch off with --fork-session; that process cannot be seen from here, and if it is dead the session is free at ${new Date(owner.freeAt).toISOString()}`,
        ),
      )
    for await (const item of store.read(session)) {
      if (item.kind === 'damage')
        checks.push(
          bad(
            `session ${session}`,
            `${item.damage.where}: ${item.damage.what}`,
            'continue it: what is readable stays, and the loss is recorded',
          ),
        )
      if (item.kind === 'failed')
        checks.push(bad(`session ${session}`, item.failure.message, 'inspect its folder'))
    }
  }
  return checks.length === 0
    ? [good('newest sessions', `${Math.min(looked, defaults.cli.probedSessions)} read, nothing wrong`)]
    : checks
}

// One tiny request to a model, to see whether it answers: for `pal doctor --ask`.

type AskedOnce =
  | { readonly ok: true; readonly ms: number; readonly tokens: number }
  | { readonly ok: false; readonly why: string }

async function askOnce(model: Model, { wire, model: name, provider, quirks }: Spoken): Promise<AskedOnce> {
  const fold = new Fold()
  fold.push({
    v: 1,
    seq: seq(0),
    uuid: uuid('probe'),
    parent: null,
    at: 0,
    fact: { type: 'user-message', content: [{ type: 'text', text: 'Answer: ok' }], origin: 'program' },
  })
  const outcome = wire.createComposer({ quirks }).compose(fold.view(), {
    model: name,
    maxTokens: defaults.cli.probeTokens,
    bindsPrefix: false,
    lifetime: null,
  })
  if (!outcome.ok) return { ok: false, why: outcome.why }
  const { body, betas } = outcome.composed
  const request = { wire: wire.name, provider, model: name, body, betas, source: 'doctor' }
  const began = Date.now()
  for await (const event of model.stream(request, AbortSignal.timeout(defaults.cli.probeAnswerMs))) {
    if (event.type === 'failed') return { ok: false, why: event.failure.message }
    if (event.type === 'end') {
      const { usage } = event.message
      return { ok: true, ms: Date.now() - began, tokens: promptTokens(usage) + usage.output }
    }
  }
  return { ok: false, why: 'the stream ended without an answer' }
}
