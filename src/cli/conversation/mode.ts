// The permission mode of a talk: what Shift-Tab goes through, and what the model is told when it changes. The rules are
// kept by the permission itself; the words only save the model vain calls.
import type { Session } from '../../engine/session.ts'
import type { PermissionMode } from '../../tools/permission/index.ts'

/** Never into `bypass`: that is asked for by name. */
const round: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan']

export const modeAfter = (mode: PermissionMode): PermissionMode =>
  round[(round.indexOf(mode) + 1) % round.length] ?? 'default'

const words: Readonly<Record<PermissionMode, string>> = {
  default: 'From now on calls that change something are shown to the user first, who may refuse them.',
  acceptEdits:
    'From now on edits of files in the project run without being asked about; other calls are still shown.',
  plan: 'From now on nothing may be changed: look, think, and propose a plan. When the plan is whole, say so and wait for the user to end this mode.',
  dontAsk: 'From now on nobody is asked: calls run only where a rule allows them.',
  bypass: 'From now on calls run without being asked about.',
}

export async function tellMode(session: Session, mode: PermissionMode): Promise<void> {
  await session.attach('mode', `<mode name="${mode}">${words[mode]}</mode>`)
}
