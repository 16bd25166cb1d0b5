// The settings as the engine takes them: numbers, switches and layers. Pure; nothing is read here.
import { policiesOf, type ToolPolicies } from '../engine/options.ts'
import type { WireThinking } from '../model/wire.ts'
import type { Layer } from '../projection/layer.ts'
import { standardLayers, type LayerOptions } from '../projection/layers/index.ts'
import { defaults } from '../settings/defaults.ts'
import type { Settings } from '../settings/schema.ts'
import type { Tool } from '../tools/tool.ts'

/** Switches of the standard layers, or layers of the caller's own. */
export type GivenLayers = LayerOptions | readonly Layer[] | undefined

export interface Switches extends LayerOptions {
  readonly toolPolicies?: ToolPolicies | undefined
}

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

export function layersOf(given: GivenLayers, switches: Switches, tools: readonly Tool[]): readonly Layer[] {
  if (given !== undefined && isList(given)) return given
  return standardLayers({ policyOf: policiesOf(tools, switches.toolPolicies), ...switches })
}

/** The switches as the settings name them; layers of the caller's own bring theirs with them. */
export const switchesOf = (settings: Settings, given: GivenLayers): Switches => ({
  automaticRemoval: settings.automaticRemoval,
  budget: settings.budget,
  snip: settings.snip,
  microcompact: settings.microcompact,
  timeBased: settings.timeClearing,
  cached: settings.cachedClearing,
  native: settings.nativeClearing,
  autocompact: settings.autocompact,
  pressure: settings.pressureClearing,
  thrift: thriftOf(settings),
  asksModel: settings.modelSummary !== false,
  keep: settings.keepResults,
  digestChars: settings.digestChars,
  toolPolicies: settings.toolPolicies,
  ...(given === undefined || isList(given) ? {} : given),
})

const isList = (given: LayerOptions | readonly Layer[]): given is readonly Layer[] => Array.isArray(given)

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
