// What a memory says that a look at the project can show: paths, scripts, packages, names in code, and values beside the
// word they belong to. Pure. Which of them are meant is not known; so nothing is concluded from one that is not there, only
// from one that was there and is not any more (`doubts`).
import { readMemoryText } from '../../../memory/format/frontmatter.ts'
import { rawSentencesOf } from '../../../memory/trust/sentences.ts'

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
