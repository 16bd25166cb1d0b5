// The settings as the engine takes them: numbers, switches and layers. Pure; nothing is read here.
import type { WireThinking } from '../model/wire.ts'
import type { Layer } from '../projection/layer.ts'
import type { LayerOptions } from '../projection/layers/index.ts'
import { defaults } from '../settings/defaults.ts'
import type { Settings } from '../settings/schema.ts'

/** Switches of the standard layers, or layers of the caller's own. */
export type GivenLayers = LayerOptions | readonly Layer[] | undefined

export const choicesOf = (settings: Settings) => ({
  caps: { dollars: settings.maxCost, tokens: settings.maxTokens },
  window: settings.window,
  threshold: settings.threshold,
  thrift: thriftOf(settings),
  pressureClearing: settings.pressureClearing,
  toolPolicies: settings.toolPolicies,
  maxOutputTokens: settings.maxOutputTokens,
  thinking: thinkingOf(settings),
  effort: settings.effort,
  cacheLifetime: settings.cacheLifetime === 'off' ? null : settings.cacheLifetime,
})

export const restorationOf = (settings: Settings) => ({
  files: settings.restoreFiles === undefined ? undefined : settings.restoreFiles > 0,
  fileCount: settings.restoreFiles,
  fileTokens: settings.restoreFileTokens,
})

/** The switches as the settings name them; layers of the caller's own bring theirs with them. */
export const switchesOf = (settings: Settings, given: GivenLayers): LayerOptions => ({
  automaticRemoval: settings.automaticRemoval,
  budget: settings.budget,
  snip: settings.snip,
  microcompact: settings.microcompact,
  timeClearing: settings.timeClearing,
  cachedClearing: settings.cachedClearing,
  nativeClearing: settings.nativeClearing,
  autocompact: settings.autocompact,
  pressureClearing: settings.pressureClearing,
  thrift: thriftOf(settings),
  keepResults: settings.keepResults,
  digestChars: settings.digestChars,
  ...(given === undefined || isList(given) ? {} : given),
})

export const isList = (given: LayerOptions | readonly Layer[]): given is readonly Layer[] =>
  Array.isArray(given)

/** A place of the dial by its name. */
function thriftOf({ thrift }: Settings): number | undefined {
  return typeof thrift === 'string' ? defaults.dial.names[thrift] : thrift
}

export function thinkingOf(settings: Settings): WireThinking | undefined {
  const { thinking } = settings
  if (thinking === undefined) return undefined
  if (typeof thinking === 'number') return { type: 'enabled', budget_tokens: thinking }
  return { type: thinking === 'off' ? 'disabled' : 'adaptive' }
}
