// `pal login` and `pal logout`: keeping and forgetting an API key.
import { machineFileSystem } from '../../disk/fs.ts'
import { credentialsFile, forgetKey, keepKey } from '../workplace/access.ts'
import { exits, refuse, type Exit } from '../exit-codes.ts'
import { complain } from '../headless.ts'
import type { Io } from '../terminal/io.ts'
import { homeOf, uniqueText } from '../workplace/workplace.ts'

export async function login(io: Io): Promise<Exit> {
  const typed = io.inIsTerminal ? { ok: true as const, text: await io.secret('API key: ') } : await io.piped()
  if (!typed.ok) return complain(io, refuse(exits.usage, typed.why))
  const key = (typed.text ?? '').trim()
  if (key === '' || /\s/.test(key))
    return complain(io, refuse(exits.usage, 'that is no key: it must be one word. Nothing was kept'))
  const home = homeOf(io)
  const kept = await keepKey(machineFileSystem, home, key, uniqueText)
  if (!kept.ok)
    return complain(io, refuse(exits.failed, `the key could not be kept: ${kept.failure.message}`))
  io.out(`The key is kept in ${credentialsFile(home)}, for you only. pal logout forgets it.\n`)
  return exits.done
}

export async function logout(io: Io): Promise<Exit> {
  const forgotten = await forgetKey(machineFileSystem, homeOf(io))
  if (!forgotten.ok)
    return complain(io, refuse(exits.failed, `the key could not be removed: ${forgotten.failure.message}`))
  io.out(forgotten.had ? 'The key is forgotten.\n' : 'No key was kept.\n')
  return exits.done
}
