// Whose a folder is. What lies in a folder that somebody else owns, or may write to, was not necessarily put there by us.
import { lstat } from 'node:fs/promises'
import { systemCode } from './fs.ts'

export interface Ownership {
  /** The user id of its owner. */
  readonly owner: number
  readonly isOurs: boolean
  /** Whether its group or everybody may write to it. */
  readonly isOpen: boolean
}

/** Null where there is no such folder, or the system knows no owners. */
export async function ownershipOf(path: string): Promise<Ownership | null> {
  const us = process.getuid?.()
  if (us === undefined) return null
  try {
    const { uid, mode } = await lstat(path)
    return { owner: uid, isOurs: uid === us, isOpen: (mode & 0o022) !== 0 }
  } catch (error) {
    if (systemCode(error) === undefined) throw error
    return null
  }
}
