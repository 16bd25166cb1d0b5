// `pal trust`: from now on the settings of this project count.
import { machineFileSystem } from '../../disk/fs.ts'
import { exits, refuse, type Exit } from '../exit-codes.ts'
import { complain } from '../headless.ts'
import type { Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { setTrust } from '../place/trust.ts'
import { openWorkplace, uniqueText } from '../place/workplace.ts'

export interface TrustFlags {
  readonly cwd?: string | undefined
  readonly remove?: boolean | undefined
}

export async function trust(io: Io, flags: TrustFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const { root } = place.project
  const isTrusted = flags.remove !== true
  const kept = await setTrust(machineFileSystem, place.home, root, isTrusted, uniqueText)
  if (!kept.ok) return complain(io, refuse(exits.failed, `that could not be kept: ${kept.failure.message}`))
  io.out(
    `${safeLine(root)} is ${isTrusted ? 'trusted: its settings count from now on' : 'trusted no longer'}.\n`,
  )
  return exits.done
}
