// `/permissions`: the mode and the rules in force, and who gave each; with a mode, that one for the rest of this run; with
// `why CALL`, who would decide about a call. And the modes that Shift-Tab goes through.
import { permissionModes, type PermissionMode } from '../../tools/permission/pipeline.ts'
import { explainCall, listRules } from '../commands/permissions.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { ruleProblems } from '../workplace/rule-problems.ts'
import type { CommandContext } from './context.ts'

/** `bypass` comes from the command line only. */
const modes = permissionModes.filter((mode) => mode !== 'bypass')

export async function permissionsCommand(context: CommandContext, word: string): Promise<Exit> {
  const { place } = context
  const { permission } = context.preset
  const [verb = '', ...rest] = word.split(' ')
  if (verb === 'why') return explainCall(place, context.preset, rest.join(' '), false)
  const mode = modes.find((one) => one === word)
  if (word !== '' && mode === undefined) {
    place.io.err(`pal: usage: /permissions [MODE | why CALL]; modes: ${modes.join(', ')}\n`)
    return exits.usage
  }
  if (mode !== undefined) permission.setMode(mode)
  for (const problem of ruleProblems(place.loaded.rules, place.io.userHome))
    place.io.err(`pal: ${safeLine(problem)}\n`)
  return listRules(place, context.preset, false)
}

/** What Shift-Tab goes through; never `bypass`: that is asked for by name. */
const round: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan']

export const modeAfter = (mode: PermissionMode): PermissionMode =>
  round[(round.indexOf(mode) + 1) % round.length] ?? 'default'
