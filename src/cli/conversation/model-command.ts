// `/model`: the model of this session from now on, chosen from a list with prices or given by name.
import { lookUp } from '../../model/models.ts'
import { describeModel, modelList } from '../commands/models.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { nearest } from '../terminal/suggest.ts'
import { modelInUse, type CommandContext } from './context.ts'

export async function modelCommand(context: CommandContext, rest: string): Promise<Exit> {
  const { place, preset } = context
  const { io } = place
  if (/\s/.test(rest)) {
    io.err('pal: usage: /model [NAME]; a name has no blanks\n')
    return exits.usage
  }
  const current = modelInUse(context)
  const name = rest === '' ? await chooseModel(context, current) : rest
  if (name === null) return exits.done
  // A name without a row may be right behind a gateway; one that nearly is a row is a slip.
  const isKnown = lookUp(preset.models, name) !== null
  const ids = [...preset.models.keys()]
  const guess = isKnown ? null : (nearest(name, ids) ?? ids.find((id) => id.includes(name.toLowerCase())))
  if (guess !== null && guess !== undefined) {
    io.err(`pal: unknown model ${safeLine(name)}. Did you mean /model ${guess}? /model alone lists them\n`)
    return exits.usage
  }
  await (await context.session()).setModel(name)
  context.refresh?.()
  io.out(`Model set to ${safeLine(name)} for this session\n`)
  if (!isKnown)
    io.err(
      'pal: this model is not in the list: its window and price are unknown. The setting models can name them\n',
    )
  return exits.done
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
    (a, b) => Number(b.id === current) - Number(a.id === current),
  )
  return context.choose(
    'Which model?',
    rows.map((info) => ({
      value: info.id,
      label: info.id === current ? `${info.id} (current)` : info.id,
      about: describeModel(info),
    })),
  )
}
