// What there is to decide about a folder, and the decision itself. What was shown is what is written down: the files of
// the list, with the content they had when they were listed, and nothing that came to lie there since.
import { machineFileSystem, type Result } from '../../disk/fs.ts'
import { shortPath } from '../terminal/tables.ts'
import type { Workplace } from '../workplace/workplace.ts'
import { contentKey, type ContentKind } from './gate.ts'
import { contentText, describe, shownPath } from './describe.ts'
import { actingContent, listed, type ListedFile } from './listing.ts'
import { writeTrust } from './pins.ts'

/** All that would act, each with what was decided about it. */
export interface FolderContent {
  readonly files: readonly ListedFile[]
  /** Whether folders below were looked through too. */
  readonly isDeep: boolean
}

export type TrustAnswer = 'yes' | 'no' | 'later'

export async function folderContent(place: Workplace, isDeep: boolean): Promise<FolderContent> {
  const { io, home, project, trust } = place
  const at = { fs: machineFileSystem, home, userHome: io.userHome, project, environment: io.environment }
  return { files: listed(await actingContent(at, { deep: isDeep }), trust), isDeep }
}

/** What to ask about when a conversation begins; null where nothing is open. */
export async function openAtStart(place: Workplace): Promise<FolderContent | null> {
  const { standing } = place.trust
  if (standing === 'this run' || standing === 'refused') return null
  const content = await folderContent(place, standing !== 'trusted')
  return content.files.some(({ state }) => state === 'new' || state === 'changed') ? content : null
}

/** Why a run that wants everything of the folder cannot begin; null where nothing would be left out. */
export async function untrusted(place: Workplace): Promise<string | null> {
  if (place.trust.standing === 'this run') return null
  const { files } = await folderContent(place, false)
  const open = files.filter(({ state }) => state !== 'approved')
  if (open.length === 0) return null
  const names = open.map(({ path, state }) => `${shownPath(path, place.project.root)} (${state})`)
  return `--require-trust: ${names.join(', ')} would be left out. Look with pal trust --list, decide with pal trust`
}

/** Writes it down. `later` decides nothing. */
export async function decide(
  { trust, trustPlace }: Pick<Workplace, 'trust' | 'trustPlace'>,
  { files, isDeep }: FolderContent,
  answer: TrustAnswer,
): Promise<Result<object>> {
  if (answer === 'later') return { ok: true }
  const keys = new Set(files.map(contentKey))
  // Those of folders that were not looked through stay approved.
  const unseen = isDeep ? [] : trust.files.filter((file) => !keys.has(contentKey(file)))
  const pins = files.map(({ kind, path, sha256, bytes, text }) => ({ kind, path, sha256, bytes, text }))
  if (answer === 'yes') return writeTrust(trustPlace, { answer, files: [...pins, ...unseen], refused: [] })
  if (trust.standing !== 'trusted') return writeTrust(trustPlace, { answer, files: [], refused: [] })
  // The rest of a trusted folder stays trusted.
  const open = files.filter(({ state }) => state !== 'approved')
  const refused = open.map(({ kind, path, sha256 }) => ({ kind, path, sha256 }))
  return writeTrust(trustPlace, { answer: 'yes', files: trust.files, refused })
}

const shownLines = 40
const wholeKinds: readonly ContentKind[] = ['settings', 'MCP servers', 'MCP program']
const shownDiffLines = 20

/** The question as text: what it is about, and what would act. */
export async function questionText(
  { trust, project, io }: Pick<Workplace, 'trust' | 'project' | 'io'>,
  { files }: FolderContent,
): Promise<{ readonly title: string; readonly subject: string }> {
  const { root } = project
  const name = shortPath(root, io.userHome)
  const isKnown = trust.standing === 'trusted'
  const open = files.filter(({ state }) => state !== 'approved')
  const shown = isKnown ? open : files
  // What runs something or allows it is named whole: a long list must not push it out of sight.
  const whole = describe(
    shown.filter(({ kind }) => wholeKinds.includes(kind)),
    root,
  )
  const lines = describe(
    shown.filter(({ kind }) => !wholeKinds.includes(kind)),
    root,
  )
  const more = lines.length - shownLines
  const changed = isKnown ? open.filter(({ before }) => before !== null) : []
  const why =
    trust.standing === 'by path'
      ? 'You trusted this folder before; trust now covers its contents, so please confirm once more.\n'
      : ''
  return {
    title: isKnown
      ? `${count(open.length)} of ${name} ${open.length === 1 ? 'is' : 'are'} new or changed since you trusted it`
      : `Trust ${name}? ${count(files.length)} in it would take effect`,
    subject: [
      `${why}${[...whole, ...lines.slice(0, shownLines)].join('\n')}${more > 0 ? `\n… ${more} more lines` : ''}`,
      ...(changed.length === 0 ? [] : [await contentText(changed, root, shownDiffLines)]),
      'None of it takes effect until you say yes, and changes are asked about again.',
    ].join('\n\n'),
  }
}

const count = (files: number): string => (files === 1 ? '1 file' : `${files} files`)

/** Everything that is not approved, whole: what is new as it is, what changed as a diff. */
export const openText = (
  { project }: Pick<Workplace, 'project'>,
  { files }: FolderContent,
): Promise<string> =>
  contentText(
    files.filter(({ state }) => state !== 'approved'),
    project.root,
  )
