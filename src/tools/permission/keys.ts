// Whether a command that reads folders through would show a file that holds keys. Every folder counts, whatever its name;
// one with more folders below it than are looked at is asked about.
import { dirname, join, sep } from 'node:path'
import { attempt } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { isCertificateName, isSecretPath } from '../files/protected-names.ts'
import { realPlace, type Place } from './place.ts'
import { readSmall } from '../../disk/small-file.ts'

export type ReadThrough = 'all' | 'shown'

/** Why a folder cannot be read through unasked, or null. `shown`: without what is hidden or ignored, as ripgrep does by itself. */
export async function keysDoubt(
  place: Place,
  base: string,
  folder: string,
  how: ReadThrough,
): Promise<string | null> {
  const start = await realPlace(place, base, folder)
  const rules = how === 'shown' ? await rulesAbove(place, start) : null
  const open = [{ path: folder, real: start }]
  for (let looked = 0; looked < open.length; looked++) {
    if (looked >= defaults.permission.keyFolders)
      return `${folder} holds more folders than are looked through for files that hold keys`
    const { path, real } = open[looked]!
    const listed = await attempt('looking', async () => ({ entries: await place.fs.entries(real) }))
    const entries = listed.ok ? listed.entries : []
    if (rules !== null && looked > 0 && entries.some(({ name }) => ignoreFiles.includes(name)))
      rules.back.push(...takenBack(await ignoreTexts(place, real)))
    for (const { name, kind } of entries) {
      const isFolder = kind === 'folder'
      if (rules !== null && passesOver(rules, name, isFolder)) continue
      const below = { path: path === '.' ? name : join(path, name), real: join(real, name) }
      if (place.isForbidden?.(below.real) === true || (!isFolder && holdsKeys(below.path, below.real)))
        return `it reads all of ${folder}, also ${below.path}, which usually holds keys or is kept back by a rule`
      // Links are not followed by those who read through.
      if (isFolder) open.push(below)
    }
  }
  return null
}

/** Packages ship certificates for their own tests; the shape of a private key is taken out of what is shown anyway. */
const holdsKeys = (path: string, real: string): boolean =>
  isSecretPath(path) && !(real.includes(`${sep}${dependencies}${sep}`) && isCertificateName(real))

const dependencies = 'node_modules'
const ignoreFiles = ['.gitignore', '.ignore', '.rgignore']

/** What ripgrep reads of what it would pass over by itself: an ignore file can bring hidden names back. */
interface Rules {
  readonly leavesDependencies: boolean
  /** What the last name of such a line begins with, and whether it says the whole name. */
  readonly back: { readonly begin: string; readonly isWhole: boolean }[]
}

const passesOver = ({ back, leavesDependencies }: Rules, name: string, isFolder: boolean): boolean =>
  (name.startsWith('.') || (isFolder && leavesDependencies && name === dependencies)) &&
  !back.some(({ begin, isWhole }) => (isWhole ? name === begin : name.startsWith(begin)))

/** The rules of a folder and of those above it, which count too. */
async function rulesAbove(place: Place, start: string): Promise<Rules> {
  const texts: string[] = []
  let isRepository = false
  for (let folder = start; ; folder = dirname(folder)) {
    texts.push(...(await ignoreTexts(place, folder)))
    isRepository ||= (await attempt('looking', () => place.fs.stat(join(folder, '.git')))).ok
    if (folder === dirname(folder)) break
  }
  // Without a repository `.gitignore` says nothing to it.
  const leavesDependencies =
    isRepository && texts.some((text) => /^(?:\*\*)?\/?node_modules\/?[ \t\r]*$/m.test(text))
  return { leavesDependencies, back: takenBack(texts) }
}

/** A pattern stands for every name that begins as it does up to its first sign. */
const takenBack = (texts: readonly string[]): Rules['back'] =>
  texts.flatMap((text) =>
    [...text.matchAll(/^[\s\uFEFF]*!(.*)$/gm)].map(([, line]) => {
      const last = line!.trim().replace(/\/+$/, '').split('/').at(-1)!
      const begin = last.replace(/[*?[{\\ ].*$/, '')
      return { begin, isWhole: begin === last && last !== '' }
    }),
  )

const ignoreTexts = (place: Place, folder: string): Promise<readonly string[]> =>
  Promise.all(
    [...ignoreFiles, join('.git', 'info', 'exclude')].map((name) => ignoreText(place, join(folder, name))),
  )

/** One that cannot be read may say anything. */
async function ignoreText({ fs }: Place, path: string): Promise<string> {
  const there = await attempt('looking', () => fs.stat(path))
  if (!there.ok) return ''
  if (there.kind !== 'file' || there.bytes > defaults.permission.ignoreFileBytes) return '!*'
  const read = await readSmall(fs, path, there.bytes)
  return read.ok ? read.bytes.toString() : '!*'
}
