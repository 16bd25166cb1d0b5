// The names a memory may have (law M2). A name is checked as text first, so that nothing strange ever
// reaches the disk, and then against its neighbours: two names that a careless file system takes for one are refused.
import { defaults } from '../../settings/defaults.ts'
import { foldName } from '../../disk/safe-name.ts'
import { diaryFolder, indexName } from '../memory.ts'
import { hiddenIn } from './hidden.ts'

const device = /^(?:con|prn|aux|nul|com\d|lpt\d|conin\$|conout\$|clock\$)(?:\.|$)/i
const unfit = /[<>:"|?*\\]|\p{Cc}/u

/** Why a path (relative, with slashes) can be no memory's; null when it can. */
export function nameRefusal(file: string): string | null {
  const { pathChars, nameBytes, depth } = defaults.memory
  if (file === '' || file.startsWith('/')) return 'a memory has a path inside its folder'
  if (file.length > pathChars) return `its path is longer than ${pathChars} characters`
  if (!file.isWellFormed() || unfit.test(file) || hiddenIn(file).length > 0)
    return 'its name holds characters that not every system takes, or that cannot be seen'
  if (file !== file.normalize('NFC')) return 'its name is not composed (NFC), so it could exist twice'
  const parts = file.split('/')
  if (parts.length > depth) return `it lies deeper than ${depth} folders`
  for (const part of parts) {
    if (part === '' || part.startsWith('.')) return 'no part of its path may be empty or begin with a dot'
    if (/[. ]$/.test(part) || part.startsWith(' '))
      return 'no part of its path may begin or end with a blank or end with a dot'
    if (Buffer.byteLength(part) > nameBytes) return `a part of its path is longer than ${nameBytes} bytes`
    if (device.test(part) || /~\d/.test(part))
      return 'its name means a device or a short form on some systems'
  }
  if (!file.endsWith('.md')) return 'a memory is a markdown file: its name ends with .md'
  if (foldName(file) === foldName(indexName))
    return `${indexName} is the index, which is made from the memories themselves`
  if (foldName(parts[0]!) === diaryFolder) return `${diaryFolder}/ holds the diaries`
  return null
}

/** A name among these that is another way to write this one, or null. */
export function twinOf(name: string, others: readonly string[]): string | null {
  const folded = foldName(name)
  return others.find((other) => other !== name && foldName(other) === folded) ?? null
}
