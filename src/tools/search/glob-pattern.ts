// Glob patterns without surprises: `*` `?` `[a-z]` inside a name, `**` across folders, `{a,b}` for alternatives. Matching
// takes time in proportion to path times pattern, whatever the pattern: a star remembers only its last place. Braces are
// written out first, within a budget.
import type { OrWhy } from '../../disk/failure.ts'
import { defaults } from '../../settings/defaults.ts'

export type GlobResult = OrWhy<{ readonly matches: (path: string) => boolean }>

/** Paths use `/` and are relative to the folder that is searched. A pattern without `/` matches a name at any depth. */
export function compileGlob(pattern: string): GlobResult {
  if (pattern.trim() === '') return { ok: false, why: 'the glob is empty' }
  if (pattern.length > defaults.tools.patternChars)
    return { ok: false, why: `the glob is longer than ${defaults.tools.patternChars} characters` }
  const alternatives = writeOutBraces(pattern, defaults.tools.braceBudget)
  if (alternatives === null)
    return {
      ok: false,
      why: `the braces of the glob expand to more than ${defaults.tools.braceBudget} patterns`,
    }
  const all = alternatives.map(compilePath)
  return { ok: true, matches: (path) => all.some((one) => one(path)) }
}

/** One pattern without braces, as in an ignore file: anchored where it holds a slash. */
export function compilePath(pattern: string): (path: string) => boolean {
  const plain = pattern.replace(/^(?:\.\/+)+/, '').replace(/^\/+/, '/')
  const anywhere = !plain.replace(/\/+$/, '').includes('/')
  const steps = `${anywhere ? '**/' : ''}${plain.replace(/^\//, '')}`.split('/').filter((step) => step !== '')
  // At the end `**` stands for what is in the folder, not for the folder itself.
  if (steps.at(-1) === '**') steps.push('*')
  const tests = steps.map((step) => (step === '**' ? null : compileName(step)))
  return (path) =>
    matchesSequence(
      tests,
      path.split('/'),
      (step) => step === null,
      (step, name) => step!(name),
    )
}

function compileName(pattern: string): (name: string) => boolean {
  const tokens = tokensOf(Array.from(pattern))
  return (name) =>
    matchesSequence(
      tokens,
      Array.from(name),
      (token) => token === null,
      (token, char) => token!(char),
    )
}

/** The classic walk: on a mismatch go back to the last star and let it take one more. */
function matchesSequence<P, T>(
  pattern: readonly P[],
  items: readonly T[],
  isStar: (step: P) => boolean,
  fits: (step: P, item: T) => boolean,
): boolean {
  let [at, item, star, taken] = [0, 0, -1, 0]
  while (item < items.length) {
    const step = pattern[at]
    if (at < pattern.length && isStar(step!)) {
      star = at++
      taken = item
    } else if (at < pattern.length && fits(step!, items[item]!)) {
      at++
      item++
    } else if (star >= 0) {
      at = star + 1
      item = ++taken
    } else return false
  }
  while (at < pattern.length && isStar(pattern[at]!)) at++
  return at === pattern.length
}

type CharTest = (char: string) => boolean

/** Null is a star. */
function tokensOf(chars: readonly string[]): (CharTest | null)[] {
  const tokens: (CharTest | null)[] = []
  for (let at = 0; at < chars.length; at++) {
    const char = chars[at]!
    if (char === '*') {
      if (tokens.at(-1) !== null || tokens.length === 0) tokens.push(null)
    } else if (char === '?') tokens.push(() => true)
    else if (char === '[' && chars.indexOf(']', at + 2) > 0) {
      const end = chars.indexOf(']', at + 2)
      tokens.push(setOf(chars.slice(at + 1, end)))
      at = end
    } else {
      const literal = char === '\\' && at + 1 < chars.length ? chars[++at]! : char
      tokens.push((other) => other === literal)
    }
  }
  return tokens
}

function setOf(chars: readonly string[]): CharTest {
  const negated = chars[0] === '!' || chars[0] === '^'
  const inner = negated ? chars.slice(1) : chars
  const ranges: (readonly [string, string])[] = []
  for (let at = 0; at < inner.length; at++) {
    const ranged = inner[at + 1] === '-' && at + 2 < inner.length
    ranges.push([inner[at]!, inner[ranged ? at + 2 : at]!])
    if (ranged) at += 2
  }
  return (char) => ranges.some(([from, to]) => char >= from && char <= to) !== negated
}

/** Every alternative, or null when there would be more than the budget. */
function writeOutBraces(pattern: string, budget: number): string[] | null {
  const done: string[] = []
  const open = [pattern]
  while (open.length > 0) {
    const next = open.pop()!
    const braces = firstBraces(next)
    if (braces === null) done.push(next)
    else for (const choice of braces.choices) open.push(braces.before + choice + braces.after)
    if (done.length + open.length > budget) return null
  }
  return done.reverse()
}

function firstBraces(pattern: string): { before: string; choices: string[]; after: string } | null {
  for (let from = pattern.indexOf('{'); from >= 0; from = pattern.indexOf('{', from + 1)) {
    if (pattern[from - 1] === '\\') continue
    const choices = ['']
    let depth = 1
    for (let at = from + 1; at < pattern.length; at++) {
      const char = pattern[at]!
      if (char === '{') depth++
      else if (char === '}' && --depth === 0) {
        if (choices.length === 1) break
        return { before: pattern.slice(0, from), choices, after: pattern.slice(at + 1) }
      }
      if (char === ',' && depth === 1) choices.push('')
      else choices[choices.length - 1] += char
    }
  }
  return null
}
