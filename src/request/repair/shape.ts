// First pass: every message gets a role and blocks that can be read. Looks at one block at a time;
// what depends on neighbours (pairing, merging, empty messages) is left to later passes.
import type { WireBlock, WireMessage } from '../../model/wire.ts'
import {
  isBlock,
  isDeeplyWellFormed,
  isRecord,
  isReasoningType,
  isToolChange,
  messageKeys,
  onlyAssistantSays,
  onlyUserSays,
  systemMaySay,
  systemMessageKeys,
  wellFormedRecord,
} from './blocks.ts'
import { call, result } from './call-shape.ts'
import { changed, made, note, type Draft, type Ledger } from './draft.ts'
import { fitting, withoutCitations } from './fields.ts'

export interface ShapeOptions {
  readonly systemMessages: boolean
  readonly extraKeys: readonly string[]
  readonly toolNameChars: number
}

/** The message as a draft. Blocks only a user may send leave an assistant message as a second draft behind it. */
export function shaped(
  message: WireMessage,
  at: number,
  options: ShapeOptions,
  ledger: Ledger,
): readonly Draft[] {
  const path = `messages.${at}`
  const raw: unknown = message
  if (!isRecord(raw)) {
    note(ledger, 'bad-message', path, 'left out: it is not a message')
    return []
  }
  const blocks = readBlocks(raw['content'], path, ledger)
  const role = roleOf(raw['role'], blocks.list, path, options, ledger)
  const extra = extraKeys(raw, role, path, ledger)
  const kept: WireBlock[] = []
  const forUser: WireBlock[] = []
  for (const block of blocks.list) {
    const type = block.type
    if (role === 'assistant' && onlyUserSays(type)) {
      note(
        ledger,
        'misplaced-block',
        ledger.places.get(block) ?? path,
        `${type} moved from the assistant to the next user message`,
      )
      forUser.push(...cleaned(block, 'user', options, ledger))
    } else if (
      (role !== 'assistant' && onlyAssistantSays(type)) ||
      (role !== 'system' && isToolChange(type))
    ) {
      note(
        ledger,
        'misplaced-block',
        ledger.places.get(block) ?? path,
        `${type} left out: a ${role} message cannot carry it`,
      )
    } else kept.push(...cleaned(block, role, options, ledger))
  }
  const same = blocks.same && role === raw['role'] && extra.same && kept.length === blocks.list.length
  const untouched = same && kept.every((block, index) => block === blocks.list[index]) ? message : null
  const first: Draft = { role, blocks: kept, extra: extra.keys, at, untouched }
  return forUser.length === 0 ? [first] : [first, made('user', at, forUser)]
}

function readBlocks(
  content: unknown,
  path: string,
  ledger: Ledger,
): { readonly list: readonly WireBlock[]; readonly same: boolean } {
  if (typeof content === 'string') {
    const block: WireBlock = { type: 'text', text: content }
    ledger.places.set(block, `${path}.content`)
    return { list: [block], same: true }
  }
  if (!Array.isArray(content)) {
    note(ledger, 'bad-message', path, 'its content was neither text nor blocks')
    return { list: [], same: false }
  }
  const list: WireBlock[] = []
  let same = true
  content.forEach((item: unknown, index) => {
    const place = `${path}.content.${index}`
    const block = typeof item === 'string' ? ({ type: 'text', text: item } as const) : item
    if (block !== item || !isBlock(block)) {
      same = false
      note(
        ledger,
        'bad-block',
        place,
        isBlock(block) ? 'a bare string became a text block' : 'left out: it has no type',
      )
    }
    if (!isBlock(block)) return
    ledger.places.set(block, place)
    list.push(block)
  })
  return { list, same }
}

function roleOf(
  role: unknown,
  blocks: readonly WireBlock[],
  path: string,
  options: ShapeOptions,
  ledger: Ledger,
): Draft['role'] {
  if (role === 'user' || role === 'assistant') return role
  if (role !== 'system') {
    note(ledger, 'bad-role', path, `role ${JSON.stringify(role) ?? 'undefined'} became user`)
    return 'user'
  }
  if (options.systemMessages && blocks.every((block) => systemMaySay(block.type))) return role
  note(ledger, 'system-place', path, 'a system message became a user message: it cannot stand here as one')
  return 'user'
}

function extraKeys(
  message: Readonly<Record<string, unknown>>,
  role: Draft['role'],
  path: string,
  ledger: Ledger,
): { readonly keys: Readonly<Record<string, unknown>>; readonly same: boolean } {
  const allowed = role === 'system' ? systemMessageKeys : messageKeys
  const keys: Record<string, unknown> = {}
  const refused: string[] = []
  for (const [key, value] of Object.entries(message)) {
    if (!allowed.has(key)) refused.push(key)
    else if (key !== 'role' && key !== 'content') keys[key] = value
  }
  if (refused.length > 0) note(ledger, 'extra-key', path, `left out: ${refused.join(', ')}`)
  return { keys, same: refused.length === 0 }
}

/** The block as it may be sent: none, itself, a corrected copy, or a result followed by what cannot stand in it. */
function cleaned(
  block: WireBlock,
  role: Draft['role'],
  options: ShapeOptions,
  ledger: Ledger,
): readonly WireBlock[] {
  // Reasoning is sent byte for byte or not at all; the reasoning pass decides.
  if (isReasoningType(block.type)) return [block]
  const place = ledger.places.get(block) ?? ''
  const plain = block.type === 'tool_use' ? call(block, place, options, ledger) : block
  const fit = fitting(plain, place, options.extraKeys, ledger)
  if (fit === null) return []
  const readable = wellFormed(fit, place, ledger)
  if (readable.type === 'tool_result') return result(readable, place, ledger)
  return [role !== 'assistant' ? withoutCitations(readable, place, ledger) : readable]
}

function wellFormed(block: WireBlock, place: string, ledger: Ledger): WireBlock {
  if (isDeeplyWellFormed(block)) return block
  note(ledger, 'lone-surrogate', place, 'half characters replaced')
  return changed(ledger, block, wellFormedRecord(block))
}
