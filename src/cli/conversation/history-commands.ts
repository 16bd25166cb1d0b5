// The commands of a talk that go back: pin a message, rewind to one, resume another session. Where a person can choose,
// the place or the session may be left out.
import { defaults } from '../../settings/defaults.ts'
import { goBack, oneLine, pinMessage, pinnedText, rewoundText } from '../commands/messages.ts'
import { placeIn } from '../commands/undo.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { findSession, openingOf } from '../session-lookup.ts'
import { moment } from '../terminal/tables.ts'
import { Refused } from './conversation.ts'
import { earlierInputs, type Earlier } from '../commands/rewinding.ts'
import { looking, type Choice, type Scene } from './context.ts'

export const pinCommand = (scene: Scene, rest: string): Promise<Exit> =>
  looking(scene, async (session) => {
    const earlier = await chosen(scene, earlierInputs(session), rest, 'Which message shall stay?')
    if (earlier === null) return exits.usage
    scene.place.io.out(pinnedText(earlier.at, await pinMessage(session, earlier.at)))
    return exits.done
  })

export const rewindCommand = (scene: Scene, rest: string): Promise<Exit> =>
  looking(scene, async (session) => {
    const earlier = await chosen(scene, earlierInputs(session), rest, 'Back to before which message?')
    if (earlier === null) return exits.usage
    const withFiles = await scene.choose?.('The files that were changed since?', [
      { value: false, label: 'Leave them as they are' },
      { value: true, label: 'Give them back', about: 'where nobody else touched them since' },
    ])
    if (withFiles === null) return exits.usage
    const given = await goBack(session, earlier, withFiles === true ? scene.preset.store : null)
    scene.place.io.out(rewoundText(earlier, given))
    scene.setInput?.(earlier.words)
    return exits.done
  })

/** By its place, or by choosing. */
async function chosen(
  scene: Scene,
  inputs: readonly Earlier[],
  rest: string,
  title: string,
): Promise<Earlier | null> {
  const { io } = scene.place
  if (rest === '' && scene.choose !== undefined)
    return scene.choose(
      title,
      inputs.map((one): Choice<Earlier> => ({
        value: one,
        label: oneLine(one.words),
        about: `at ${one.at}`,
      })),
    )
  const found = inputs.find((one) => one.at === placeIn(rest))
  if (found !== undefined) return found
  io.err('pal: give the place of a message; these can be seen now:\n')
  for (const { at, words } of inputs) io.err(`  ${at}  ${oneLine(words)}\n`)
  return null
}

export async function resumeCommand(scene: Scene, rest: string): Promise<Exit> {
  const { store } = scene.preset
  const wanted = rest === '' ? await chooseSession(scene) : rest
  if (wanted === null) {
    scene.place.io.err('pal: give the id of a session; pal sessions lists them\n')
    return exits.usage
  }
  const found = await findSession(store, wanted)
  if (!found.ok) throw new Refused(found)
  if (found.session === scene.begun()?.id) {
    scene.place.io.out('this is that session\n')
    return exits.done
  }
  await scene.change(found.session)
  return exits.done
}

/** The newest sessions of the project to choose from; null where nobody chooses. */
export async function chooseSession(scene: Pick<Scene, 'choose' | 'preset'>): Promise<string | null> {
  const { store } = scene.preset
  const choices: Choice<string>[] = []
  for await (const info of store.list()) {
    if (!info.ok || choices.length >= defaults.cli.listedSessions) continue
    const { start, words } = await openingOf(store, info.session)
    if (start?.purpose !== 'main' || words === '') continue
    choices.push({ value: info.session, label: oneLine(words), about: moment(info.modifiedAt) })
  }
  return (await scene.choose?.('Which session?', choices)) ?? null
}
