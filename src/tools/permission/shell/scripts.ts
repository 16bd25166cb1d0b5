// The small languages inside commands that look: the tests of find, the scripts of sed, the operators of test.
import type { Fit } from './options.ts'
import type { KnownWord } from './word.ts'

/** Tests and actions of find that look, by how many words they take. */
const findWords = new Map<string, number>([
  ...words(
    0,
    '( ) ! -not -o -or -a -and , -print -print0 -prune -empty -true -false -depth -d -xdev -mount -readable -writable -executable -quit -ls -nouser -nogroup -daystart -noleaf',
  ),
  ...words(
    1,
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -lname -ilname -samefile',
  ),
])

function words(count: number, names: string): (readonly [string, number])[] {
  return names.split(' ').map((name) => [name, count] as const)
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
    const takes = isGlob ? undefined : findWords.get(value)
    if (takes === undefined) return { ok: false, why: `find ${value} is not known to only look` }
    const given = args.slice(at + 1, at + 1 + takes)
    // A pattern that is not quoted becomes file names, and one of them may be an action.
    if (given.length < takes || given.some((word) => word.isGlob))
      return { ok: false, why: `what follows find ${value} is only known when it runs (quote it)` }
    if (/^-(?:a|c)?newer$|^-samefile$/.test(value)) paths.push(given[0]!.value)
    at += takes
  }
  return { ok: true, paths }
}

/** Brackets without a slash: whether one ends a pattern there is not the same in every sed. */
const pattern = String.raw`(?:[^/\\\n[]|\\[^\n]|\[[^\]/\\\n]+\])*`
const address = String.raw`(?:\d+|\$|/${pattern}/)`
const print = new RegExp(`^(?:${address}(?:,(?:${address}|[+~]\\d+))?)?!?[pdq=]$`)
const substitute = new RegExp(
  String.raw`^(?:\d+|\$)?(?:,(?:\d+|\$))?s/${pattern}/(?:[^/\\\n]|\\[^\n])*/[gpI\d]*$`,
)

/** Scripts that print, pass over, end or replace on the way to standard output. */
export function sedRefusal(args: readonly string[]): string | null {
  const scripts: string[] = []
  let hasOwn = false
  for (let at = 0; at < args.length; at++) {
    const arg = args[at]!
    const long = /^--expression=([\s\S]*)$/.exec(arg)
    const cluster = /^-[nEru]*e([\s\S]*)$/.exec(arg)
    if (long !== null) scripts.push(long[1]!)
    else if (arg === '--expression') scripts.push(args[++at] ?? '')
    else if (cluster !== null) scripts.push(cluster[1] === '' ? (args[++at] ?? '') : cluster[1]!)
    else if (arg.startsWith('-') && arg !== '-') continue
    else if (!hasOwn && scripts.length === 0) {
      scripts.push(arg)
      hasOwn = true
    }
  }
  const bad = scripts.flatMap((script) => script.split(/[;\n]/)).find((one) => !isLook(one.trim()))
  if (scripts.length === 0) return 'sed without a script'
  // A script that stands in two places may be read as a file by one sed and as a script by another.
  if (hasOwn && args.some((arg) => /^-[nEru]*e|^--expression/.test(arg)))
    return 'sed is given scripts in two ways'
  return bad === undefined ? null : `the script ${bad} of sed is not known to only look`
}

const isLook = (script: string): boolean => print.test(script) || substitute.test(script)

const unaryTests = /^-[bcdefghknprstuwxzGLNOS]$/
const binaryTests = /^(?:=|==|!=|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef))$/

/** `test -v 'a[$(…)]'` runs what stands in the brackets; a comparison of numbers may too. */
export function testRefusal(given: readonly string[]): string | null {
  const args = given.filter((word) => !/^(?:\]|!|-a|-o|\(|\))$/.test(word))
  const bad = args.find(
    (word) =>
      (/^-[A-Za-z]+$/.test(word) && !unaryTests.test(word) && !binaryTests.test(word)) || /[[`$]/.test(word),
  )
  return bad === undefined ? null : `test with ${bad} is not known to only look`
}
