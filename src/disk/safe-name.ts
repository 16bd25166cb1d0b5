// Ids that come from outside become file names here and nowhere else. A plain id is its own name; any
// other becomes the hash of its bytes, so that different ids never meet in one file and none can leave its folder.
import { createHash } from 'node:crypto'

const plain = /^[A-Za-z0-9_-]{1,128}$/
const device = /^(con|prn|aux|nul|com[0-9]|lpt[0-9]|conin|conout|clock)$/i

/** A name that is safe in any folder of any system. A name that this function gave is its own safe name. */
export function safeName(id: string): string {
  return plain.test(id) && !device.test(id) ? id : `sha256-${createHash('sha256').update(id).digest('hex')}`
}

/**
 * How a careless file system compares names: composed, without case, without what Windows drops at the end
 * and without the name of a stream, by which a folder has a second name there.
 * Two names that fold alike may be the same file, so protected names are compared folded.
 */
export function foldName(name: string): string {
  return name
    .normalize('NFC')
    .replace(/:[^:]*:\$[a-z_]+$/i, '')
    .replace(/[. ]+$/, '')
    .toLowerCase()
    .normalize('NFC')
}
