// The commands that go back: pin a message, rewind to one, compact from or up to one, resume another session. Where a person can choose,
// the place or the session may be left out.
import { defaults } from '../../settings/defaults.ts'
import {
  earlierInputs,
  goBack,
  oneLine,
  pinMessage,
  pinnedText,
  rewoundText,
  type EarlierInput,
} from '../commands/messages.ts'
import { describeCompaction, placeIn } from '../commands/undo.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { findSession, openingOf } from '../session-lookup.ts'
import { moment } from '../terminal/tables.ts'
import { withSession, type Choice, type CommandContext } from './context.ts'
import { RefusedError } from './conversation.ts'

export const pinCommand = (context: CommandContext, rest: string): Promise<Exit> =>
  withSession(context, async (session) => {
    const earlier = await chosen(context, earlierInputs(session), rest, 'Which message shall stay?')
    if (earlier === null) return exits.usage
    context.place.io.out(pinnedText(earlier.at, await pinMessage(session, earlier.at)))
    return exits.done
  })

/** Of everything, or of what follows or precedes a message: by its number, or by choosing. */
export const compactCommand = (context: CommandContext, rest: string): Promise<Exit> =>
  withSession(context, async (session) => {
    const [, side, number = '', words = ''] = /^(?:--(from|up-to)(?:\s+(\d+))?(?:\s+|$))?(.*)$/su.exec(rest)!
    const instructions = words.trim() === '' ? undefined : words.trim()
    const ask = { instructions, from: undefined, upTo: undefined }
    const title = side === 'from' ? 'Compact from which message on?' : 'Compact up to which message?'
    const earlier = side === undefined ? null : await chosen(context, earlierInputs(session), number, title)
    if (side !== undefined && earlier === null) return exits.usage
    const at = earlier?.at
    const made = await session.compact(side === 'from' ? { ...ask, from: at } : { ...ask, upTo: at })
    context.place.io.out(describeCompaction(made))
    return exits.done
  })

export const rewindCommand = (context: CommandContext, rest: string): Promise<Exit> =>
  withSession(context, async (session) => {
    const earlier = await chosen(context, earlierInputs(session), rest, 'Back to before which message?')
    if (earlier === null) return exits.usage
    const withFiles = await context.choose?.('The files that were changed since?', [
      { value: false, label: 'Leave them as they are' },
      { value: true, label: 'Give them back', about: 'where nobody else touched them since' },
    ])
    if (withFiles === null) return exits.usage
    const given = await goBack(session, earlier, withFiles === true ? context.preset.store : null)
    context.place.io.out(rewoundText(earlier, given))
    context.setInput?.(earlier.words)
    return exits.done
  })

/** By its place, or by choosing. */
async function chosen(
  context: CommandContext,
  inputs: readonly EarlierInput[],
  rest: string,
  title: string,
): Promise<EarlierInput | null> {
  const { io } = context.place
  if (rest === '' && context.choose !== undefined)
    return context.choose(
      title,
      inputs.map((one): Choice<EarlierInput> => ({
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

export async function resumeCommand(context: CommandContext, rest: string): Promise<Exit> {
  const { store } = context.preset
  const wanted = rest === '' ? await chooseSession(context) : rest
  if (wanted === null) {
    context.place.io.err('pal: give the id of a session; pal sessions lists them\n')
    return exits.usage
  }
  const found = await findSession(store, wanted)
  if (!found.ok) throw new RefusedError(found)
  if (found.session === context.begun()?.id) {
    context.place.io.out('this is that session\n')
    return exits.done
  }
  await context.change(found.session)
  return exits.done
}

/** The newest sessions of the project to choose from; null where nobody chooses. */
export async function chooseSession(
  context: Pick<CommandContext, 'choose' | 'preset'>,
): Promise<string | null> {
  const { store } = context.preset
  const choices: Choice<string>[] = []
  for await (const info of store.list()) {
    if (!info.ok || choices.length >= defaults.cli.listedSessions) continue
    const { start, words } = await openingOf(store, info.session)
    if (start?.purpose !== 'main' || words === '') continue
    choices.push({ value: info.session, label: oneLine(words), about: moment(info.modifiedAt) })
  }
  return (await context.choose?.('Which session?', choices)) ?? null
}
