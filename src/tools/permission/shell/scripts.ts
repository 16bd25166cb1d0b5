// The small languages inside commands that may be read-only: the tests of find, the scripts of sed, the operators of test.
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
