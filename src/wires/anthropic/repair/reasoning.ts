// Which reasoning may be sent. Its laws: a block leaves byte for byte or not at all; a signature cannot be made up;
// reasoning of another model is refused; on models that bind reasoning to the prefix, what follows a change is void.
import type { WireBlock, WireMessage } from '../../../model/wire.ts'
import { isRecord } from '../../../transcript/content.ts'
import { isBlock, hasBreakpoint, isReasoningType, isWellFormed, knownKeys } from '../block-rules.ts'
import {
  changed,
  note,
  draftPlace,
  withBlocks,
  type Draft,
  type RepairLog,
  type RepairRule,
} from './draft.ts'

/** Where a reasoning block comes from, as far as the caller knows. */
export interface ReasoningOrigin {
  readonly model: string | null
  /** It was made in answer to a request that this same repair had already been through, so its prefix is the repaired one. */
  readonly afterRepair: boolean
}

export interface ReasoningOptions {
  readonly model: string
  readonly bindsPrefix: boolean
  readonly keepReasoning: boolean
  readonly origin: (block: WireBlock) => ReasoningOrigin | undefined
}

/**
 * The drafts without reasoning that would be refused. On binding models each block is chained to the one before:
 * when one that had been accepted is damaged, those behind it fall with it.
 */
export function keepSendable(
  drafts: readonly Draft[],
  options: ReasoningOptions,
  log: RepairLog,
): readonly Draft[] {
  let chainBroken = false
  return drafts.map((draft) => {
    if (!draft.blocks.some((block) => isReasoningType(block.type))) return draft
    const kept: WireBlock[] = []
    for (const block of draft.blocks) {
      if (!isReasoningType(block.type)) kept.push(block)
      else {
        const refused = refusal(block, chainBroken, options)
        if (refused === null) kept.push(bare(block, draft, log))
        else note(log, refused.rule, draftPlace(log, block, draft), `reasoning left out: ${refused.why}`)
        chainBroken ||= options.bindsPrefix && refused?.rule === 'reasoning-damaged'
      }
    }
    return withBlocks(draft, kept)
  })
}

function refusal(
  block: WireBlock,
  chainBroken: boolean,
  options: ReasoningOptions,
): { readonly rule: RepairRule; readonly why: string } | null {
  if (!options.keepReasoning) return { rule: 'reasoning-refused', why: 'the provider refused it' }
  const origin = options.origin(block)
  const maker = origin?.model ?? null
  if (maker !== null && maker !== options.model) {
    return { rule: 'reasoning-foreign', why: `made by ${maker}` }
  }
  const proof = block.type === 'thinking' ? block['signature'] : block['data']
  if (typeof proof !== 'string' || proof === '')
    return { rule: 'reasoning-unsigned', why: 'it has no signature' }
  if (!looksWhole(proof)) return { rule: 'reasoning-damaged', why: 'its signature is cut or not one of ours' }
  if (chainBroken && origin?.afterRepair !== true) {
    return { rule: 'reasoning-bound', why: 'the block it is chained to was damaged' }
  }
  if (block.type === 'redacted_thinking') return null
  // The text may be empty: that is how hidden reasoning arrives. Half characters cannot be sent, nor replaced.
  const text = block['thinking']
  if (typeof text === 'string' && isWellFormed(text)) return null
  return { rule: 'reasoning-damaged', why: 'its text cannot be sent as it was made' }
}

/** Keys that were never part of the block go; what is signed stays. A cache breakpoint is moved by its own pass. */
function bare(block: WireBlock, draft: Draft, log: RepairLog): WireBlock {
  const known = knownKeys(block.type)
  const refused = Object.keys(block).filter(
    (key) => known?.has(key) === false && !(key === 'cache_control' && hasBreakpoint(block)),
  )
  if (refused.length === 0) return block
  note(log, 'extra-key', draftPlace(log, block, draft), `left out: ${refused.join(', ')}`)
  return changed(log, block, Object.fromEntries(refused.map((key) => [key, undefined])))
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/
/** First byte of a signature as the provider writes it: a length follows and says how much must still come. */
const lengthPrefixed = 0x12
const headChars = 16
const bytesPerGroup = 3
const charsPerGroup = 4

/**
 * Whether a signature can be whole, as far as can be seen without the key: it is padded base64, and where it begins
 * with a length, that much follows. It recognises cut ones and other vendors' marks, not forgeries.
 */
export function looksWhole(signature: string): boolean {
  if (signature.length % charsPerGroup !== 0 || !base64.test(signature)) return false
  const head = bytesIn(signature.slice(0, headChars))
  if (head[0] !== lengthPrefixed) return true
  let length = 0
  let scale = 1
  for (let index = 1; index < head.length; index++) {
    const byte = head[index] ?? 0
    length += (byte % 128) * scale
    if (byte < 128) return byteLength(signature) - index - 1 >= length
    scale *= 128
  }
  return false
}

const base64Digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const bitsOfDigit = 6
/** The whole bytes that a beginning of base64 says. */
function bytesIn(encoded: string): readonly number[] {
  const bytes: number[] = []
  let [bits, count] = [0, 0]
  for (const digit of encoded.replace(/=+$/, '')) {
    bits = (bits << bitsOfDigit) | base64Digits.indexOf(digit)
    count += bitsOfDigit
    if (count < 8) continue
    count -= 8
    bytes.push((bits >> count) & 0xff)
    bits &= (1 << count) - 1
  }
  return bytes
}
const byteLength = (encoded: string): number =>
  (encoded.length / charsPerGroup) * bytesPerGroup - (encoded.length - encoded.replace(/=+$/, '').length)

/**
 * Binding models: leaves out reasoning that stands behind the first place where the drafts differ from what came in,
 * because it was made under other bytes. Reasoning itself is not compared: what was left out had never been accepted.
 */
export function unbound(
  came: readonly WireMessage[],
  drafts: readonly Draft[],
  origin: ReasoningOptions['origin'],
  log: RepairLog,
): readonly Draft[] {
  const said = came.flatMap(steps)
  let position = 0
  let moved = false
  return drafts.map((draft) => {
    const kept: WireBlock[] = []
    moved ||= said[position++] !== draft.role
    for (const block of draft.blocks) {
      if (!isReasoningType(block.type)) moved ||= !sameBytes(said[position++], block)
      else if (moved && origin(block)?.afterRepair !== true) {
        note(
          log,
          'reasoning-bound',
          draftPlace(log, block, draft),
          'reasoning left out: an earlier part of the request changed',
        )
        continue
      }
      kept.push(block)
    }
    return withBlocks(draft, kept)
  })
}

function steps(message: WireMessage): readonly unknown[] {
  const content: unknown = message?.content
  if (typeof content === 'string') return [message.role, { type: 'text', text: content }]
  if (!Array.isArray(content)) return [message?.role]
  return [message.role, ...content.filter((item) => !(isBlock(item) && isReasoningType(item.type)))]
}

const sameBytes = (a: unknown, b: WireBlock): boolean => a === b || (isBlock(a) && bytes(a) === bytes(b))
/** Without what may move or go unharmed: cache breakpoints, and keys that the wire never accepted. */
function bytes(block: WireBlock): string {
  const known = knownKeys(block.type)
  const sent = Object.entries(block).filter(([key]) => known === null || known.has(key))
  const withoutBreakpoint = (key: string, item: unknown): unknown =>
    key === 'cache_control' && isRecord(item) ? undefined : item
  return JSON.stringify(Object.fromEntries(sent), withoutBreakpoint)
}
