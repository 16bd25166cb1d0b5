// A look at the project for what memories say of it: which claims hold. Bounded, in files as they lie there, never in what
// holds keys, in what others made or in prose, which may speak of what is gone.
import { objectIn } from '../../../transcript/json.ts'
import { join } from 'node:path'
import { attempt, type FileSystem } from '../../../disk/fs.ts'
import { readSmall } from '../../../disk/small-file.ts'
import { defaults } from '../../../settings/defaults.ts'
import { isSecretPath } from '../../../tools/files/protected-names.ts'
import { keyOf, partsOf, type Claim } from './claims.ts'

export interface Looked {
  /** Keys of the claims that hold. */
  readonly confirmed: ReadonlySet<string>
  /** False where there is more than was read: then what was not found may be there. */
  readonly isWhole: boolean
}

export async function lookAt(fs: FileSystem, root: string, claims: readonly Claim[]): Promise<Looked> {
  const confirmed = new Set<string>()
  const wanted = wantedBy(claims)
  const walk = await filesOf(fs, root)
  const manifests: string[] = []
  let bytes = 0
  for (const path of walk.files) {
    if (bytes > defaults.consolidation.projectBytes) break
    if (!isLookedAt(path)) continue
    const read = await readSmall(fs, join(root, path), defaults.consolidation.projectFileBytes)
    if (!read.ok) continue
    bytes += read.bytes.length
    const text = read.bytes.toString('utf8')
    if (text.includes('\0')) continue
    if (isManifest(path)) manifests.push(path, text)
    for (const key of confirmedIn(path, text, wanted)) confirmed.add(key)
  }
  const { packages, scripts } = manifestFacts(manifests)
  const files = new Set(walk.files)
  for (const claim of claims) {
    if (
      claim.kind === 'path' &&
      (files.has(claim.path) || walk.folders.has(claim.path) || endsIn(files, claim.path))
    )
      confirmed.add(keyOf(claim))
    if (claim.kind === 'package' && packages.has(claim.name)) confirmed.add(keyOf(claim))
    if (claim.kind === 'script' && scripts.has(claim.name)) confirmed.add(keyOf(claim))
  }
  return { confirmed, isWhole: walk.isWhole && bytes <= defaults.consolidation.projectBytes }
}

/** A file may be named without its folders. */
const endsIn = (files: ReadonlySet<string>, path: string): boolean =>
  [...files].some((file) => file.endsWith(`/${path}`))

// ---- which files ----

const foreign =
  /^(?:node_modules|bower_components|dist|build|out|target|vendor|coverage|venv|__pycache__|\.(?!github$|gitlab$|circleci$|husky$|devcontainer$).+)$/u
const prose =
  /\.(?:md|mdx|rst|txt|adoc|log|svg|map|snap|lock|sum)$|(?:^|\/)(?:package-lock\.json|pnpm-lock\.yaml)$/iu

interface Walk {
  readonly files: readonly string[]
  readonly folders: ReadonlySet<string>
  readonly isWhole: boolean
}

async function filesOf(fs: FileSystem, root: string): Promise<Walk> {
  const files: string[] = []
  const folders = new Set<string>()
  const open = ['']
  while (open.length > 0 && files.length < defaults.consolidation.projectFiles) {
    const folder = open.shift()!
    const listed = await attempt('looking at the project', async () => ({
      entries: await fs.entries(join(root, folder)),
    }))
    if (!listed.ok) continue
    for (const { name, kind } of listed.entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = folder === '' ? name : `${folder}/${name}`
      if (kind === 'file') files.push(path)
      if (kind !== 'folder') continue
      folders.add(path)
      if (!foreign.test(name)) open.push(path)
    }
  }
  return { files, folders, isWhole: open.length === 0 }
}

const isLookedAt = (path: string): boolean => !prose.test(path) && !isSecretPath(path)
const isManifest = (path: string): boolean =>
  /(?:^|\/)(?:package\.json|pyproject\.toml|requirements[\w.-]*\.txt|Cargo\.toml|go\.mod|Gemfile|composer\.json|Makefile|justfile)$/u.test(
    path,
  )
const isSetting = (path: string): boolean =>
  /\.(?:json|ya?ml|toml|ini|cfg|conf|properties|tf|env\.example)$|(?:^|\/)(?:Dockerfile[\w.-]*|Makefile|justfile|Procfile|\.[\w.-]+)$/u.test(
    path,
  )

// ---- what stands in them ----

interface Wanted {
  /** Claims on names, by name; those on a file by the file too. */
  readonly names: ReadonlyMap<string, readonly Claim[]>
  readonly values: ReadonlyMap<string, readonly Extract<Claim, { kind: 'value' }>[]>
}

function wantedBy(claims: readonly Claim[]): Wanted {
  const names = new Map<string, Claim[]>()
  const values = new Map<string, Extract<Claim, { kind: 'value' }>[]>()
  for (const claim of claims) {
    if (claim.kind === 'name' || claim.kind === 'in')
      names.set(claim.name, [...(names.get(claim.name) ?? []), claim])
    if (claim.kind === 'value') values.set(claim.value, [...(values.get(claim.value) ?? []), claim])
  }
  return { names, values }
}

function* confirmedIn(path: string, text: string, { names, values }: Wanted): Generator<string> {
  for (const line of text.split('\n')) {
    const tokens =
      line.length > defaults.consolidation.projectLineChars ? [] : (line.match(/[\w$]+(?:\.\d+)*/gu) ?? [])
    let parts: ReadonlySet<string> | null = null
    for (const token of tokens) {
      for (const claim of names.get(token) ?? [])
        if (claim.kind === 'name' || (claim.kind === 'in' && isFile(path, claim.path))) yield keyOf(claim)
      for (const claim of valuesAt(values, token)) {
        // A small number or a word stands beside others by chance in code, in settings hardly.
        if (!isSetting(path) && !/^\d{2,}|\./u.test(claim.value)) continue
        parts ??= new Set(tokens.flatMap((one) => partsOf(one)))
        if (claim.words.some((word) => parts?.has(word) === true)) yield keyOf(claim)
      }
    }
  }
}

const isFile = (path: string, named: string): boolean => path === named || path.endsWith(`/${named}`)

/** "20" is said of "20.19.0" too, and "5.4" of "5.4.2". */
function* valuesAt(values: Wanted['values'], token: string): Generator<Extract<Claim, { kind: 'value' }>> {
  const lower = token.toLowerCase()
  const steps = /^\d/u.test(lower)
    ? lower.split('.').map((_, at, all) => all.slice(0, at + 1).join('.'))
    : [lower]
  for (const step of steps) yield* values.get(step) ?? []
}

interface ManifestFacts {
  readonly packages: ReadonlySet<string>
  readonly scripts: ReadonlySet<string>
}

/** Path and text in turn. */
function manifestFacts(manifests: readonly string[]): ManifestFacts {
  const packages = new Set<string>()
  const scripts = new Set<string>()
  for (let at = 0; at < manifests.length; at += 2) {
    const [path, text] = [manifests[at]!, manifests[at + 1]!]
    if (path.endsWith('package.json')) fromPackage(text, packages, scripts)
    else if (/(?:Makefile|justfile)$/u.test(path))
      for (const [, name] of text.matchAll(/^([a-zA-Z][\w:-]*)[^:=\n]*:(?!=)/gmu)) scripts.add(name!)
    else for (const [word] of text.matchAll(/[a-zA-Z][\w.-]*\w/gu)) packages.add(word.toLowerCase())
  }
  return { packages, scripts }
}

function fromPackage(text: string, packages: Set<string>, scripts: Set<string>): void {
  const value = objectIn(text)
  const keys = (field: string): readonly string[] => {
    const part = value?.[field]
    return typeof part === 'object' && part !== null ? Object.keys(part) : []
  }
  for (const field of [
    'dependencies',
    'devDependencies',
    'peerDependencies',
    'optionalDependencies',
    'engines',
  ])
    for (const name of keys(field)) packages.add(name.toLowerCase())
  const manager = value?.['packageManager']
  if (typeof manager === 'string') packages.add(manager.replace(/@.*$/u, '').toLowerCase())
  for (const name of keys('scripts')) scripts.add(name)
}
