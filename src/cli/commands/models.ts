// `pal models` and the list of `/model`: the models that are known, with their window and prices. Others can be used too,
// by name; the settings can give them a row.
import type { ModelInfo, ModelTable } from '../../model/models.ts'
import { modelOf, tableOf } from '../../preset.ts'
import { serverNamed } from '../../wires/servers.ts'
import { print, complain, type Exit } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { nearest } from '../terminal/suggest.ts'
import { prose, short, table, right, left } from '../terminal/tables.ts'
import { openWorkplace, type ProjectFlags } from '../workplace/workplace.ts'

export async function models(io: Io, flags: ProjectFlags): Promise<Exit> {
  const place = await openWorkplace(io, { cwd: flags.cwd })
  if (!place.ok) return complain(io, place)
  const rows = tableOf(place.settings)
  const current = modelOf(place.settings)
  return print(
    io,
    flags.json,
    { current, models: [...rows.values()] },
    () =>
      modelList(rows, current, io.columns) +
      prose(
        '\nPrices are dollars for a million tokens. Set one with pal --model NAME, /model, or pal config model NAME. Others by PROVIDER/NAME (docs/providers.md).\n',
        io.columns,
      ),
  )
}

export function modelList(rows: ModelTable, current: string, room: number): string {
  return table(
    [
      'model',
      right('window'),
      right('input'),
      right('output'),
      right('cache read', 1),
      right('cache write', 2),
      left('', 3),
    ],
    [...rows.values()].map((info) => [
      nameOf(info),
      short(info.window),
      ...ratesOf(info),
      isCurrent(info, current) ? 'current' : '',
    ]),
    room,
  )
}

/** Which model somebody may have meant by a name that is not known: one that is spelled nearly so, or the newest that has it in its name. */
export function meantModel(rows: ModelTable, name: string): string | null {
  const ids = [...rows.keys()]
  const id = nearest(name, ids) ?? ids.find((each) => each.includes(name.toLowerCase()))
  const info = id === undefined ? undefined : rows.get(id)
  return info === undefined ? null : nameOf(info)
}

/** As it is asked for: a model of another maker by its provider. */
export const nameOf = ({ id, provider }: ModelInfo): string =>
  serverNamed(provider) === null ? id : `${provider}/${id}`

export const isCurrent = (info: ModelInfo, current: string): boolean =>
  info.id === current || nameOf(info) === current

const ratesOf = ({ prices }: ModelInfo): readonly string[] =>
  prices === null
    ? ['?', '?', '?', '?']
    : [prices.input, prices.output, prices.read, prices.write5m].map((rate) => `$${rate.toFixed(2)}`)

/** A model in one line, for a list to choose from. */
export function describeModel({ window, prices }: ModelInfo): string {
  const rates =
    prices === null ? 'price unknown' : `$${prices.input.toFixed(2)} in, $${prices.output.toFixed(2)} out`
  return `${rates}, ${short(window)}`
}
