// Snip: the model takes whole turns out of its own view. Every real input ends with a tag in the request copy;
// the tag names the turn that begins there. The transcript never holds a tag, only the edit.
import type { ClearingPrice, DropEdit, FactOf } from '../../transcript/fact.ts'
import type { Uuid } from '../../transcript/ids.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Fold } from '../fold.ts'
import { viewRefusal } from '../refusal.ts'
import { turnsOf } from '../turns.ts'
import type { Part, View } from '../view.ts'

/** The name of the layer and of its tool. Inputs are tagged in sessions that have the tool from the start. */
export const snipName = 'snip'
export const snipToolName = 'Snip'

/** The tags of one session: as short as may be, and never changed once given. */
export interface Tags {
  of(input: Uuid): string
  /** The input a tag was given to. */
  find(tag: string): Uuid | undefined
}

export function createTags(): Tags {
  const tags = new Map<Uuid, string>()
  const inputs = new Map<string, Uuid>()
  return {
    of: (input) => {
      const known = tags.get(input)
      if (known !== undefined) return known
      const tag = freeTag(input, inputs)
      tags.set(input, tag)
      inputs.set(tag, input)
      return tag
    },
    find: (tag) => inputs.get(tag),
  }
}

/** The end of a uuid is its random part. */
function freeTag(input: Uuid, taken: ReadonlyMap<string, Uuid>): string {
  const letters = input.replaceAll('-', '')
  let chars = defaults.snip.tagChars
  while (chars < letters.length && taken.has(letters.slice(-chars))) chars++
  return letters.slice(-chars)
}

export const tagText = (tags: Tags, part: Part): string => `[id:${tags.of(part.uuid)}]`

/** What tags the inputs of a session in its request copy; undefined where the session has no Snip tool. */
export function taggingOf(view: View, tags: Tags = createTags()): ((part: Part) => string) | undefined {
  const isTagged = view.tools.some((tool) => tool.name === snipToolName)
  return isTagged ? (part) => tagText(tags, part) : undefined
}

export type Snipped =
  | {
      readonly ok: true
      /** Null when everything named is gone already. */
      readonly fact: FactOf<'view-edit'> | null
      readonly turns: number
      readonly tokens: number
    }
  | { readonly ok: false; readonly why: string }

/** Estimated tokens that leave, and those that stay behind the first of them, as a price. */
export type Pricing = (freed: number, tail: number) => ClearingPrice | undefined

/** The edit that takes these turns out of the view, or why it may not be made. */
export function snip(
  fold: Fold,
  tags: Tags,
  ids: readonly string[],
  reason: string,
  pricing: Pricing = () => undefined,
): Snipped {
  const turns = turnsOf(fold.parts()).filter((turn) => turn.parts[0]!.kind === 'input')
  const byTag = new Map(turns.map((turn) => [tags.of(turn.parts[0]!.uuid), turn]))
  const current = turns.at(-1)
  const removable = turns.slice(0, -1).map((turn) => tags.of(turn.parts[0]!.uuid))
  const wanted = [...new Set(ids.map(bare))].filter((id) => id !== '')
  if (wanted.length === 0) return refuse('no id was given', removable)
  const unknown = wanted.filter((id) => !byTag.has(id) && tags.find(id) === undefined)
  if (unknown.length > 0) return refuse(`there is no message with id ${unknown.join(', ')}`, removable)
  if (current !== undefined && wanted.includes(tags.of(current.parts[0]!.uuid)))
    return refuse('the current turn cannot be removed while it runs', removable)
  const chosen = wanted.flatMap((id) => byTag.get(id) ?? [])
  if (chosen.length === 0) return { ok: true, fact: null, turns: 0, tokens: 0 }
  const gone = new Set(chosen.flatMap((turn) => ownParts(turn.parts)))
  const estimate = [...gone].reduce(addEstimate, 0)
  const first = Math.min(...[...gone].map((part) => part.from))
  const tail = [...fold.parts()].filter((part) => part.from > first && !gone.has(part)).reduce(addEstimate, 0)
  const tokens = Math.round(fold.view().factor * estimate)
  const price = pricing(estimate, tail)
  const fact: FactOf<'view-edit'> = {
    type: 'view-edit',
    layer: snipName,
    asked: 'model',
    edits: chosen.map((turn) => dropOf(turn.parts)).toSorted((a, b) => a.from - b.from),
    why: reason,
    tokensFreed: tokens,
    ...(price === undefined ? {} : { price }),
  }
  const refused = viewRefusal(fold, fact)
  return refused === null
    ? { ok: true, fact, turns: chosen.length, tokens }
    : refuse(refused.message, removable)
}

const addEstimate = (sum: number, part: Part): number => sum + part.estimate - part.clearedEstimate

/** A summary inside a turn stands for other inputs as well, so the turn ends before it. */
function ownParts(parts: readonly Part[]): readonly Part[] {
  const end = parts.findIndex((part) => part.kind === 'edit')
  return end < 0 ? parts : parts.slice(0, end)
}

function dropOf(parts: readonly Part[]): DropEdit {
  const own = ownParts(parts)
  return { kind: 'drop', from: own[0]!.from, to: own.at(-1)!.to }
}

/** The model may give a tag as it stands in the text. */
const bare = (id: string): string => id.trim().replace(/^\[?(?:id:)?\s*|\]$/g, '')

function refuse(why: string, removable: readonly string[]): Snipped {
  const which =
    removable.length === 0 ? 'No turn can be removed now.' : `These can be removed: ${removable.join(', ')}.`
  return { ok: false, why: `Nothing was removed: ${why}. ${which}` }
}
