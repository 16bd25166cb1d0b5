// Whose a folder is. What lies in a folder that somebody else owns, or may write to, was not necessarily put there by us.
import { lstat, stat } from 'node:fs/promises'
import { systemCode } from './fs.ts'

export interface Ownership {
  /** The user id of its owner. */
  readonly owner: number
  readonly isOurs: boolean
  /** Whether its group or everybody may write to it. */
  readonly isOpen: boolean
}

/** Of what a link leads to, too: its own mode says nothing. Null where there is no such folder, or the system knows no owners. */
export async function ownershipOf(path: string): Promise<Ownership | null> {
  const us = process.getuid?.()
  if (us === undefined) return null
  try {
    const named = await lstat(path)
    const { uid, mode } = named.uid === us && named.isSymbolicLink() ? await stat(path) : named
    return { owner: uid, isOurs: uid === us, isOpen: (mode & 0o022) !== 0 }
  } catch (error) {
    if (systemCode(error) === null) throw error
    return null
  }
}
