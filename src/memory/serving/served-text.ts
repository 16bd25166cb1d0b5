// What callers of served memories read: names, rows, origins and outcomes, in one place.
import { oneLine } from '../recall/recall-text.ts'
import { dayOf } from '../format/day.ts'
import { defaults } from '../../settings/defaults.ts'
import { fenced } from '../../transcript/fence.ts'
import { isRule, type Memory, type MemoryScope, type MemoryType } from '../memory.ts'
import type { MemoryStore } from '../memory-store.ts'
import type { saveMemory } from '../save.ts'

const limits = defaults.serving

export const noSessions = 'sessions are served only for a project that is named with --cwd or as a root'
export const quoted = (text: string): string =>
  fenced('found', {}, text.slice(0, limits.openChars).toWellFormed())
export const nameOf = ({ scope }: { readonly scope: MemoryScope }, { file }: Memory): string =>
  `${scope}/${file}`
export const about = ({ standing, modifiedMs, type, doubtful }: Memory): string =>
  `[${[standing === 'open' ? 'known' : 'data', type ?? 'no type', dayOf(modifiedMs), ...(doubtful === undefined ? [] : [`doubtful: ${oneLine(doubtful)}`])].join(', ')}]`

export function originOf({ provenance }: Memory): string {
  if (provenance === null) return 'origin unknown'
  const { trust, session, from } = provenance
  const parts = [`trust ${trust}`, ...(session === null ? [] : [`session ${session}`]), ...from]
  return `origin: ${parts.map(oneLine).join(', ')}`
}

/** A name as a file, or null where nothing of it is left. */
export function fileOf(name: string): string | null {
  const plain = name.replace(/\.md$/iu, '').normalize('NFC').toLowerCase()
  const slug = plain.replaceAll(/[^\p{L}\p{N}]+/gu, '-').replaceAll(/^-+|-+$/gu, '')
  return slug === '' ? null : `${slug.slice(0, limits.nameChars).toWellFormed()}.md`
}

export const memoryFile = (input: {
  readonly name: string
  readonly description: string
  readonly type: MemoryType
  readonly text: string
}): string =>
  `---\nname: ${JSON.stringify(oneLine(input.name))}\ndescription: ${JSON.stringify(oneLine(input.description))}\ntype: ${input.type}\n---\n${input.text.trim()}\n`

export function outcomeOf(
  store: MemoryStore,
  {
    kind,
    file,
    by,
    version,
    why,
    notes,
  }: Extract<Awaited<ReturnType<typeof saveMemory>>, { kind: 'applied' }>['applied'],
  type: MemoryType,
  isUnproved: boolean,
): string {
  const more = notes.map((note) => ` ${note}.`).join('')
  const quote = isUnproved ? ' The quote stands in no session of ours, so it proves nothing.' : ''
  if (kind === 'held')
    return `${store.scope}/${file} waits for the user (pal memory accept ${version}): ${why}.${quote}${more}`
  if (kind === 'unchanged') return `${store.scope}/${file} says that already.${more}`
  const standing =
    by.trust === 'data' || (by.trust === 'model' && isRule({ type }))
      ? ' It is kept as data: found by searching, told to nobody by itself. A person raises it with pal memory accept, or by saying it to pal.'
      : ''
  return `Saved ${store.scope}/${file} (version ${version}, trust ${by.trust}).${standing}${quote}${more}`
}
