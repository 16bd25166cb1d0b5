// `/permissions`: the mode and the rules in force, and who gave each; with a mode, that one for the rest of this run; with
// `why CALL`, who would decide about a call. And the modes that Shift-Tab goes through.
import type { Session } from '../../engine/session.ts'
import type { PermissionMode } from '../../tools/permission/index.ts'
import { fenced } from '../../transcript/fence.ts'
import { permissionModes } from '../../tools/permission/verdict.ts'
import { explainCall, listRules } from '../commands/permissions.ts'
import { exits, type Exit } from '../exit-codes.ts'
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
    place.io.err(`pal: /permissions wants one of ${modes.join(', ')}, why CALL, or nothing\n`)
    return exits.usage
  }
  if (mode !== undefined) {
    permission.setMode(mode)
    const session = context.begun()
    if (session !== null) await tellMode(session, mode)
  }
  return listRules(place.io, context.preset, false)
}

/** What Shift-Tab goes through; never `bypass`: that is asked for by name. */
const round: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan']

export const modeAfter = (mode: PermissionMode): PermissionMode =>
  round[(round.indexOf(mode) + 1) % round.length] ?? 'default'

/** What the model is told. The rules are kept by the permission itself; this only saves vain calls. */
const modeTexts: Readonly<Record<PermissionMode, string>> = {
  default: 'From now on calls that change something are shown to the user first, who may refuse them.',
  acceptEdits:
    'From now on edits of files in the project run without being asked about; other calls are still shown.',
  plan: 'From now on nothing may be changed: look, think, and propose a plan. When the plan is whole, say so and wait for the user to end this mode.',
  dontAsk: 'From now on nobody is asked: calls run only where a rule allows them.',
  bypass: 'From now on calls run without being asked about.',
}

export async function tellMode(session: Session, mode: PermissionMode): Promise<void> {
  await session.attach('mode', fenced('mode', { name: mode }, modeTexts[mode]))
}
