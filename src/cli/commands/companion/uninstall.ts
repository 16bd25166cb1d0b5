// `pal companion uninstall`: every file is as it was before the install, byte for byte; what somebody changed since is named
// and not overwritten. What the companion kept of that agent's sessions goes too.
import { existsSync, readdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { hookClients, type HookClient } from '../../../companion/hook/options.ts'
import { hookName } from '../../../companion/install/plan.ts'
import {
  parseInstallRecord,
  restoringOf,
  type InstallRecord,
  type Restoring,
} from '../../../companion/install/record.ts'
import { errorText } from '../../../disk/failure.ts'
import { complain, exits, refuse, type Exit, type Refusal } from '../../exit-codes.ts'
import type { Io } from '../../terminal/io.ts'
import { safeJson, safeLine } from '../../terminal/safe-text.ts'
import { agreesTo } from '../../terminal/agree.ts'
import type { CompanionFlags } from './install.ts'
import {
  companionRoot,
  installable,
  recordPath,
  removeFolders,
  removeText,
  textAt,
  titleOf,
  writeText,
} from './place.ts'

export async function uninstallCompanion(io: Io, name: string, flags: CompanionFlags): Promise<Exit> {
  const client = installable(name)
  if (typeof client !== 'string') return complain(io, client)
  const root = companionRoot(io)
  const record = parseInstallRecord(await textAt(recordPath(root, client)), client)
  if (record === null)
    return complain(
      io,
      refuse(
        exits.failed,
        `nothing was changed: there is no record of an install for ${titleOf(client)} in ${root}`,
      ),
    )
  const hook = join(root, hookName)
  const steps: Restoring[] = []
  for (const file of record.files)
    steps.push(
      await textAt(file.path).then(
        (now) => restoringOf(file, now, hook),
        // The others are put back all the same.
        (error: unknown) => ({ path: file.path, how: 'leave', why: unreadable(error, hook) }),
      ),
    )
  const isDry = flags.dryRun === true
  if (flags.json !== true) io.out(steps.map((step) => `${safeLine(lineOf(step))}\n`).join(''))
  if (!isDry && flags.yes !== true) {
    const agreed = await agreesTo(io, `Take the companion out of ${titleOf(client)}?`, 'changed')
    if (agreed !== null) return complain(io, agreed)
  }
  const failed = isDry ? null : await restore(root, client, record, steps)
  if (failed !== null) return complain(io, failed)
  if (flags.json === true)
    io.out(`${safeJson({ client, removed: !isDry, files: steps.map(withoutText) }, 2)}\n`)
  else
    io.out(
      isDry
        ? 'Nothing was changed; without --dry-run it is.\n'
        : `The companion is out of ${titleOf(client)}.\n`,
    )
  return exits.done
}

const unreadable = (error: unknown, hook: string): string =>
  `cannot be read (${errorText(error)}). If it has entries that name ${hook}, remove them by hand`

const withoutText = (step: Restoring): object => ({
  path: step.path,
  how: step.how === 'restore' ? (step.text === null ? 'deleted' : 'restored') : step.how,
  ...('why' in step ? { why: step.why } : {}),
})

function lineOf(step: Restoring): string {
  if (step.how === 'restore') return `${step.text === null ? 'delete ' : 'restore'} ${step.path}`
  return `${step.how === 'leave' ? 'leave  ' : 'edit   '} ${step.path}: it ${step.why}`
}

async function restore(
  root: string,
  client: HookClient,
  record: InstallRecord,
  steps: readonly Restoring[],
): Promise<Refusal | null> {
  for (const step of steps) {
    if (step.how === 'leave') continue
    if (step.text === null) await removeText(step.path)
    else {
      const written = await writeText(step.path, step.text)
      if (!written.ok)
        return refuse(exits.failed, `${written.failure.message}. Run pal companion uninstall ${client} again`)
    }
  }
  await removeFolders(record.folders)
  const sessions = join(root, 'sessions')
  const own = existsSync(sessions) ? readdirSync(sessions).filter((one) => one.startsWith(`${client}-`)) : []
  for (const one of own) await rm(join(sessions, one), { recursive: true, force: true })
  await removeText(recordPath(root, client))
  const isLast = hookClients.every((other) => !existsSync(recordPath(root, other)))
  if (isLast) {
    for (const leftover of ['pending', 'sessions', hookName, 'log.jsonl', 'log.jsonl.old'])
      await rm(join(root, leftover), { recursive: true, force: true })
    // The options are the user's.
    await removeFolders([root, dirname(root)])
  }
  return null
}
