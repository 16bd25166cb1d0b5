// The commands that go back: pin a message, rewind to one, compact from or up to one, resume another session. Where a
// person can choose, the number or the session may be left out.
import { defaults } from '../../settings/defaults.ts'
import {
  earlierInputs,
  goBack,
  oneLine,
  pinMessage,
  pinnedBy,
  pinnedText,
  rewoundText,
  type EarlierInput,
} from '../commands/messages.ts'
import { describeCompaction, placeIn } from '../commands/undo.ts'
import { exits, fail, type Exit } from '../exit-codes.ts'
import { findSession, openingOf } from '../session-lookup.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { moment } from '../terminal/tables.ts'
import { withSession, type Choice, type CommandContext } from './context.ts'
import { RefusedError } from './conversation.ts'
import { escaped } from './input-line.ts'

export const pinCommand = (context: CommandContext, rest: string): Promise<Exit> =>
  withSession(context, async (session) => {
    const inputs = (await earlierInputs(context.preset.store, session)).filter(
      ({ isInContext, at }) => isInContext || at === placeIn(rest),
    )
    const earlier = await chosen(context, inputs, rest, 'Pin which message?')
    if (earlier === null) return exits.usage
    context.place.io.out(pinnedText(earlier.at, await pinMessage(session, earlier), '/'))
    return exits.done
  })

/** Of everything, or of what follows or precedes a message: by its number, or by choosing. */
export const compactCommand = (context: CommandContext, rest: string): Promise<Exit> =>
  withSession(context, async (session) => {
    const [, side, number = '', words = ''] = /^(?:--(from|up-to)(?:\s+(\d+))?(?:\s+|$))?(.*)$/su.exec(rest)!
    const instructions = words.trim() === '' ? undefined : words.trim()
    const ask = { instructions, from: undefined, upTo: undefined }
    const title = side === 'from' ? 'Compact from which message on?' : 'Compact up to which message?'
    const inputs = (await earlierInputs(context.preset.store, session)).filter((one) => one.isInContext)
    const earlier = side === undefined ? null : await chosen(context, inputs, number, title)
    if (side !== undefined && earlier === null) return exits.usage
    const at = earlier?.at
    const made = await session.compact(side === 'from' ? { ...ask, from: at } : { ...ask, upTo: at })
    context.place.io.out(describeCompaction(made, '/'))
    context.refresh?.()
    return exits.done
  })

export const rewindCommand = (context: CommandContext, rest: string): Promise<Exit> =>
  withSession(context, async (session) => {
    const inputs = await earlierInputs(context.preset.store, session)
    const earlier = await chosen(context, inputs, rest, 'Rewind to before which message?')
    if (earlier === null) return exits.usage
    const withFiles = await context.choose?.('Restore the files that were changed since?', [
      { value: false, label: 'No, keep them as they are' },
      { value: true, label: 'Yes, restore them', about: 'where nobody else changed them since' },
    ])
    if (withFiles === null) return exits.usage
    const given = await goBack(session, earlier, withFiles === true ? context.preset.store : null)
    const left = inputs.filter(({ at }) => at >= earlier.at).toReversed()
    context.removeMessages?.(left.map(({ words }) => words))
    context.place.io.out(rewoundText(earlier, given))
    context.refresh?.()
    context.setInput?.(escaped(earlier.words))
    return exits.done
  })

/** By its number, or by choosing. */
async function chosen(
  context: CommandContext,
  inputs: readonly EarlierInput[],
  rest: string,
  title: string,
): Promise<EarlierInput | null> {
  const { io } = context.place
  if (inputs.length === 0) {
    io.err(
      'pal: every message is compacted; summaries keep what you said verbatim. /edits lists the compactions, /undo N restores one\n',
    )
    return null
  }
  if (rest === '' && context.choose !== undefined)
    return context.choose(
      title,
      inputs.map((one): Choice<EarlierInput> => ({
        value: one,
        label: oneLine(one.words),
        about: [`#${one.at}`, ...(one.isInContext ? [] : ['compacted']), ...pinnedBy(one.pins)].join(', '),
      })),
    )
  const found = inputs.find((one) => one.at === placeIn(rest))
  if (found !== undefined) return found
  io.err('pal: give the number of a message:\n')
  for (const { at, words, pins } of inputs)
    io.err(`  ${[`#${at}`, safeLine(oneLine(words)), ...pinnedBy(pins)].join('  ')}\n`)
  return null
}

export async function resumeCommand(context: CommandContext, rest: string): Promise<Exit> {
  const { store } = context.preset
  const wanted = rest === '' ? await chooseSession(context) : rest
  if (wanted === null)
    return fail(context.place.io, exits.usage, 'usage: /resume ID; !pal sessions lists the ids')
  const found = await findSession(store, wanted, '/resume')
  if (!found.ok) throw new RefusedError(found)
  if (found.session === context.begun()?.id) {
    context.place.io.out('you are in that session already\n')
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
    const { isMain, words } = await openingOf(store, info.session)
    if (!isMain || words === '') continue
    choices.push({ value: info.session, label: oneLine(words), about: moment(info.modifiedAt) })
  }
  return (await context.choose?.('Which session?', choices)) ?? null
}
