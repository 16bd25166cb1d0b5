// The whole agent, as `pal` has it, for one claimed session: over the team's database, with its requests held to the budgets and
// its questions kept for a person.
import { randomUUID } from 'node:crypto'
import { refused } from '../disk/failure.ts'
import { defaults } from '../settings/defaults.ts'
import { createPreset, tableOf, type PresetOptions } from '../preset.ts'
import { modelIn } from '../preset/reaching.ts'
import { dollarsOf } from '../engine/limits/spend.ts'
import type { MemoryStore } from '../memory/memory-store.ts'
import type { Usage } from '../transcript/fact.ts'
import type { Budgets } from '../postgres/budgets.ts'
import type { Claimed, Queue } from '../postgres/queue.ts'
import { fleetMail } from './mail.ts'
import { meteredModel } from './metered-model.ts'
import { questionsOf } from './questions.ts'
import type { OpenEngine } from './turn.ts'

export interface PresetEngineOptions {
  /** What every session of this worker has in common; store, model and questions are those of the fleet. */
  readonly preset: Omit<PresetOptions, 'store' | 'askUser' | 'mail' | 'memoryStores'>
  readonly queue: Queue
  readonly budgets: Budgets
  /** Who keeps the memories of a session; left out, the folders of this machine do. */
  readonly memories?: ((claimed: Claimed) => readonly MemoryStore[]) | undefined
}

/** Opens sessions of a worker with the tools and settings of a preset. */
export function presetEngine({ preset, queue, budgets, memories }: PresetEngineOptions): OpenEngine {
  const model = modelIn(preset)
  const models = tableOf(preset.settings)
  const maxOutputTokens = preset.settings.maxOutputTokens ?? defaults.engine.maxOutputTokens
  return async (claimed, store) => {
    if (model === undefined)
      return refused('no-model', 'this worker reaches no model; set a key, then start it again')
    const asked = await questionsOf(claimed, queue)
    if (!asked.ok) return asked
    const { questions } = asked
    const metered = meteredModel({
      model,
      models,
      budgets,
      maxOutputTokens,
      lease: claimed,
      unique: randomUUID,
    })
    const made = createPreset({
      ...preset,
      store,
      model: metered,
      askUser: questions.askUser,
      mail: fleetMail(queue),
      memoryStores: memories?.(claimed),
    })
    return {
      ok: true,
      opened: {
        engine: made.engine,
        pending: questions,
        look: (session) => made.agents.hasMail(session),
        close: () => made.close(),
      },
    }
  }
}

/** What an answer cost by the table of models in force, for the store. */
export const priceIn =
  (settings: PresetOptions['settings']) =>
  (model: string, usage: Usage): number | null =>
    dollarsOf(tableOf(settings), model, usage)
