// First pass: every message gets a role and blocks that can be read. Looks at one block at a time;
// what depends on neighbours (pairing, merging, empty messages) is left to later passes.
import type { WireBlock, WireMessage } from '../../../model/wire.ts'
import { isRecord } from '../../../transcript/content.ts'
import {
  isBlock,
  isDeeplyWellFormed,
  isReasoningType,
  isToolChange,
  messageKeys,
  onlyAssistantSays,
  onlyUserSays,
  systemMaySay,
  systemMessageKeys,
  wellFormedRecord,
} from '../block-rules.ts'
import { sameItems } from '../../repairing.ts'
import { changed, newUserDraft, note, type Draft, type RepairLog } from './draft.ts'
import { fitting, shapeCall, shapeResult, withoutCitations } from './block-shape.ts'

export interface ShapeOptions {
  readonly systemMessages: boolean
  readonly extraKeys: readonly string[]
}

/** The message as a draft. Blocks only a user may send leave an assistant message as a second draft behind it. */
export function shapeMessage(
  message: WireMessage,
  at: number,
  options: ShapeOptions,
  log: RepairLog,
): readonly Draft[] {
  const path = `messages.${at}`
  const raw: unknown = message
  if (!isRecord(raw)) {
    note(log, 'bad-message', path, 'left out: it is not a message')
    return []
  }
  const blocks = readBlocks(raw['content'], path, log)
  const role = roleOf(raw['role'], blocks.list, path, options, log)
  const extra = extraKeys(raw, role, path, log)
  const kept: WireBlock[] = []
  const forUser: WireBlock[] = []
  for (const block of blocks.list) {
    const type = block.type
    if (role === 'assistant' && onlyUserSays(type)) {
      note(
        log,
        'misplaced-block',
        log.places.get(block) ?? path,
        `${type} moved from the assistant to the next user message`,
      )
      forUser.push(...cleaned(block, 'user', options, log))
    } else if (
      (role !== 'assistant' && onlyAssistantSays(type)) ||
      (role !== 'system' && isToolChange(type))
    ) {
      note(
        log,
        'misplaced-block',
        log.places.get(block) ?? path,
        `${type} left out: a ${role} message cannot carry it`,
      )
    } else kept.push(...cleaned(block, role, options, log))
  }
  const same = blocks.same && role === raw['role'] && extra.same && sameItems(kept, blocks.list)
  const untouched = same ? message : null
  const first: Draft = { role, blocks: kept, extra: extra.keys, at, untouched }
  return forUser.length === 0 ? [first] : [first, newUserDraft(at, forUser)]
}

function readBlocks(
  content: unknown,
  path: string,
  log: RepairLog,
): { readonly list: readonly WireBlock[]; readonly same: boolean } {
  if (typeof content === 'string') {
    const block: WireBlock = { type: 'text', text: content }
    log.places.set(block, `${path}.content`)
    return { list: [block], same: true }
  }
  if (!Array.isArray(content)) {
    note(log, 'bad-message', path, 'its content was neither text nor blocks')
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
        log,
        'bad-block',
        place,
        isBlock(block) ? 'a bare string became a text block' : 'left out: it has no type',
      )
    }
    if (!isBlock(block)) return
    log.places.set(block, place)
    list.push(block)
  })
  return { list, same }
}

function roleOf(
  role: unknown,
  blocks: readonly WireBlock[],
  path: string,
  options: ShapeOptions,
  log: RepairLog,
): Draft['role'] {
  if (role === 'user' || role === 'assistant') return role
  if (role !== 'system') {
    note(log, 'bad-role', path, `role ${JSON.stringify(role) ?? 'undefined'} became user`)
    return 'user'
  }
  if (options.systemMessages && blocks.every((block) => systemMaySay(block.type))) return role
  note(log, 'system-place', path, 'a system message became a user message: it cannot stand here as one')
  return 'user'
}

function extraKeys(
  message: Readonly<Record<string, unknown>>,
  role: Draft['role'],
  path: string,
  log: RepairLog,
): { readonly keys: Readonly<Record<string, unknown>>; readonly same: boolean } {
  const allowed = role === 'system' ? systemMessageKeys : messageKeys
  const keys: Record<string, unknown> = {}
  const refused: string[] = []
  for (const [key, value] of Object.entries(message)) {
    if (!allowed.has(key)) refused.push(key)
    else if (key !== 'role' && key !== 'content') keys[key] = value
  }
  if (refused.length > 0) note(log, 'extra-key', path, `left out: ${refused.join(', ')}`)
  return { keys, same: refused.length === 0 }
}

/** The block as it may be sent: none, itself, a corrected copy, or a result followed by what cannot stand in it. */
function cleaned(
  block: WireBlock,
  role: Draft['role'],
  options: ShapeOptions,
  log: RepairLog,
): readonly WireBlock[] {
  // Reasoning is sent byte for byte or not at all; the reasoning pass decides.
  if (isReasoningType(block.type)) return [block]
  const place = log.places.get(block) ?? ''
  const plain = block.type === 'tool_use' ? shapeCall(block, place, log) : block
  const fit = fitting(plain, place, options.extraKeys, log)
  if (fit === null) return []
  const readable = wellFormed(fit, place, log)
  if (readable.type === 'tool_result') return shapeResult(readable, place, log)
  return [role !== 'assistant' ? withoutCitations(readable, place, log) : readable]
}

function wellFormed(block: WireBlock, place: string, log: RepairLog): WireBlock {
  if (isDeeplyWellFormed(block)) return block
  note(log, 'lone-surrogate', place, 'half characters replaced')
  return changed(log, block, wellFormedRecord(block))
}
