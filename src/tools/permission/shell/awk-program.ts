// The programs of awk that only print (PM34): no pipes, no redirections, no further files, no calls but the known ones.

const functions = new Set(
  'length substr index split sub gsub match sprintf tolower toupper int sqrt log exp sin cos atan2 rand srand gensub'.split(
    ' ',
  ),
)
const words = new Set(
  'BEGIN END if else for while do in next nextfile exit break continue delete print printf'.split(' '),
)
const variables = new Set(
  'NR NF FNR FS OFS ORS RS FILENAME RSTART RLENGTH SUBSEP CONVFMT OFMT IGNORECASE'.split(' '),
)

/** Brackets without a slash: whether one ends the expression there is not the same in every awk. */
const token =
  /\s+|"(?:[^"\\\n]|\\[^\n])*"|[A-Za-z_]\w*|\d+(?:\.\d+)?|\.\d+|\+\+|--|&&|\|\||[-+*/%^]=|==|!=|<=|>=|!~|[-+*%^!~<>=?:,;(){}[\]$/]/y
const expression = /\/(?:[^/\\\n[]|\\[^\n]|\[(?!\^?\])(?:\[:\w+:\]|[^\][/\\\n])+\])*\//y

/** Why a program is not known to be read-only, or null. */
export function awkRefusal(program: string, given: readonly string[]): string | null {
  if (given.some((word, at) => isSetting(word, given[at - 1]))) return 'awk is given a variable of its own'
  const state: State = { before: '', brackets: 0, braces: 0, prints: false }
  for (let at = 0; at < program.length;) {
    const slash = program[at] === '/' ? slashAfter(state.before) : 'none'
    const shape = slash === 'expression' ? expression : token
    shape.lastIndex = at
    const [found] = slash === 'unknown' ? [] : (shape.exec(program) ?? [])
    if (found === undefined) return `the awk program contains ${program[at]}, which cannot be checked`
    at += found.length
    if (/^[ \t]+$/.test(found)) continue
    const why = shape === expression ? null : refused(found, program.slice(at, at + 40), state)
    if (why !== null) return why
    state.before = shape === expression ? '"' : found
  }
  return state.braces === 0 && state.brackets === 0
    ? null
    : 'the parentheses of the awk program are not balanced'
}

/** Whether a slash divides or begins an expression hangs on what stands before; where that is not plain it is not known. */
function slashAfter(before: string): 'divides' | 'expression' | 'unknown' {
  if (/^(?:\)|\+\+|--)$/.test(before) || functions.has(before)) return 'unknown'
  return /^[\w.")\]]/.test(before) && !words.has(before) ? 'divides' : 'expression'
}

interface State {
  before: string
  brackets: number
  braces: number
  /** A print stands before in the same statement: `>` would name a file. */
  prints: boolean
}

function refused(found: string, rest: string, state: State): string | null {
  if (/^[;{}]|\n/.test(found)) state.prints = false
  if (found === '{') state.braces++
  if (found === '}') state.braces--
  if (found === '(') state.brackets++
  if (found === ')') state.brackets--
  if (found === 'print' || found === 'printf') state.prints = true
  if (found === '>' && (state.prints || (state.braces > 0 && state.brackets === 0)))
    return 'awk writes a file with >'
  if (!/^[A-Za-z_]/.test(found) || words.has(found) || variables.has(found)) return null
  if (functions.has(found)) return null
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
