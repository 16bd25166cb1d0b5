// `pal companion install` shows what would be written into another agent's files, asks, writes, and notes what was there;
// `pal companion uninstall` puts that back.
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { hookClients, type HookClient } from '../../../companion/hook/options.ts'
import { withoutOurs } from '../../../companion/install/merge.ts'
import {
  planClaude,
  hookName,
  planCodex,
  planOpencode,
  type InstallPlace,
  type InstallPlan,
  type PlannedFile,
  type ReadText,
} from '../../../companion/install/plan.ts'
import {
  foldersAbove,
  recordOf,
  shaOfText,
  restoringOf,
  type InstallRecord,
  type Restoring,
} from '../../../companion/install/record.ts'
import { errorText, type Failure } from '../../../disk/failure.ts'
import { attempt } from '../../../disk/fs.ts'
import { print, complain, exits, refuse, fail, type Exit, type Refusal } from '../../exit-codes.ts'
import { agreesTo } from '../../terminal/agree.ts'
import type { Io } from '../../terminal/io.ts'
import { safeJson, safeLine, safeText } from '../../terminal/safe-text.ts'
import { prose } from '../../terminal/tables.ts'
import {
  bundledFiles,
  changedMeanwhile,
  installable,
  installPlace,
  recordIn,
  recordPath,
  textAt,
  titleOf,
  writeText,
  companionRoot,
  removeFolders,
  removeTemporary,
  removeText,
} from './place.ts'

export interface CompanionFlags {
  readonly dryRun?: boolean | undefined
  readonly yes?: boolean | undefined
  readonly json?: boolean | undefined
  /** Below a status line of the user's. */
  readonly statusLine?: boolean | undefined
}

export async function installCompanion(
  io: Io,
  name: string,
  version: string,
  flags: CompanionFlags,
): Promise<Exit> {
  const client = installable(name)
  if (typeof client !== 'string') return complain(io, client)
  const pal = process.argv[1]
  const bundled = await bundledFiles(pal)
  if (!('hook' in bundled)) return complain(io, bundled)
  const place = installPlace(io, bundled, pal)
  const earlier = await recordIn(place.root, client)
  if (earlier !== null && 'exit' in earlier) return complain(io, earlier)
  const plan = await planFor(client, place, version, earlier, flags.statusLine === true)
  if ('exit' in plan) return complain(io, plan)
  const changed = plan.files.filter(({ before, after }) => before !== after)
  const hook = join(place.root, hookName)
  const isOld = (await textAt(hook).catch(() => null)) !== bundled.hook
  const files = isOld
    ? [...changed, { path: hook, before: null, after: bundled.hook, isShared: false }]
    : changed
  const isDry = flags.dryRun === true
  if (flags.json !== true) io.out(planText(files, io))
  // Where everything is there but the record, that alone is written, so that it can be taken out.
  if (plan.files.length > 0 && (files.length > 0 || earlier === null) && !isDry) {
    const isAsked = files.length > 0 && flags.yes !== true
    const agreed = isAsked ? await agreesTo(io, `Write these ${files.length} files?`, 'changed') : null
    if (agreed !== null) return complain(io, agreed)
    const failed =
      (await othersChange(client, changed)) ??
      (await writePlan(client, version, place, plan, bundled.hook, earlier))
    if (failed !== null) return complain(io, failed)
  }
  const notes = [
    ...(files.length === 0 ? [`${titleOf(client)} has this companion already.`] : []),
    ...plan.notes,
  ]
  if (flags.json === true)
    io.out(
      `${safeJson({ client, installed: !isDry && plan.files.length > 0, files: files.map(({ path, before }) => ({ path, isNew: before === null })), notes }, 2)}\n`,
    )
  else {
    const end = isDry
      ? 'Nothing was changed; without --dry-run it is.'
      : `pal companion uninstall ${client} takes it out again.`
    io.out(
      prose(
        [...notes, ...(plan.files.length === 0 ? [] : [end])].map((note) => `${safeLine(note)}\n`).join(''),
        io.columns,
      ),
    )
  }
  return plan.files.length === 0 ? exits.failed : exits.done
}

/** Plans over what was there before an earlier install, so that a second one adds nothing twice. */
async function planFor(
  client: HookClient,
  place: InstallPlace,
  version: string,
  earlier: InstallRecord | null,
  statusBelow: boolean,
): Promise<InstallPlan | Refusal> {
  const known = new Map<string, string | null>()
  const read: ReadText = (path) => known.get(path) ?? null
  const make = (): InstallPlan =>
    client === 'claude'
      ? planClaude(place, version, read, statusBelow)
      : client === 'codex'
        ? planCodex(place, read)
        : planOpencode(place, read)
  // First with empty files, for their names.
  const named = make().files
  const paths = [...named, ...(earlier?.files ?? [])].map(({ path }) => path)
  try {
    for (const path of new Set(paths)) known.set(path, await textAt(path))
  } catch (error) {
    return refuse(exits.failed, `nothing was changed: ${(error as Error).message}`)
  }
  const now = new Map(known)
  // Whether or not a record is left of it: entries of ours are found by what they run.
  for (const { path, isShared } of named) if (isShared) known.set(path, stripped(path, now, place))
  const plan = make()
  return {
    ...plan,
    files: plan.files.map((file) => ({ ...file, before: now.get(file.path) ?? null })),
  }
}

/** What a shared file says without us. */
function stripped(path: string, now: ReadonlyMap<string, string | null>, place: InstallPlace): string | null {
  const text = now.get(path) ?? null
  return text === null ? null : (withoutOurs(text, join(place.root, hookName)) ?? text)
}

/** Null where every file is still as it was shown. */
async function othersChange(client: HookClient, shown: readonly PlannedFile[]): Promise<Refusal | null> {
  for (const { path, before } of shown)
    if ((await textAt(path).catch(errorText)) !== before)
      return changedMeanwhile(path, `pal companion install ${client}`)
  return null
}

async function writePlan(
  client: HookClient,
  version: string,
  place: InstallPlace,
  plan: InstallPlan,
  hook: string,
  earlier: InstallRecord | null,
): Promise<Refusal | null> {
  // What was there is kept before anything is changed, so that no stop on the way loses it.
  const path = recordPath(place.root, client)
  const folders = new Set<string>()
  for (const file of plan.files)
    for (const folder of foldersAbove(file.path)) if (!existsSync(folder)) folders.add(folder)
  const hookPath = join(place.root, hookName)
  const record = recordOf({ client, version, hookPath }, plan.files, [...folders], earlier)
  for (const [to, text] of [
    [path, `${JSON.stringify(record, null, 2)}\n`],
    [hookPath, hook],
    ...plan.files
      .filter(({ before, after }) => before !== after)
      .map(({ path: at, after }) => [at, after] as const),
  ] as const) {
    const written = await writeText(to, text)
    if (!written.ok)
      return refuse(
        exits.failed,
        to === path
          ? `nothing was changed: ${written.failure.message}`
          : `${written.failure.message}. The install is not complete: pal companion uninstall ${client} removes what was written`,
      )
  }
  return null
}

/** Each file as a diff; programs of ours, which nobody can read, by their hash. */
const planText = (files: readonly PlannedFile[], io: Io): string =>
  files.map((file) => `${headOf(file, io)}${isProgram(file) ? '' : patchOf(file)}`).join('\n')

const isProgram = ({ path, isShared }: PlannedFile): boolean => !isShared && /\.c?js$/.test(path)

function headOf(file: PlannedFile, { columns }: Io): string {
  const { path, before, after } = file
  const hash = isProgram(file) ? `, sha256 ${shaOfText(after)}` : ''
  const size = after.length.toLocaleString('en-US')
  return prose(
    `${before === null ? 'new' : 'changed'}: ${safeLine(path)}, ${size} characters${hash}\n`,
    columns,
  )
}

function patchOf({ path, before, after }: PlannedFile): string {
  const patch = createTwoFilesPatch(path, path, before ?? '', after, before === null ? 'none' : 'now', 'new')
  return safeText(patch.split('\n').slice(3).join('\n'), { reveal: true })
}

// ---- uninstall: every file is as it was before the install, byte for byte; what somebody changed since is named and not
// overwritten. What the companion kept of that agent's sessions goes too ----

export async function uninstallCompanion(io: Io, name: string, flags: CompanionFlags): Promise<Exit> {
  const client = installable(name)
  if (typeof client !== 'string') return complain(io, client)
  const root = companionRoot(io)
  const record = await recordIn(root, client)
  if (record !== null && 'exit' in record) return complain(io, record)
  if (record === null)
    return fail(
      io,
      exits.failed,
      `nothing was changed: there is no record of an install for ${titleOf(client)} in ${root}`,
    )
  const hook = join(root, hookName)
  const steps = await stepsOf(record, hook)
  const isDry = flags.dryRun === true
  if (flags.json !== true) io.out(steps.map((step) => `${safeLine(lineOf(step))}\n`).join(''))
  if (!isDry && flags.yes !== true) {
    const agreed = await agreesTo(io, `Take the companion out of ${titleOf(client)}?`, 'changed')
    if (agreed !== null) return complain(io, agreed)
    const now = await stepsOf(record, hook)
    const other = steps.find((step, at) => JSON.stringify(step) !== JSON.stringify(now[at]))
    if (other !== undefined)
      return complain(io, changedMeanwhile(other.path, `pal companion uninstall ${client}`))
  }
  const failed = isDry ? null : await restore(root, client, record, steps)
  if (failed !== null) return complain(io, failed)
  return print(io, flags.json, { client, removed: !isDry, files: steps.map(withoutText) }, () =>
    isDry
      ? 'Nothing was changed; without --dry-run it is.\n'
      : `The companion is out of ${titleOf(client)}.\n`,
  )
}

async function stepsOf(record: InstallRecord, hook: string): Promise<readonly Restoring[]> {
  const steps: Restoring[] = []
  for (const file of record.files)
    steps.push(
      await textAt(file.path).then(
        (now) => restoringOf(file, now, hook),
        // The others are put back all the same.
        (error: unknown) => ({ path: file.path, how: 'unread', why: `cannot be read (${errorText(error)})` }),
      ),
    )
  return steps
}

const withoutText = (step: Restoring): object => ({
  path: step.path,
  how: step.how === 'restore' ? (step.text === null ? 'deleted' : 'restored') : step.how,
  ...('why' in step ? { why: step.why } : {}),
})

function lineOf(step: Restoring): string {
  if (step.how === 'restore') return `${step.text === null ? 'delete ' : 'restore'} ${step.path}`
  return `${step.how === 'remove-ours' ? 'edit   ' : 'leave  '} ${step.path}: it ${step.why}`
}

async function restore(
  root: string,
  client: HookClient,
  record: InstallRecord,
  steps: readonly Restoring[],
): Promise<Refusal | null> {
  const again = ({ message }: Failure): Refusal =>
    refuse(exits.failed, `${message}. Run pal companion uninstall ${client} again`)
  for (const step of steps) {
    if (step.how === 'leave' || step.how === 'unread') continue
    const { path, text } = step
    const done = text === null ? await removeText(path) : await writeText(path, text)
    if (!done.ok) return again(done.failure)
  }
  const unread = steps.filter(({ how }) => how === 'unread')
  const others = hookClients.filter((other) => other !== client)
  const isLast = others.every((other) => !existsSync(recordPath(root, other)))
  const removed = await attempt(`removing files of the companion in ${root}`, async () => {
    for (const folder of new Set(record.files.map(({ path }) => dirname(path)))) await removeTemporary(folder)
    await removeFolders(record.folders)
    if (unread.length > 0) return {}
    const sessions = join(root, 'sessions')
    const all = existsSync(sessions) ? readdirSync(sessions) : []
    for (const one of all.filter((name) => name.startsWith(`${client}-`)))
      await rm(join(sessions, one), { recursive: true, force: true })
    if (isLast) {
      for (const leftover of ['pending', 'sessions', hookName, 'log.jsonl', 'log.jsonl.old'])
        await rm(join(root, leftover), { recursive: true, force: true })
      await removeTemporary(root)
    }
    return {}
  })
  if (removed.ok && unread.length > 0) return keptFor(root, client, record, unread)
  // The record goes last: until then an uninstall that was stopped can be run again.
  const forgotten = removed.ok ? await removeText(recordPath(root, client)) : removed
  if (!forgotten.ok) return again(forgotten.failure)
  // The options are the user's.
  if (isLast) await removeFolders([root, dirname(root)])
  return null
}

/** What could not be looked at may still run the hook: both that and what is known of the file stay until it can. */
async function keptFor(
  root: string,
  client: HookClient,
  record: InstallRecord,
  unread: readonly Restoring[],
): Promise<Refusal> {
  const files = record.files.filter(({ path }) => unread.some((step) => step.path === path))
  const kept = await writeText(recordPath(root, client), `${JSON.stringify({ ...record, files }, null, 2)}\n`)
  const names = unread.map(({ path }) => path).join(', ')
  const note = kept.ok ? '' : `; ${kept.failure.message}`
  return refuse(
    exits.failed,
    `the companion is not out of ${titleOf(client)}: ${names} cannot be read, so what is known of it is kept${note}. Make it readable or delete it, then run pal companion uninstall ${client} again`,
  )
}
