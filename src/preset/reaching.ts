// How models are reached: with what keys and addresses, and which wire each of them speaks.
import type { Model } from '../model/model.ts'
import type { ModelTable } from '../model/models.ts'
import type { Settings } from '../settings/schema.ts'
import { systemClock, type Clock } from '../transcript/ids.ts'
import { anthropicModel } from '../wires/anthropic/adapter.ts'
import { providersOf, type Provider } from '../wires/providers.ts'
import { routedModel, wireChooser } from '../wires/routing.ts'
import type { WireChooser } from '../wires/wire.ts'

export interface Access {
  readonly apiKey?: string | undefined
  readonly authToken?: string | undefined
  readonly baseUrl?: string | undefined
  /** Keys of other providers by name; null where none of them is asked, whatever a model is called. */
  readonly keys?: Readonly<Record<string, string | undefined>> | null | undefined
}

interface Reaching {
  readonly model: Model | Access | undefined
  readonly settings: Settings
  readonly clock?: Clock | undefined
}

const none: ReadonlyMap<string, Provider> = new Map()

const providersFor = ({ model, settings }: Reaching): ReadonlyMap<string, Provider> =>
  model !== undefined && !('stream' in model) && model.keys === null
    ? none
    : providersOf(settings.providers, { gateway: settings.baseUrl !== undefined })

/** Which wire each model speaks. A base URL of the user's own is a gateway of the Messages API: it decides what a name is. */
export const wireIn = (reaching: Reaching, models: ModelTable): WireChooser =>
  wireChooser(providersFor(reaching), models, { gateway: reaching.settings.baseUrl !== undefined })

export function modelIn(reaching: Reaching): Model | undefined {
  const { model, clock } = reaching
  if (model === undefined || 'stream' in model) return model
  return routedModel({
    providers: providersFor(reaching),
    anthropic: anthropicIn(model, clock),
    keys: model.keys ?? {},
    clock,
  })
}

/** A server of one's own may want no key; the adapter sends one in any case. */
function anthropicIn({ apiKey, authToken, baseUrl }: Access, clock: Clock = systemClock): Model | null {
  if (apiKey === undefined && authToken === undefined && baseUrl === undefined) return null
  const key = apiKey ?? (authToken === undefined ? 'none' : undefined)
  return anthropicModel({ apiKey: key, authToken, baseUrl, clock, random: Math.random })
}
