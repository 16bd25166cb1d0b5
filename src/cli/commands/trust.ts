// `pal trust`: shows what of this folder would act, and lets exactly that act. On a terminal it asks; a script that runs
// it has decided.
import { machineFileSystem } from '../../disk/fs.ts'
import { print, complain, exits, fail, type Exit } from '../exit-codes.ts'
import { openWorkplace, type ProjectFlags, type Workplace } from '../workplace/workplace.ts'
import type { Io } from '../terminal/io.ts'
import { revealed } from '../terminal/approval-text.ts'
import { safeJson, safeLine } from '../terminal/safe-text.ts'
import { prose } from '../terminal/tables.ts'
import { decide, folderContent, openText, questionText, type FolderContent } from '../trust/deciding.ts'
import { describe } from '../trust/describe.ts'
import { forgetTrust } from '../trust/pins.ts'

export interface TrustFlags extends ProjectFlags {
  readonly remove?: boolean | undefined
  readonly list?: boolean | undefined
  readonly diff?: boolean | undefined
  readonly yes?: boolean | undefined
}

export async function trust(io: Io, flags: TrustFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  for (const problem of place.trust.problems) io.err(`pal: ${safeLine(problem)}\n`)
  if (flags.remove === true) return removeTrust(place, flags.json === true)
  const content = await folderContent(place, true)
  if (flags.list === true || flags.diff === true) return show(place, content, flags)
  const wantsAnswer = io.inIsTerminal && io.errIsTerminal && flags.yes !== true && flags.json !== true
  if (wantsAnswer && content.files.some(({ state }) => state !== 'approved')) {
    const answer = await askInLines(io, place, content)
    if (answer !== 'yes') {
      const kept = answer === 'no' ? await decide(place, content, 'no') : { ok: true as const }
      if (!kept.ok) return fail(io, exits.failed, `the decision could not be saved: ${kept.failure.message}`)
      io.out('Nothing was trusted.\n')
      return exits.done
    }
  }
  const kept = await decide(place, content, 'yes')
  if (!kept.ok) return fail(io, exits.failed, `the decision could not be saved: ${kept.failure.message}`)
  const { root } = place.project
  return print(io, flags.json, { folder: root, trusted: true, files: rows(content) }, () =>
    prose(
      content.files.length === 0
        ? `${safeLine(root)} is trusted. It contains nothing that needs approval yet; new content is asked about.\n`
        : `${safeLine(root)} is trusted with its current contents:\n${lines(place, content)}`,
      io.columns,
    ),
  )
}

export const untrust = (io: Io, flags: TrustFlags): Promise<Exit> => trust(io, { ...flags, remove: true })

async function removeTrust({ io, trustPlace, project }: Workplace, json: boolean): Promise<Exit> {
  const kept = await forgetTrust({ ...trustPlace, fs: machineFileSystem })
  if (!kept.ok) return fail(io, exits.failed, `the decision could not be saved: ${kept.failure.message}`)
  return print(
    io,
    json,
    { folder: project.root, trusted: false },
    () => `${safeLine(project.root)} is no longer trusted.\n`,
  )
}

async function show(place: Workplace, content: FolderContent, flags: TrustFlags): Promise<Exit> {
  const { io, project, trust: standing } = place
  if (flags.json === true) {
    const value = { folder: project.root, trusted: standing.standing === 'trusted', files: rows(content) }
    io.out(`${safeJson(value, 2)}\n`)
    return exits.done
  }
  if (flags.diff === true) {
    io.out(`${revealed(await openText(place, content))}\n`)
    return exits.done
  }
  const words = standing.standing === 'trusted' ? 'is trusted' : 'is not trusted'
  io.out(
    prose(
      content.files.length === 0
        ? `${safeLine(project.root)} ${words}. It contains nothing that needs approval.\n`
        : `${safeLine(project.root)} ${words}. It contains:\n${lines(place, content)}`,
      io.columns,
    ),
  )
  return exits.done
}

const lines = ({ project }: Workplace, { files }: FolderContent): string =>
  describe(files, project.root)
    .map((line) => `  ${revealed(line)}\n`)
    .join('')

const rows = ({ files }: FolderContent) =>
  files.map(({ kind, path, sha256, bytes, state }) => ({ kind, path, sha256, bytes, state }))

/** One line, yes or no or neither; `show` prints the contents and asks again. */
async function askInLines(io: Io, place: Workplace, content: FolderContent): Promise<'yes' | 'no' | 'later'> {
  const { title, subject } = await questionText(place, content)
  io.err(`${revealed(title)}\n\n${revealed(subject)}\n`)
  const prompt = 'y  yes, trust these contents   s  show the contents   n  no   Enter  not now\n? '
  io.err(prompt)
  const input = io.lines()
  try {
    for await (const line of input) {
      const word = line.trim().toLowerCase()
      if (word === 'y' || word === 'yes') return 'yes'
      if (word === 'n' || word === 'no') return 'no'
      if (word === '') return 'later'
      if (word === 's' || word === 'show') io.err(`${revealed(await openText(place, content))}\n`)
      io.err(prompt)
    }
    return 'later'
  } finally {
    input.close()
  }
}
