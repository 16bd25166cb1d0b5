// `/permissions`: the mode and the rules in force, and who gave each; with a word, another mode for the rest of this run.
import { permissionModes } from '../../tools/permission/verdict.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { tellMode } from './mode.ts'
import type { Scene } from './scene.ts'

/** Without any question is only what the command line said. */
const chosen = permissionModes.filter((mode) => mode !== 'bypass')

export async function permissionsCommand(scene: Scene, word: string): Promise<Exit> {
  const { place } = scene
  const { permission } = scene.preset
  const mode = chosen.find((one) => one === word)
  if (word !== '' && mode === undefined) {
    place.io.err(`pal: /permissions wants one of ${chosen.join(', ')}, or nothing\n`)
    return exits.usage
  }
  if (mode !== undefined) {
    permission.setMode(mode)
    const session = scene.begun()
    if (session !== null) await tellMode(session, mode)
  }
  const rules = permission
    .rules()
    .map(({ list, text, source }) => `  ${list.padEnd(5)}  ${safeLine(text)}  (${source})`)
  const shown = rules.length === 0 ? ['  no rules'] : rules
  place.io.out(`the mode is ${permission.mode()}\n${shown.join('\n')}\n`)
  return exits.done
}
