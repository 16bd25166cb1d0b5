// A look at the project for what memories say of it: which claims hold. Bounded, in files as they lie there, never in what
// holds keys, in what others made or in prose, which may speak of what is gone.
import { objectIn } from '../../../transcript/json.ts'
import { join } from 'node:path'
import { attempt, type FileSystem } from '../../../disk/fs.ts'
import { readSmall } from '../../../disk/small-file.ts'
import { defaults } from '../../../settings/defaults.ts'
import { isSecretPath } from '../../../tools/files/protected-names.ts'
import { readMemoryText } from '../../../memory/format/frontmatter.ts'
import { rawSentencesOf } from '../../../memory/trust/sentences.ts'

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

// What a memory says that a look at the project can show: paths, scripts, packages, names in code, and values beside the
// word they belong to. Pure. Which of them are meant is not known; so nothing is concluded from one that is not there, only
// from one that was there and is not any more (`doubts`).

export type Claim =
  | { readonly kind: 'path'; readonly path: string }
  | { readonly kind: 'script'; readonly name: string }
  | { readonly kind: 'package'; readonly name: string }
  | { readonly kind: 'name'; readonly name: string }
  /** A name in a file. */
  | { readonly kind: 'in'; readonly path: string; readonly name: string }
  /** A number or quoted word on one line with one of these words. */
  | { readonly kind: 'value'; readonly words: readonly string[]; readonly value: string }

/** The same for the same claim. */
export function keyOf(claim: Claim): string {
  switch (claim.kind) {
    case 'path':
      return `path:${claim.path}`
    case 'in':
      return `in:${claim.path}#${claim.name}`
    case 'value':
      return `value:${claim.words.join(',')}=${claim.value}`
    default:
      return `${claim.kind}:${claim.name}`
  }
}

/** Why a memory is doubted, for people and models: made of its own words. */
export function lossOf(claim: Claim): string {
  switch (claim.kind) {
    case 'path':
      return `${claim.path} is no longer there`
    case 'script':
      return `there is no script ${claim.name} any more`
    case 'package':
      return `${claim.name} is no longer a dependency`
    case 'name':
      return `${claim.name} is no longer in the code`
    case 'in':
      return `${claim.name} is no longer in ${claim.path}`
    case 'value':
      return `${claim.value} no longer stands beside ${claim.words.slice(0, shownWords).join(' or ')} in the code`
  }
}
const shownWords = 2

export function claimsIn(text: string): readonly Claim[] {
  const { head, body } = readMemoryText(text)
  const found = new Map<string, Claim>()
  for (const sentence of [head.description, body].flatMap((part) => rawSentencesOf(part)))
    for (const claim of claimsOf(sentence)) found.set(keyOf(claim), claim)
  return [...found.values()]
}

const address = /\b[a-z][a-z0-9+.-]*:\/\/\S+|[\w.+-]+@[\w-]+\.[\w.]+/giu
const relativePath =
  /(?<![\w/.~@-])(?:\.\/)?(?:[\w@.-]+\/)+[\w@.-]*\w|(?<![\w/.~@-])[\w-][\w.-]*\.(?:[cm]?[jt]sx?|json|ya?ml|toml|md|sh|py|rb|go|rs|java|kt|cs|php|sql|css|scss|html|vue|svelte|ini|cfg|conf|lock|txt|proto|graphql|tf)\b/gu
const script = /\b(?:npm run|npm|pnpm run|pnpm|yarn run|yarn|bun run|make|just)[ \t]+([a-z][\w:-]*)/gu
const ownVerbs = new Set(
  'install ci add remove run test start exec publish init audit update outdated link sure it the a an this that use'.split(
    ' ',
  ),
)
/** Names as code has them: joined words, capitals within, or what stands between backticks or before a parenthesis. */
const codeName =
  /`([A-Za-z_$][\w$]{2,})(?:\(\))?`|\b([a-z]+[A-Z]\w*|[A-Z][a-z0-9]+[A-Z]\w*|\w+_\w+)\b|\b([A-Za-z_]\w{2,})\(\)/gu
const packageName = /(?<![\w/@.-])(?:@[a-z0-9][\w.-]*\/)?[a-zA-Z][\w-]*(?:\.js)?(?![\w/@-])/gu
const numberWord = /(?<![\w.])v?(\d+(?:\.\d+)*)(?!\w|\.\d)/gu
const quotedWord = /[`"'“”«»„]([\p{L}\p{N}][\w.:-]*)[`"'“”«»]/gu

function* claimsOf(sentence: string): Generator<Claim> {
  const bare = sentence.replaceAll(address, ' ')
  const paths = [...bare.matchAll(relativePath)].map(([path]) => path.replace(/^\.\//u, ''))
  for (const path of paths) yield { kind: 'path', path }
  const rest = bare.replaceAll(relativePath, ' ')
  for (const [, name] of rest.matchAll(script))
    if (!ownVerbs.has(name!)) yield { kind: 'script', name: name! }
  const names = [...rest.matchAll(codeName)].map(
    ([, quoted, joined, called]) => quoted ?? joined ?? called ?? '',
  )
  for (const name of names) {
    yield { kind: 'name', name }
    for (const path of paths) yield { kind: 'in', path, name }
  }
  const quoted = new Set([...rest.matchAll(quotedWord)].map(([, word]) => word!))
  for (const [name] of rest.matchAll(packageName))
    if (name.length >= leastName && (quoted.has(name) || !everyday.has(name.toLowerCase())))
      yield { kind: 'package', name: name.toLowerCase() }
  const words = wordsNear(rest, new Set([...quoted, ...names]))
  const values = new Set([
    ...[...rest.matchAll(numberWord)].map(([, number]) => number!),
    ...[...quoted].map((word) => word.toLowerCase()),
  ])
  for (const value of values) {
    const others = words.filter((word) => word !== value)
    if (others.length > 0) yield { kind: 'value', words: others, value }
  }
}
const leastName = 3
/** Packages that are called like an ordinary word are meant where they are quoted. */
const everyday = new Set(
  'async body camelcase chalk chance classnames clean colors commander config connect cookie cors cross date debug deep depd diff dotenv events execa express extend faker figures form forever fresh glob global got helmet history immer inquirer inherits joi just kill link mime minimist moment morgan motion nanoid next node open passport path pino pluralize pretty process prompts pump query ramda range ready request resolve rimraf router rxjs semver send shell should signale slash source split state steed table tap tape temp through type types typed url user util uuid validator vary which winston wrap yaml yargs zone test tests build lint start serve watch release format check dev docs'.split(
    ' ',
  ),
)

/** Words that may name what a value belongs to, as the parts of names in code. */
function wordsNear(sentence: string, except: ReadonlySet<string>): readonly string[] {
  const words = [...sentence.matchAll(/[\p{L}_$][\p{L}\p{N}_$]*/gu)]
    .filter(([word]) => !except.has(word) || /[A-Z_]/u.test(word))
    .flatMap(([word]) => partsOf(word))
  return [...new Set(words)].filter((word) => word.length >= leastPart && !glue.has(word)).slice(0, mostWords)
}
const leastPart = 3
const mostWords = 16
const glue = new Set(
  'the and for with from into that this these those are was were has have had not but our your their its use uses used using all any each every than then when where which who will would should must can may now always never only about after before between there here they them you she him his her one two three four five six seven eight nine ten der die das und für mit von ist sind les des une est pour avec dans los las una por para con del que'.split(
    ' ',
  ),
)

/** The words a name of code is made of, lower case and without the ending of a plural. */
export const partsOf = (name: string): readonly string[] =>
  name
    .replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .split(/[\s_$.-]+/u)
    .filter((part) => part !== '')
    .map((part) => part.toLowerCase().replace(/(?<=\p{L}{3})s$/u, ''))
