// The model that the settings choose, and the table of models with their rows.
import { modelTable, type ModelTable } from '../model/models.ts'
import { defaults } from '../settings/defaults.ts'
import type { Settings } from '../settings/schema.ts'
import { missingOf, modelNamed, providersOf, type NamedModel } from '../wires/providers.ts'

export const modelOf = (settings: Settings): string => settings.model ?? defaults.preset.model

export function tableOf(settings: Settings): ModelTable {
  return modelTable(
    (settings.models ?? []).map(({ prices, ...row }) => ({ ...row, ...(prices && { prices }) })),
  )
}

/** Who a model of these settings is asked of. Behind a base URL of one's own a name without a provider is that server's. */
export function namedIn(settings: Settings, id: string): NamedModel {
  const gateway = settings.baseUrl !== undefined
  if (gateway && !id.includes('/')) return { provider: null, model: id }
  return modelNamed(id, providersOf(settings.providers, { gateway }), tableOf(settings))
}

/** Why a model cannot be used: what of it is not known and which setting says it. Null where all is known. */
export const unknownOf = (settings: Settings, id: string = modelOf(settings)): string | null =>
  missingOf(
    id,
    namedIn(settings, id),
    tableOf(settings),
    settings.window,
    settings.baseUrl === undefined ? providersOf(settings.providers) : null,
  )
