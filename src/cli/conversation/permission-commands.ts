// `/permissions`: the mode and the rules in force, and who gave each; with a mode, that one for the rest of this run; with
// `why CALL`, who would decide about a call.
import { permissionModes } from '../../tools/permission/verdict.ts'
import { explainCall, listRules } from '../commands/permissions.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { tellMode } from './mode.ts'
import type { Scene } from './context.ts'

/** Without any question is only what the command line said. */
const chosen = permissionModes.filter((mode) => mode !== 'bypass')

export async function permissionsCommand(scene: Scene, word: string): Promise<Exit> {
  const { place } = scene
  const { permission } = scene.preset
  const [verb = '', ...rest] = word.split(' ')
  if (verb === 'why') return explainCall(place, scene.preset, rest.join(' '), false)
  const mode = chosen.find((one) => one === word)
  if (word !== '' && mode === undefined) {
    place.io.err(`pal: /permissions wants one of ${chosen.join(', ')}, why CALL, or nothing\n`)
    return exits.usage
  }
  if (mode !== undefined) {
    permission.setMode(mode)
    const session = scene.begun()
    if (session !== null) await tellMode(session, mode)
  }
  return listRules(place.io, scene.preset, false)
}
