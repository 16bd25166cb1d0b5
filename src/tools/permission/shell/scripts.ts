// The small languages inside commands that may be read-only: the tests of find, the scripts of sed, the operators of test, the
// programs of jq and awk.
import { unknownOption, type Fit } from './grammar.ts'
import type { KnownWord } from './word.ts'

const text = /^[^-]/
const number = /^[-+]?\d+[a-zA-Z]?$/
/** Tests and actions of find that show, each with the shape of the word it takes. */
const findWords = new Map<string, RegExp | null>([
  ...words(
    null,
    '( ) ! -not -o -or -a -and , -print -print0 -prune -empty -true -false -depth -d -xdev -mount -readable -writable -executable -quit -ls -nouser -nogroup -daystart -noleaf',
  ),
  ...words(
    text,
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -user -group -printf -lname -ilname -newermt -newerct -newerat',
  ),
  ...words(text, '-newer -anewer -cnewer -samefile'),
  ...words(number, '-size -mtime -mmin -atime -amin -ctime -cmin -maxdepth -mindepth -uid -gid -links -inum'),
  ...words(/^[bcdpflsD,]+$/, '-type -xtype'),
  ...words(/^[-/]?[\dugoa=+,rwxst]+$/, '-perm'),
])

function words(shape: RegExp | null, names: string): (readonly [string, RegExp | null])[] {
  return names.split(' ').map((name) => [name, shape] as const)
}

export function findPaths(args: readonly KnownWord[]): Fit {
  const paths: string[] = []
  let at = 0
  if (args[0]?.value === '-P') at++
  for (; at < args.length && !/^[-(),!]/.test(args[at]!.value); at++) {
    if (/^[*?[]/.test(args[at]!.value) && args[at]!.isGlob)
      return {
        ok: false,
        why: `find would take a file named like an action for one (write ./${args[at]!.value})`,
      }
    paths.push(args[at]!.value)
  }
  for (; at < args.length; at++) {
    const { value, isGlob } = args[at]!
    const shape = isGlob ? undefined : findWords.get(value)
    if (shape === undefined) return { ok: false, why: unknownOption('find', value) }
    if (shape === null) continue
    const given = args[++at]
    // A pattern that is not quoted becomes file names, and one of them may be an action.
    if (given === undefined || given.isGlob || !shape.test(given.value))
      return { ok: false, why: `what follows find ${value} is only known when it runs (quote it)` }
    if (/^-(?:a|c)?newer$|^-samefile$/.test(value)) paths.push(given.value)
  }
  return { ok: true, paths }
}

/** Brackets without the delimiter and without a bracket at their start: where one ends is not the same in every sed. */
const patternUntil = (end: string): string =>
  String.raw`(?:[^${end}\\\n[]|\\[^\n]|\[(?!\^?\])(?:\[:\w+:\]|[^\][${end}\\\n])+\])*`
const address = String.raw`(?:\d+(?:~\d+)?|\$|/${patternUntil('/')}/I?)`
const addresses = String.raw`(?:${address}(?:,(?:${address}|[+~]\d+))?)?[ \t]*(?:![ \t]*)?`
const substitutes = Array.from('/|#,@:!%_~+=', (end) => {
  const replacement = String.raw`(?:[^${end}\\\n]|\\[^\n])*`
  const rest = `${replacement}[${end}]`
  return `s[${end}]${patternUntil(end)}[${end}]${rest}[gpIiMm0-9]*|y[${end}]${rest}${rest}`
})
const gap = /[ \t\n;]*/y
const command = new RegExp(
  String.raw`${addresses}\{|(?:\}|${addresses}(?:[pPdDhHgGxnNlz=F]|[qQ][ \t]*\d*|${substitutes.join('|')}))[ \t]*(?=[;\n}]|$)`,
  'y',
)

/** Scripts that print, pass over, end or replace on the way to standard output (PM34). */
export function sedRefusal(scripts: readonly string[]): string | null {
  if (scripts.length === 0) return 'sed without a script'
  const bad = scripts.find((script) => !isPrinting(script))
  return bad === undefined ? null : `the script ${bad} of sed may modify files or run code`
}

function isPrinting(script: string): boolean {
  for (let at = 0; ;) {
    gap.lastIndex = at
    at += gap.exec(script)?.[0].length ?? 0
    if (at >= script.length) return true
    command.lastIndex = at
    const [found] = command.exec(script) ?? []
    if (found === undefined) return false
    at += found.length
  }
}

const unaryTests = /^-[bcdefghknprstuwxzGLNOS]$/
const binaryTests = /^(?:=|==|!=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/

/** `test -v 'a[$(…)]'` runs what stands in the brackets; a comparison of numbers may too. */
export function testRefusal(given: readonly string[]): string | null {
  const args = given.filter((word) => !/^(?:\]|!|-a|-o|\(|\))$/.test(word))
  const bad = args.find(
    (word) =>
      (/^-[A-Za-z]+$/.test(word) && !unaryTests.test(word) && !binaryTests.test(word)) || /[[`$]/.test(word),
  )
  return bad === undefined ? null : `test with ${bad} may run code`
}

// ---- the programs of jq that only turn their input into output (PM34) ----
// Every name in one must be known: what shows the environment, reads further files or is new is not.

const jqNames = new Set(
  (
    'if then elif else end and or not as reduce foreach try catch label break empty error true false null length ' +
    'utf8bytelength keys keys_unsorted has in map map_values path paths leaf_paths del delpaths getpath setpath ' +
    'to_entries from_entries with_entries select add any all flatten range floor ceil round sqrt pow log exp ' +
    'log10 log2 exp10 exp2 fabs abs tostring tonumber toboolean type infinite nan isinfinite isnan isnormal ' +
    'isvalid sort sort_by group_by min max min_by max_by unique unique_by reverse contains inside startswith ' +
    'endswith ltrimstr rtrimstr trimstr trim ltrim rtrim explode implode split splits join ascii ascii_downcase ' +
    'ascii_upcase while repeat until recurse recurse_down transpose bsearch tojson fromjson todate fromdate now ' +
    'dateadd datesub date strptime strftime strflocaltime mktime gmtime localtime todateiso8601 fromdateiso8601 ' +
    'dateiso8601 test match capture scan sub gsub arrays objects iterables booleans numbers normals finites ' +
    'strings nulls values scalars first last nth limit skip input inputs debug input_line_number walk ' +
    'combinations index indices rindex pick have_literal_numbers halt isempty significand trunc toarray tostream ' +
    'fromstream truncate_stream'
  ).split(' '),
)

const jqToken =
  /\s+|"|@[a-z0-9]+|\$[A-Za-z_]\w*|\.[A-Za-z_]\w*|[A-Za-z_]\w*(?:::\w+)*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|\/\/=|\?\/\/|\/\/|\|=|[-+*/%]=|==|!=|<=|>=|\.\.|[-.[\](){}|,:;?<>=+*/%]/y

/** What ends what was opened. Within a condition a comma parts values, also where that stands in an object. */
const endings: Readonly<Record<string, string>> = { '[': ']', '(': ')', '{': '}', if: 'end' }
const closings = new Set(Object.values(endings))

/** Texts within texts. */
const deepest = 8

/** Why a program is not known to be read-only, or null. */
export function jqRefusal(program: string): string | null {
  const end = jqEnd(program, 0, 0)
  return typeof end === 'number' ? null : end
}

/** Reads up to the end, or to the bracket that ends an interpolation; a text says why not. */
function jqEnd(program: string, from: number, depth: number): number | string {
  const isInside = depth > 0
  if (depth > deepest) return 'the strings of the jq program are nested too deeply'
  const open: string[] = []
  let before = ''
  let at = from
  while (at < program.length) {
    jqToken.lastIndex = at
    const [found] = jqToken.exec(program) ?? []
    if (found === undefined) return `the jq program contains ${program[at]}, which cannot be checked`
    at += found.length
    if (/^\s/.test(found)) continue
    const isName = /^[A-Za-z_]/.test(found)
    const isKey = isName && open.at(-1) === '}' && (before === '{' || before === ',')
    if (found === '"') {
      const end = textEnd(program, at, depth)
      if (typeof end === 'string') return end
      at = end
    } else if (Object.hasOwn(endings, found) && !isKey) open.push(endings[found]!)
    else if (closings.has(found) && !isKey) {
      if (open.length === 0 && isInside && found === ')') return at
      if (open.pop() !== found) return 'the parentheses of the jq program are not balanced'
    } else if (isName) {
      if (!isKey && !jqNames.has(found)) return `${found} in the jq program may show more than its input`
    } else if (found === '$ENV' || found.startsWith('$__')) return `${found} shows the environment`
    before = found
  }
  return isInside ? 'a string in the jq program does not end' : at
}

/** From behind the quote to behind the one that ends the text. */
function textEnd(program: string, from: number, depth: number): number | string {
  for (let at = from; at < program.length; at++) {
    if (program[at] === '"') return at + 1
    if (program[at] !== '\\') continue
    if (program[at + 1] !== '(') at++
    else {
      const end = jqEnd(program, at + 2, depth + 1)
      if (typeof end === 'string') return end
      at = end - 1
    }
  }
  return 'a string in the jq program does not end'
}

// ---- the programs of awk that only print (PM34): no pipes, no redirections, no further files, no calls but the known ones ----

const awkFunctions = new Set(
  'length substr index split sub gsub match sprintf tolower toupper int sqrt log exp sin cos atan2 rand srand gensub'.split(
    ' ',
  ),
)
const awkWords = new Set(
  'BEGIN END if else for while do in next nextfile exit break continue delete print printf'.split(' '),
)
const awkVariables = new Set(
  'NR NF FNR FS OFS ORS RS FILENAME RSTART RLENGTH SUBSEP CONVFMT OFMT IGNORECASE'.split(' '),
)

/** Brackets without a slash: whether one ends the expression there is not the same in every awk. */
const awkToken =
  /\s+|"(?:[^"\\\n]|\\[^\n])*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|\.\d+|\+\+|--|&&|\|\||[-+*/%^]=|==|!=|<=|>=|!~|[-+*%^!~<>=?:,;(){}[\]$/]/y
const awkExpression = /\/(?:[^/\\\n[]|\\[^\n]|\[(?!\^?\])(?:\[:\w+:\]|[^\][/\\\n])+\])*\//y

/** Why a program is not known to be read-only, or null. */
export function awkRefusal(program: string, given: readonly string[]): string | null {
  if (given.some((word, at) => isSetting(word, given[at - 1]))) return 'awk is given a variable of its own'
  const state: AwkState = { before: '', brackets: 0, braces: 0, prints: false }
  for (let at = 0; at < program.length;) {
    const slash = program[at] === '/' ? slashAfter(state.before) : 'none'
    const shape = slash === 'expression' ? awkExpression : awkToken
    shape.lastIndex = at
    const [found] = slash === 'unknown' ? [] : (shape.exec(program) ?? [])
    if (found === undefined) return `the awk program contains ${program[at]}, which cannot be checked`
    at += found.length
    if (/^[ \t]+$/.test(found)) continue
    const why = shape === awkExpression ? null : awkDoubt(found, program.slice(at, at + 40), state)
    if (why !== null) return why
    state.before = shape === awkExpression ? '"' : found
  }
  return state.braces === 0 && state.brackets === 0
    ? null
    : 'the parentheses of the awk program are not balanced'
}

/** Whether a slash divides or begins an expression hangs on what stands before; where that is not plain it is not known. */
function slashAfter(before: string): 'divides' | 'expression' | 'unknown' {
  if (/^(?:\)|\+\+|--)$/.test(before) || awkFunctions.has(before)) return 'unknown'
  return /^[\w.")\]]/.test(before) && !awkWords.has(before) ? 'divides' : 'expression'
}

interface AwkState {
  before: string
  brackets: number
  braces: number
  /** A print stands before in the same statement: `>` would name a file. */
  prints: boolean
}

function awkDoubt(found: string, rest: string, state: AwkState): string | null {
  if (/^[;{}]|\n/.test(found)) state.prints = false
  if (found === '{') state.braces++
  if (found === '}') state.braces--
  if (found === '(') state.brackets++
  if (found === ')') state.brackets--
  if (found === 'print' || found === 'printf') state.prints = true
  if (found === '>' && (state.prints || (state.braces > 0 && state.brackets === 0)))
    return 'awk writes a file with >'
  if (!/^[A-Za-z_]/.test(found) || awkWords.has(found) || awkVariables.has(found)) return null
  if (awkFunctions.has(found)) return null
  const isOwn = /^[a-z_][a-z0-9_]*$/i.test(found) && !/^[A-Z_]+$/.test(found) && !/^\s*(?:\(|$)/.test(rest)
  return isOwn && !forbidden.has(found) ? null : `${found} in the awk program may do more than print`
}
const forbidden = new Set('system getline close fflush function func include load namespace'.split(' '))

/** `-v NAME=…` and `NAME=…` in place of a file: names of awk's own change where it reads from. */
const isSetting = (word: string, before: string | undefined): boolean =>
  /^(?:-v)?[A-Z_]+=/.test(word) && !/^(?:-v)?(?:FS|OFS|ORS|RS)=/.test(word) && before !== '-F'

/** Whether a program of awk may start others. */
export const awkRunsPrograms = (program: string): boolean =>
  /system|getline|extension|@|(?<!\|)\|(?!\|)/.test(program)
