// Sessions that stand or fall together: one that was begun by a person, with its forks, its agents, and the sessions
// branched off from it. What is deleted is deleted by families, since a branch reads its beginning from its parent.
import { machineFileSystem } from '../../disk/fs.ts'
import { projectStore, sessionsFolder } from '../../preset.ts'
import { bytesIn } from '../../stores/files/leftovers.ts'
import { layoutOf } from '../../stores/files/layout.ts'
import type { SessionId } from '../../transcript/ids.ts'
import type { Result } from '../../transcript/store.ts'
import { openingOf } from '../session-lookup.ts'
import type { Workplace } from '../workplace/workplace.ts'

export interface Member {
  readonly session: SessionId
  readonly modifiedAt: number
  /** Transcript and everything beside it. */
  readonly bytes: number
  readonly purpose: string | null
  /** What it was branched off, forked from or started by. */
  readonly above: SessionId | null
  readonly words: string
}

export async function membersOf(place: Workplace): Promise<Result<{ readonly members: readonly Member[] }>> {
  const store = projectStore(place)
  const root = sessionsFolder(place.home, place.project)
  const members: Member[] = []
  for await (const info of store.list()) {
    if (!info.ok) return info
    const { start, words } = await openingOf(store, info.session)
    members.push({
      session: info.session,
      modifiedAt: info.modifiedAt,
      bytes: await bytesIn(machineFileSystem, layoutOf(root, info.session).folder),
      purpose: start?.purpose ?? null,
      above: start?.parent?.session ?? start?.startedBy ?? null,
      words: words.replace(/\s+/g, ' ').trim(),
    })
  }
  return { ok: true, members }
}

/** A session and all that stand on it, parents before their children. */
export function familyOf(members: readonly Member[], root: SessionId): readonly Member[] {
  const family = members.filter(({ session }) => session === root)
  for (let at = 0; at < family.length; at++)
    for (const member of members)
      if (member.above === family[at]!.session && !family.includes(member)) family.push(member)
  return family
}

/** Every family by its oldest session that is there. */
export function familiesOf(members: readonly Member[]): readonly (readonly Member[])[] {
  const known = new Set(members.map(({ session }) => session))
  return members
    .filter(({ above }) => above === null || !known.has(above))
    .map(({ session }) => familyOf(members, session))
}

export const newestIn = (family: readonly Member[]): number =>
  Math.max(...family.map(({ modifiedAt }) => modifiedAt))
export const bytesOf = (family: readonly Member[]): number =>
  family.reduce((sum, { bytes }) => sum + bytes, 0)
