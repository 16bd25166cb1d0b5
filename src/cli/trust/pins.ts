// What a person has approved in a folder: each file with its kind, hash and content. Kept in the user's own folder as
// projects/<slug>/trust.json, readable by its owner only, replaced whole or not at all. A pin whose content does not
// have its hash is no pin.
//
// Before contents were approved, trusted.json listed folders by path: {"folders": ["/real/path"]}. Such a folder is
// known and asked about once more.
import { jsonIn } from '../../transcript/json.ts'
import { join } from 'node:path'
import * as z from 'zod/mini'
import { attempt, makeFolders, type Result, type FileSystem } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { shaOf } from '../../memory/files.ts'
import { readText } from '../workplace/files.ts'
import { contentKey, contentKinds, type ActingFile, type FolderTrust, type Refused } from './gate.ts'

export interface TrustPlace {
  readonly fs: FileSystem
  readonly home: string
  readonly root: string
  readonly slug: string
  readonly unique: () => string
}

const ownerOnly = 0o600
const ownerFolder = 0o700
/** All contents together; more could not be looked at either. */
const mostBytes = 64 * 1024 * 1024

const trustFile = ({ home, slug }: Pick<TrustPlace, 'home' | 'slug'>): string =>
  join(home, 'projects', slug, 'trust.json')
const oldTrustFile = (home: string): string => join(home, 'trusted.json')

const refusedShape = z.object({ kind: z.enum(contentKinds), path: z.string(), sha256: z.string() })
const shape = z.object({
  version: z.literal(1),
  root: z.string(),
  answer: z.enum(['yes', 'no']),
  files: z.array(z.extend(refusedShape, { bytes: z.number(), text: z.nullable(z.string()) })),
  refused: z.array(refusedShape),
})

const nothing = { files: [], refused: [] } as const

export async function readTrust(place: TrustPlace): Promise<FolderTrust> {
  const path = trustFile(place)
  const read = await readText(place.fs, path, mostBytes)
  const broken = (why: string): FolderTrust => ({
    standing: 'unknown',
    ...nothing,
    problems: [`${path} ${why}, so this folder is not trusted. Run pal trust again`],
  })
  if (!read.ok) return broken(`cannot be read (${read.why})`)
  if (read.text === null) return readOld(place)
  const parsed = z.safeParse(shape, jsonIn(read.text))
  if (!parsed.success) return broken('is damaged')
  const { root, answer, files, refused } = parsed.data
  if (root !== place.root) return broken(`is about ${root}`)
  const bad = files.filter(({ text, sha256 }) => text !== null && shaOf(Buffer.from(text)) !== sha256)
  return {
    standing: answer === 'yes' ? 'trusted' : 'refused',
    files: files.filter((file) => !bad.includes(file)),
    refused,
    problems: bad.map(
      (file) => `${path}: the stored copy of ${file.path} does not match its hash; it is ignored`,
    ),
  }
}

async function readOld({ fs, home, root }: TrustPlace): Promise<FolderTrust> {
  const path = oldTrustFile(home)
  const read = await readText(fs, path)
  const unknown: FolderTrust = { standing: 'unknown', ...nothing, problems: [] }
  if (!read.ok) return { ...unknown, problems: [`${path}: ${read.why}; it is ignored`] }
  if (read.text === null) return unknown
  const folders = foldersIn(read.text)
  if (folders === null)
    return {
      ...unknown,
      problems: [`${path} is not a list of folders and is ignored. Run pal trust again`],
    }
  return folders.includes(root) ? { ...unknown, standing: 'by path' } : unknown
}

const oldShape = z.object({ folders: z.array(z.string()) })
function foldersIn(text: string): readonly string[] | null {
  const parsed = z.safeParse(oldShape, jsonIn(text))
  return parsed.success ? parsed.data.folders : null
}

export interface Decision {
  readonly answer: 'yes' | 'no'
  readonly files: readonly ActingFile[]
  readonly refused: readonly Refused[]
}

/** Writes the decision down, and reads it again: what could not be read back is not decided. */
export async function writeTrust(place: TrustPlace, decision: Decision): Promise<Result<object>> {
  const { fs, root, unique } = place
  const path = trustFile(place)
  const made = await attempt(`making the folder of ${path}`, async () => ({
    done: await makeFolders(fs, join(path, '..'), ownerFolder),
  }))
  if (!made.ok) return made
  const text = `${JSON.stringify({ version: 1, root, ...decision }, null, 2)}\n`
  const written = await replaceFile(fs, path, Buffer.from(text), { mode: ownerOnly, unique })
  if (!written.ok) return written
  const back = await readText(fs, path, mostBytes)
  if (back.ok && back.text === text) return { ok: true }
  return {
    ok: false,
    failure: { code: 'io-error', message: `${path} was not written correctly; nothing was decided` },
  }
}

/** Forgets the decision, also one from before contents were approved. */
export async function forgetTrust(place: TrustPlace): Promise<Result<object>> {
  const { fs, home, root, unique } = place
  const removed = await attempt(`removing ${trustFile(place)}`, async () => ({
    done: await fs.unlink(trustFile(place)),
  }))
  if (!removed.ok && removed.failure.code !== 'not-found') return removed
  const old = await readText(fs, oldTrustFile(home))
  const folders = old.ok && old.text !== null ? foldersIn(old.text) : null
  if (folders === null || !folders.includes(root)) return { ok: true }
  const text = `${JSON.stringify({ folders: folders.filter((one) => one !== root) }, null, 2)}\n`
  return replaceFile(fs, oldTrustFile(home), Buffer.from(text), { mode: ownerOnly, unique })
}

/** Approves a file that this program has just written itself; everything else stays as it was decided. */
export async function pinOwn(place: TrustPlace, file: ActingFile): Promise<Result<object>> {
  const { standing, files, refused } = await readTrust(place)
  if (standing !== 'trusted') return { ok: true }
  const others = files.filter((one) => contentKey(one) !== contentKey(file))
  return writeTrust(place, { answer: 'yes', files: [...others, file], refused })
}
