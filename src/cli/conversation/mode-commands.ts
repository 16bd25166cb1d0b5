// What the rest of a conversation runs with. `/model`: the model of this session from now on, chosen from a list with prices
// or given by name. `/permissions`: the mode and the rules.
import { lookUp } from '../../model/models.ts'
import { namedIn, unknownOf } from '../../preset/model-choice.ts'
import { permissionModes, type PermissionMode } from '../../tools/permission/pipeline.ts'
import { unreachable } from '../../wires/providers.ts'
import { describeModel, isCurrent, meantModel, modelList, nameOf } from '../commands/models.ts'
import { explainCall, listRules } from '../commands/permissions.ts'
import { exits, fail, type Exit } from '../exit-codes.ts'
import { ruleProblems } from '../workplace/rule-problems.ts'
import { switchText } from '../terminal/event-text.ts'
import { safeLine } from '../terminal/safe-text.ts'
import type { Workplace } from '../workplace/workplace.ts'
import { modelInUse, type CommandContext } from './context.ts'

export async function modelCommand(context: CommandContext, rest: string): Promise<Exit> {
  const { place, preset } = context
  const { io } = place
  if (/\s/.test(rest)) return fail(io, exits.usage, 'usage: /model [NAME]; a name has no blanks')
  const current = modelInUse(context)
  const name = rest === '' ? await chooseModel(context, current) : rest
  if (name === null) return exits.done
  // A name without a row may be right behind a gateway; one that nearly is a row is a slip.
  const isKnown = lookUp(preset.models, name) !== null || namedIn(place.settings, name).provider !== null
  const guess = isKnown ? null : meantModel(preset.models, name)
  if (guess !== null)
    return fail(
      io,
      exits.usage,
      `unknown model ${safeLine(name)}. Did you mean /model ${guess}? /model alone lists them`,
    )
  const unusable = unknownOf(place.settings, name) ?? unreached(place, name)
  if (unusable !== null) return fail(io, exits.usage, `${unusable}. The model stays ${current}`)
  const session = await context.session()
  const cost = session.switchPrice(name)
  await session.setModel(name)
  context.refresh?.()
  io.out(`Model set to ${safeLine(name)} for this session\n${switchText(cost)}`)
  if (!isKnown)
    io.err(
      'pal: this model is not in the list: its window and price are unknown. The setting models can name them\n',
    )
  return exits.done
}

/** Why its provider cannot be reached, where it is not the Messages API. */
function unreached({ access, settings }: Workplace, name: string): string | null {
  const { provider } = namedIn(settings, name)
  return provider === null || access === null ? null : unreachable(provider, access.keys?.[provider.name])
}

/** Null where nothing was chosen; where nobody can choose, the list itself is the answer. */
async function chooseModel(context: CommandContext, current: string): Promise<string | null> {
  const { place, preset } = context
  if (context.choose === undefined) {
    place.io.out(
      `${modelList(preset.models, current, place.io.columns)}\nusage: /model NAME; the model is ${safeLine(current)}\n`,
    )
    return null
  }
  const rows = [...preset.models.values()].toSorted(
    (a, b) => Number(isCurrent(b, current)) - Number(isCurrent(a, current)),
  )
  return context.choose(
    'Which model?',
    rows.map((info) => ({
      value: nameOf(info),
      label: isCurrent(info, current) ? `${nameOf(info)} (current)` : nameOf(info),
      about: describeModel(info),
    })),
  )
}

// ---- `/permissions`: the mode and the rules in force, and who gave each; with a mode, that one for the rest of this run; with
// `why CALL`, who would decide about a call. And the modes that Shift-Tab goes through ----

/** `bypass` comes from the command line only. */
const modes = permissionModes.filter((mode) => mode !== 'bypass')

export async function permissionsCommand(context: CommandContext, word: string): Promise<Exit> {
  const { place } = context
  const { permission } = context.preset
  const [verb = '', ...rest] = word.split(' ')
  if (verb === 'why') return explainCall(place, context.preset, rest.join(' '), false)
  const mode = modes.find((one) => one === word)
  if (word !== '' && mode === undefined)
    return fail(place.io, exits.usage, `usage: /permissions [MODE | why CALL]; modes: ${modes.join(', ')}`)
  if (mode !== undefined) permission.setMode(mode)
  for (const problem of ruleProblems(place.loaded.rules, place.io.userHome))
    place.io.err(`pal: ${safeLine(problem)}\n`)
  return listRules(place, context.preset, false)
}

/** What Shift-Tab goes through; never `bypass`: that is asked for by name. */
const round: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan']

export const modeAfter = (mode: PermissionMode): PermissionMode =>
  round[(round.indexOf(mode) + 1) % round.length] ?? 'default'
