// How many tokens something takes, before calibration: a pure estimate from character classes, in one pass and with
// no tokenizer. It carries no safety factor; `calibration` multiplies by what the model in use really reported.
//
// A text is read by a small automaton: each step from one class of character to the next has a label, and each label
// a weight. The weights were fitted by least squares to the growth of recorded requests (bench/fit-tokens.ts).
import type { Sidecar, UserBlock } from '../transcript/content.ts'
import { isMedia, mediaInfo, type MediaBlock } from '../transcript/media.ts'
import type { ToolSpec } from '../transcript/fact.ts'
import { defaults } from '../settings/defaults.ts'
import type { ViewBlock } from './view.ts'

/** What a step of the automaton can mean, and the tokens it takes. */
export const stepWeights = {
  /** A word that follows a blank, and one that follows anything else. */
  word: 0.76,
  wordInside: 0.9,
  /** Further letters of a word, by how far into it they stand. */
  letterNear: 0.058,
  letterMiddle: 0.11,
  letterFar: 0.2,
  /** A capital after a small letter, and capitals in a row. */
  hump: 1.05,
  capital: 0.3,
  /** Digits: the first of a number, the further ones, and those inside a word as in a hash. */
  digit: 1.53,
  digitRun: 0.375,
  digitInWord: 1.3,
  punctuation: 0.62,
  punctuationRun: 0.12,
  /** What joins words in names and paths. */
  joint: 0.88,
  newline: 1.14,
  newlineRun: 0.2,
  space: 0.117,
  spaceRun: 0.055,
  tab: 0.3,
  /** Han and kana, Hangul, other letters, symbols, characters outside the basic plane (emoji), control characters. */
  han: 1.1,
  hangul: 1.3,
  letter: 0.6,
  symbol: 1.5,
  pair: 2.5,
  control: 0.5,
  none: 0,
} as const
export type StepLabel = keyof typeof stepWeights

/** Tokens that stand around what a block holds. */
export const blockWeights = {
  toolUse: 80,
  toolResult: 12,
  text: 5,
  toolSpec: 20,
  /** Of thinking that is kept as a signature alone, for each of its characters. */
  signatureChar: 0.19,
} as const

/** Tokens of a text, estimated by its characters. */
export function estimateText(text: string): number {
  return Math.ceil(weigh(text))
}

/** Estimated tokens of one block with what stands around it. */
export function estimateBlock(block: ViewBlock): number {
  return Math.ceil(blockTokens(block))
}

/** Tokens of blocks, estimated. */
export function estimateBlocks(blocks: readonly ViewBlock[]): number {
  let tokens = 0
  for (const block of blocks) tokens += estimateBlock(block)
  return tokens
}

/** Tokens of a tool in the list, estimated. */
export function estimateTool(spec: ToolSpec): number {
  const schema = weigh(JSON.stringify(spec.input_schema))
  return Math.ceil(blockWeights.toolSpec + weigh(spec.name) + weigh(spec.description) + schema)
}

function blockTokens(block: ViewBlock): number {
  switch (block.type) {
    case 'text':
      return blockWeights.text + weigh(block.text) + sidecarTokens(block)
    case 'image':
    case 'document':
      return isMedia(block) ? mediaTokens(block) : defaults.counting.mediaTokens
    case 'thinking':
      return thinkingTokens(block)
    case 'redacted_thinking':
      return block.data.length * blockWeights.signatureChar
    case 'tool_use':
      return (
        blockWeights.toolUse +
        weigh(block.name) +
        weigh(block.broken ?? JSON.stringify(block.input)) +
        sidecarTokens(block)
      )
    case 'item':
      return block.tokens
    case 'tool_result':
      return blockWeights.toolResult + resultTokens(block.content)
    default:
      return weigh(JSON.stringify(block))
  }
}

/** A signature that goes back with its block; arguments are counted already. */
const sidecarTokens = ({ sidecar }: { readonly sidecar?: Sidecar | undefined }): number =>
  (sidecar?.raw?.length ?? 0) * blockWeights.signatureChar

function resultTokens(content: readonly UserBlock[]): number {
  let tokens = 0
  for (const block of content) tokens += block.type === 'text' ? weigh(block.text) : blockTokens(block)
  return tokens
}

/** By its sides or its pages, as the newest models count them; a text document is its text. */
function mediaTokens(block: MediaBlock): number {
  const { source } = block
  if (source.type === 'text' && typeof source['data'] === 'string') return weigh(source['data'])
  const { mediaTokens: unknown, patchPixels, imageEdge, imageTokens, pageTokens } = defaults.counting
  const { width, height, pages } = mediaInfo(block)
  if (pages !== null) return pages * pageTokens
  if (width === null || height === null) return unknown
  const scale = Math.min(1, imageEdge / Math.max(width, height, 1))
  const patches = (side: number): number => Math.max(1, Math.ceil((side * scale) / patchPixels))
  return Math.min(imageTokens, patches(width) * patches(height))
}

// The text may be empty or a digest while the whole is sent back sealed in the signature, so the larger counts.
// Recordings keep only the length of the signature.
function thinkingTokens(block: {
  readonly thinking: string
  readonly signature?: string | undefined
}): number {
  const recorded =
    'signature_chars' in block && typeof block.signature_chars === 'number' ? block.signature_chars : 0
  const sealed = block.signature?.length ?? recorded
  return Math.max(weigh(block.thinking), sealed * blockWeights.signatureChar)
}

// ---- the automaton ----

const LOWER = 0
const UPPER = 1
const DIGIT = 2
const SPACE = 3
const NEWLINE = 4
const TAB = 5
const PUNCTUATION = 6
const CONTROL = 7
const HAN = 8
const HANGUL = 9
const LETTER = 10
const SYMBOL = 11
const PAIR = 12
const HALF = 13
const JOINT = 14
const CLASSES = 16

// A state is the class of the last character, or inside a word how far the word has come and whether in capitals.
const LONGEST = 8
const inWord = (position: number, capital: boolean): number =>
  CLASSES + Math.min(position, LONGEST) - 1 + (capital ? LONGEST : 0)
const STATES = CLASSES + 2 * LONGEST

const asciiClass = Uint8Array.from({ length: 128 }, (_, code) => {
  if (code >= 97 && code <= 122) return LOWER
  if (code >= 65 && code <= 90) return UPPER
  if (code >= 48 && code <= 57) return DIGIT
  if (code === 32) return SPACE
  if (code === 10 || code === 13) return NEWLINE
  if (code === 9) return TAB
  if ('._-/\\:'.includes(String.fromCharCode(code))) return JOINT
  return code > 32 && code < 127 ? PUNCTUATION : CONTROL
})

function wideClass(code: number): number {
  if (code < 0xa0) return CONTROL
  if (code < 0x2000) return LETTER
  if (code < 0x2e80) return SYMBOL
  if (code < 0xa4d0) return HAN
  if (code < 0xac00) return LETTER
  if (code < 0xd7b0) return HANGUL
  if (code < 0xdc00) return PAIR
  if (code < 0xe000) return HALF
  return (code >= 0xf900 && code < 0xfb00) || (code >= 0xff00 && code < 0xfff0) ? HAN : SYMBOL
}

function positionIn(state: number): number {
  return state < CLASSES ? 0 : ((state - CLASSES) % LONGEST) + 1
}

function labelOf(state: number, next: number): StepLabel {
  const position = positionIn(state)
  const capital = state >= CLASSES + LONGEST
  switch (next) {
    case LOWER:
      if (position === 0) return state === SPACE || state === NEWLINE || state === TAB ? 'word' : 'wordInside'
      return position < 4 ? 'letterNear' : position < 7 ? 'letterMiddle' : 'letterFar'
    case UPPER:
      if (position === 0) return state === SPACE || state === NEWLINE || state === TAB ? 'word' : 'wordInside'
      return capital ? 'capital' : 'hump'
    case DIGIT:
      return state === DIGIT ? 'digitRun' : position > 0 ? 'digitInWord' : 'digit'
    case SPACE:
      return state === SPACE ? 'spaceRun' : 'space'
    case NEWLINE:
      return state === NEWLINE ? 'newlineRun' : 'newline'
    case TAB:
      return 'tab'
    case PUNCTUATION:
      return state === PUNCTUATION || state === JOINT ? 'punctuationRun' : 'punctuation'
    case JOINT:
      return state === PUNCTUATION || state === JOINT ? 'punctuationRun' : 'joint'
    case HAN:
      return 'han'
    case HANGUL:
      return 'hangul'
    case LETTER:
      return 'letter'
    case SYMBOL:
      return 'symbol'
    case PAIR:
      return 'pair'
    case CONTROL:
      return 'control'
    default:
      return 'none'
  }
}

function stateAfter(state: number, next: number): number {
  if (next !== LOWER && next !== UPPER) return next
  const position = positionIn(state)
  const starts = next === UPPER && state >= CLASSES && state < CLASSES + LONGEST
  return inWord(starts ? 1 : position + 1, next === UPPER)
}

/** The label of every step, by state and class. */
const stepLabel: readonly StepLabel[] = Array.from({ length: STATES * CLASSES }, (_, step) =>
  labelOf(Math.floor(step / CLASSES), step % CLASSES),
)
const stepTokens = Float64Array.from(stepLabel, (label) => stepWeights[label])
const stepState = Uint8Array.from(stepLabel, (_, step) =>
  stateAfter(Math.floor(step / CLASSES), step % CLASSES),
)

function weigh(text: string): number {
  let tokens = 0
  let state = SPACE
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const step = state * CLASSES + (code < 128 ? asciiClass[code]! : wideClass(code))
    tokens += stepTokens[step]!
    state = stepState[step]!
  }
  return tokens
}

/** How often each kind of step occurs in a text: what the weights are fitted on. */
export function countSteps(text: string): Record<StepLabel, number> {
  const counts = Object.fromEntries(Object.keys(stepWeights).map((label) => [label, 0])) as Record<
    StepLabel,
    number
  >
  let state = SPACE
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const step = state * CLASSES + (code < 128 ? asciiClass[code]! : wideClass(code))
    counts[stepLabel[step]!]++
    state = stepState[step]!
  }
  return counts
}
