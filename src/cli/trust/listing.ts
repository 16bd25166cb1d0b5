// Everything in a folder that would act, found by the very loaders that would use it: they run against a gate that keeps
// what it is asked about. Nothing is started and nothing is told to a model. Instruction files of folders further down
// come only when work comes there, so they are looked for here, as far as a bounded walk goes.
import { join } from 'node:path'
import { attempt, type FileSystem } from '../../disk/fs.ts'
import { loadInstructions, loadNested, type InstructionSources } from '../../memory/instructions/load.ts'
import type { Project } from '../../preset/project.ts'
import { loadSettings } from '../../settings/load.ts'
import { isSecretPath } from '../../tools/files/protected-names.ts'
import { pageFolders, typesFor } from '../extensions/load.ts'
import { findServers } from '../extensions/mcp/servers.ts'
import { pagesIn } from '../../preset/pages.ts'
import { loadSkills } from '../../preset/skills.ts'
import { settingsFiles } from '../workplace/files.ts'
import { contentKey, recordingGate, type ActingFile, type FolderTrust } from './gate.ts'

export interface ListingPlace {
  readonly fs: FileSystem
  readonly home: string
  readonly userHome: string
  readonly project: Project
  readonly environment: Readonly<Record<string, string | undefined>>
}

/** `deep`: also the instruction files of folders below. */
export async function actingContent(
  place: ListingPlace,
  { deep }: { readonly deep: boolean },
): Promise<readonly ActingFile[]> {
  const { fs, home, project, environment } = place
  const gate = recordingGate()
  const at = { fs, home, project: project.root, cwd: project.cwd, gate, environment }
  const files = settingsFiles(fs, gate)
  await loadSettings({ files, home, project: project.root, environment: {}, flags: {} })
  await findServers(at)
  await loadInstructionsOf(place, gate, deep)
  await loadSkills({ fs, folders: pageFolders(at, 'skills') })
  await pagesIn(fs, pageFolders(at, 'commands'))
  await pagesIn(fs, pageFolders(at, 'output-styles'))
  await typesFor({ home, project, gate })
  return gate.seen()
}

async function loadInstructionsOf(
  { fs, home, userHome, project }: ListingPlace,
  gate: ReturnType<typeof recordingGate>,
  deep: boolean,
): Promise<void> {
  const sources: InstructionSources = {
    fs,
    // Those of the machine and of the user are trusted by their place.
    managed: join(home, 'none'),
    home: join(home, 'none'),
    userHome,
    root: project.root,
    cwd: project.cwd,
    trusted: true,
    isSecret: isSecretPath,
    pins: null,
    approved: new Set(),
    isWhole: true,
    refusal: ({ path, bytes }, lies) =>
      gate.refusal(lies === 'inside' ? 'instructions' : 'include', path, bytes),
  }
  await loadInstructions(sources)
  if (!deep) return
  const seen = new Set<string>()
  for (const folder of await foldersBelow(fs, project.root)) {
    await loadNested(sources, folder, seen)
    seen.add(folder)
  }
}

const mostFolders = 2000
/** Installed packages and what tools keep instruct nobody. */
const passedOver = /^(?:\..*|node_modules|vendor|dist|build|target|__pycache__)$/

async function foldersBelow(fs: FileSystem, root: string): Promise<readonly string[]> {
  const folders = [root]
  for (const folder of folders) {
    if (folders.length >= mostFolders) break
    const listed = await attempt('listing', async () => ({ names: await fs.names(folder) }))
    if (!listed.ok) continue
    for (const name of listed.names.toSorted()) {
      if (passedOver.test(name) || /\.\w{1,5}$/.test(name)) continue
      const stat = await attempt('looking', () => fs.stat(join(folder, name)))
      if (stat.ok && stat.kind === 'folder') folders.push(join(folder, name))
    }
  }
  return folders.slice(0, mostFolders)
}

export interface ListedFile extends ActingFile {
  readonly state: 'approved' | 'new' | 'changed' | 'refused'
  /** What was approved, where it changed. */
  readonly before: ActingFile | null
}

/** The files with what was decided about each. */
export function listed(
  files: readonly ActingFile[],
  trust: Pick<FolderTrust, 'standing' | 'files' | 'refused'>,
): readonly ListedFile[] {
  const pins = new Map(trust.files.map((file) => [contentKey(file), file]))
  const refused = new Map(trust.refused.map((file) => [contentKey(file), file.sha256]))
  return files.map((file): ListedFile => {
    const before = pins.get(contentKey(file)) ?? null
    if (before?.sha256 === file.sha256) return { ...file, state: 'approved', before: null }
    const isRefused = refused.get(contentKey(file)) === file.sha256
    return { ...file, state: isRefused ? 'refused' : before === null ? 'new' : 'changed', before }
  })
}
