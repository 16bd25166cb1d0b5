// What a consolidation starts from: the memories as they are, each line with where it stands, and the diary. What is held
// is not part of it: it may be neither used nor changed. A store that is no folder has neither diary nor versions to read:
// there a line keeps its words, and a memory counts from when the store says it was written.
import { join } from 'node:path'
import { attempt, type Result } from '../../../disk/fs.ts'
import { filesBelow, readBytes } from '../../../memory/files.ts'
import { absoluteDates, codeLines, hasRelativeDate } from '../../../memory/format/dates.ts'
import { readMemoryText } from '../../../memory/format/frontmatter.ts'
import { readVersion, type Keeper } from '../../../memory/keeping/keeper.ts'
import { diaryFolder, type Memory, type Provenance } from '../../../memory/memory.ts'
import type { MemoryStore } from '../../../memory/memory-store.ts'
import { defaults } from '../../../settings/defaults.ts'
import { linesOf, plain, plainSentencesIn, plainSentencesOf } from '../../../memory/trust/lines.ts'

export interface Known {
  readonly file: string
  readonly text: string
  readonly sha: string
  readonly memory: Memory
  readonly by: Provenance
  /** When these bytes were written. */
  readonly at: number
}

export interface Snapshot {
  readonly memories: ReadonlyMap<string, Known>
  /** Which files say a sentence, by its words; pages of the diary too. */
  readonly said: ReadonlyMap<string, ReadonlySet<string>>
  /** Memories and pages as they are, by file. */
  readonly texts: ReadonlyMap<string, string>
  /** Every file there is, looked at or not. */
  readonly there: ReadonlySet<string>
  /** Lines with a relative date and the moment from which it counts: by file and words, and by the words alone. */
  readonly dated: ReadonlyMap<string, number>
}

/** `folder`: the same store where it is a folder of files. */
export async function readSnapshot(
  store: MemoryStore,
  folder: Keeper | null,
): Promise<Result<{ world: Snapshot }>> {
  const listed = await store.list(defaults.consolidation.files)
  if (!listed.ok) return listed
  const memories = new Map<string, Known>()
  const said = new Map<string, Set<string>>()
  const texts = new Map<string, string>()
  const dated = new Map<string, number>()
  for (const { file, standing } of listed.memories) {
    if (standing === 'held') continue
    const read = await store.read(file)
    if (!read.ok || read.memory.provenance === null) continue
    const { memory, text } = read
    const { provenance: by, sha256: sha } = read.memory
    const at = folder?.ledger.known(file, sha)?.at ?? memory.modifiedMs
    memories.set(file, { file, text, sha, memory, by, at })
    texts.set(file, text)
    note(said, file, text)
    if (folder !== null) await date(folder, file, text, dated)
  }
  for (const [file, text] of folder === null ? [] : await diaryOf(folder)) {
    texts.set(file, text)
    note(said, file, text)
    const day = Date.parse(`${/\d{4}-\d{2}-\d{2}/u.exec(file)?.[0] ?? ''}T12:00:00`)
    if (Number.isNaN(day)) continue
    for (const line of datable(text).filter(hasRelativeDate)) setMoment(dated, file, plain(line), day)
  }
  const there = await filesIn(store, folder)
  return there.ok ? { ok: true, world: { memories, said, texts, there: there.files, dated } } : there
}

/** The names of all there are, read or not. */
async function filesIn(
  store: MemoryStore,
  folder: Keeper | null,
): Promise<Result<{ files: ReadonlySet<string> }>> {
  const all =
    folder === null
      ? await store.list()
      : await attempt('looking at the folder', async () => ({
          memories: (await filesBelow(folder.fs, folder.place.root)).files,
        }))
  return all.ok ? { ok: true, files: new Set(all.memories.map(({ file }) => file)) } : all
}

function note(said: Map<string, Set<string>>, file: string, text: string): void {
  for (const sentence of [...plainSentencesOf(text), ...linesOf(text).headings.flatMap(plainSentencesIn)]) {
    const files = said.get(sentence) ?? new Set()
    said.set(sentence, files.add(file))
  }
}

/** A line or description means the day on which it was first written, however often its file was written again. */
async function date(keeper: Keeper, file: string, text: string, dated: Map<string, number>): Promise<void> {
  const lines = datable(text).filter(hasRelativeDate).map(plain)
  if (lines.length === 0) return
  const first = new Map<string, number>()
  for (const version of keeper.ledger.versionsOf(file).slice(-defaults.consolidation.versionsRead)) {
    if (version.do !== 'write') continue
    const read = await readVersion(keeper, version.sha)
    if (!read.ok) continue
    for (const line of datable(read.text).map(plain)) if (!first.has(line)) first.set(line, version.at)
  }
  for (const line of lines) {
    const at = first.get(line)
    if (at !== undefined) setMoment(dated, file, line, at)
  }
}

/** What is said in a text, without its code. */
function datable(text: string): readonly string[] {
  const { head, body } = readMemoryText(text)
  const code = codeLines(body)
  const prose = body.split('\n').filter((_, i) => !code.has(i))
  return [head.description, ...linesOf(`---\n---\n${prose.join('\n')}`).facts]
}

const anyFile = ''
const momentKey = (file: string, line: string): string => `${file}\n${line}`

/** A line that was moved counts from where it stood; the earliest place where there are several. */
function setMoment(dated: Map<string, number>, file: string, line: string, at: number): void {
  dated.set(momentKey(file, line), at)
  const any = momentKey(anyFile, line)
  dated.set(any, Math.min(at, dated.get(any) ?? at))
}

/** A line of a file with its day, or null where it has none to be put in. */
export function datedLine({ dated }: Snapshot, file: string, line: string): string | null {
  const words = plain(line)
  const at = dated.get(momentKey(file, words)) ?? dated.get(momentKey(anyFile, words))
  return at === undefined ? null : absoluteDates(line, at).text
}

async function diaryOf(keeper: Keeper): Promise<readonly (readonly [string, string])[]> {
  const { fs, place } = keeper
  const walked = await attempt('looking at the diary', () => filesBelow(fs, join(place.root, diaryFolder)))
  if (!walked.ok) return []
  const pages = walked.files
    .map(({ file }) => `${diaryFolder}/${file}`)
    .sort()
    .slice(-defaults.consolidation.diaryPages)
  const texts: (readonly [string, string])[] = []
  for (const page of pages) {
    const read = await readBytes(fs, place.root, page)
    if (read.ok) texts.push([page, read.bytes.toString('utf8')])
  }
  return texts
}
