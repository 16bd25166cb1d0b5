// The words of what a model reads: those of the field, one form for one act, and a next step behind every refusal. Models
// copy what they read.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const folder = join(import.meta.dirname, '..', 'golden', 'requests')
const pages = readdirSync(folder).filter((name) => name.endsWith('.md'))

const foreign =
  /\b(?:talk|put away|puts away|mend(?:ed|s)?|in vain|side by side|follows? by itself|theirs to say|gives? back|given back|the matter|words of the user|the user's words|only looks|capsule|does not fit|hard to take back|account of)\b/iu
/** The one form is Expand {"ref": "12"}. */
const otherExpand = /\bexpand (?!it\b)[\d"]|\bExpand (?:with|\d)|use Expand\b/u

describe('what a model reads', () => {
  it.each(pages)('[Q11] %s uses the words of the field', (name) => {
    const text = readFileSync(join(folder, name), 'utf8')
    expect(foreign.exec(text)?.[0]).toBeUndefined()
    expect(otherExpand.exec(text)?.[0]).toBeUndefined()
  })
  it('[Q11] every refusal of a call names a next step', () => {
    const denied =
      readFileSync(join(folder, 'denied.md'), 'utf8').match(/^user: \[result\] .*denied.*$/gmu) ?? []
    expect(denied.length).toBeGreaterThanOrEqual(4)
    for (const line of denied) expect(line).toMatch(/Go on without it|ask what to do instead/u)
  })
})
