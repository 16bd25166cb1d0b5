// A rule as it is written in the settings: the name of a tool, and in brackets what of it is meant.
//
//   Bash                    every command          Bash(npm test)      this one     Bash(git log *)   with any words behind
//   Read(~/notes/**)        reading, Grep, Glob    Edit(src/**)        Edit and Write
//   WebFetch(domain:x.org)  and what lies below    mcp__server__tool   mcp__server  (all of its tools)
//
// Paths: `/…` from the root of the disk, `~/…` from the user's home, everything else from the project.
import type { GivenRule } from '../../settings/rule-list.ts'
import { compileGlob } from '../search/glob-pattern.ts'

export interface Rule extends GivenRule {
  readonly tool: string
  /** Null: all of the tool. */
  readonly what: string | null
  readonly matchesPath: ((path: string) => boolean) | null
}

export type ParsedRule =
  | { readonly ok: true; readonly rule: Rule }
  | { readonly ok: false; readonly why: string }

/** Tools whose rules may name paths: which kind of rule speaks for which tool. */
const pathKinds: Readonly<Record<string, 'Read' | 'Edit'>> = {
  Read: 'Read',
  Grep: 'Read',
  Glob: 'Read',
  Edit: 'Edit',
  Write: 'Edit',
}
export const pathKind = (tool: string): 'Read' | 'Edit' | null =>
  Object.hasOwn(pathKinds, tool) ? pathKinds[tool]! : null

export function parseRule(given: GivenRule): ParsedRule {
  const text = given.text.trim()
  const [, tool = '', inner] = /^([A-Za-z][\w.-]*\*?)(?:\(([\s\S]*)\))?$/.exec(text) ?? []
  const bad = (why: string): ParsedRule => ({ ok: false, why: `the rule ${JSON.stringify(text)} ${why}` })
  if (tool === '') return bad('is no tool name, or a name with something in brackets, as Bash(npm test)')
  if (tool.includes('*') && !tool.startsWith('mcp__')) return bad('may have a star only behind mcp__')
  const named = inner === undefined || /^\s*\*?\s*$/.test(inner) ? null : inner.trim()
  const what = named === '~' && pathKind(tool) !== null ? '~/**' : named
  const base = { ...given, text, tool, what, matchesPath: null }
  // What of Bash is meant is read with the command it is compared with.
  if (what === null || tool === 'Bash') return { ok: true, rule: base }
  if (tool === 'WebFetch')
    return /^domain:[a-z0-9.-]+$/i.test(what)
      ? { ok: true, rule: { ...base, what: what.toLowerCase() } }
      : bad('must name a host, as WebFetch(domain:example.org)')
  if (pathKind(tool) === null) return bad(`says more than ${tool} understands; only its name can be given`)
  const glob = compileGlob(what.replace(/^~\//, '/'))
  if (!glob.ok) return bad(`cannot be followed: ${glob.why}`)
  return { ok: true, rule: { ...base, matchesPath: glob.matches } }
}

/** Whether a rule speaks of a tool at all. */
export function isAbout(rule: Rule, tool: string): boolean {
  if (rule.tool === tool) return true
  if (rule.tool.startsWith('mcp__')) {
    const name = rule.tool.replace(/(?:__)?\*$/, '')
    const isServer = rule.tool !== name || !/^mcp__.+?__/.test(rule.tool)
    return isServer && (tool === name || tool.startsWith(`${name}__`))
  }
  const kind = pathKind(tool)
  return (
    kind !== null && (rule.tool === kind || (kind === 'Edit' && rule.tool === 'Write' && rule.what !== null))
  )
}

/** Whether a rule with a path speaks of this real path. */
export function isAboutPath(
  rule: Rule,
  real: string,
  place: { readonly root: string; readonly home: string | undefined },
): boolean {
  if (rule.what === null || rule.matchesPath === null) return false
  const from = rule.what.startsWith('~/') ? place.home : rule.what.startsWith('/') ? '' : place.root
  if (from === undefined) return false
  if (real !== from && !real.startsWith(`${from}/`)) return false
  return rule.matchesPath(real.slice(from.length + 1))
}

/** Whether a rule for WebFetch speaks of this host. */
export function isAboutHost(rule: Rule, host: string): boolean {
  if (rule.what === null) return true
  const domain = rule.what.slice('domain:'.length)
  return host === domain || host.endsWith(`.${domain}`)
}
