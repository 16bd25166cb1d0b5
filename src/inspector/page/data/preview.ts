// What a row shows of its entry's text: the beginning, on one line. Lines are foreign and may hold anything.

const most = 160

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A stored line as a value; null where it is no JSON. */
function parsedLine(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : null
  } catch {
    return null
  }
}

export function previewOf(line: string): string {
  const fact = factIn(line)
  return fact === null ? '' : short(words(fact))
}

/** The fact of a stored line. */
export function factIn(line: string): Readonly<Record<string, unknown>> | null {
  const fact = parsedLine(line)?.['fact']
  return isRecord(fact) ? fact : null
}

export interface ContentBlock {
  readonly type: string
  readonly text: string
  /** Base64 of a picture. */
  readonly picture: string | null
  /** What a call is given, as JSON; null for everything else. */
  readonly input: string | null
  readonly name: string | null
}

/** The blocks of a fact's content, each as text. */
export function blocksIn(fact: Readonly<Record<string, unknown>>): readonly ContentBlock[] {
  const content = fact['content']
  return Array.isArray(content) ? content.map(blockOf) : []
}

function blockOf(block: unknown): ContentBlock {
  if (!isRecord(block))
    return { type: '', text: JSON.stringify(block), picture: null, input: null, name: null }
  const type = String(block['type'])
  const plain = { type, picture: null, input: null, name: null }
  if (typeof block['text'] === 'string') return { ...plain, text: block['text'] }
  if (typeof block['thinking'] === 'string') return { ...plain, text: block['thinking'] }
  if (type === 'tool_use') {
    const input = JSON.stringify(block['input'], null, 2) ?? ''
    return { ...plain, text: input, input, name: String(block['name']) }
  }
  const source = block['source']
  if (type === 'image' && isRecord(source) && typeof source['data'] === 'string')
    return { ...plain, text: '', picture: source['data'] }
  return { ...plain, text: JSON.stringify(block, null, 2) }
}

function words(fact: Readonly<Record<string, unknown>>): string {
  const blocks = blocksIn(fact)
  if (blocks.length > 0)
    return blocks
      .map(blockWords)
      .filter((text) => text !== '')
      .join('  ')
  const parts = ['text', 'why', 'model', 'purpose', 'label', 'outcome', 'report']
    .map((key) => fact[key])
    .filter((value) => typeof value === 'string' && value !== '')
  return parts.join(' · ')
}

function blockWords({ type, text, name, picture, input }: ContentBlock): string {
  if (picture !== null) return '[image]'
  if (input !== null) return `${name} ${callWords(input)}`
  return type === 'thinking' ? `(thinking) ${text}` : text
}

/** What a call is about: the first of its arguments that is a text. */
function callWords(input: string): string {
  const values = parsedLine(input)
  const first = Object.values(values ?? {}).find((value) => typeof value === 'string')
  return typeof first === 'string' ? first : input
}

const short = (text: string): string => {
  const line = text
    .slice(0, most * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > most ? `${line.slice(0, most)}…` : line
}

// What is a picture, by its first bytes, and how large one may be that is shown.

/** A picture of a transcript is capped by the API at 10 MB of base64. */
export const mostPictureBytes = 10 * 1024 * 1024

const starts: readonly (readonly [mime: string, first: readonly (number | null)[]])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50]],
]

/** What the bytes are, whatever they are called; null for everything that is no picture. */
export const pictureKind = (data: Uint8Array): string | null =>
  starts.find(([, first]) => first.every((byte, at) => byte === null || data[at] === byte))?.[0] ?? null

/** The bytes of base64; null where it is none or too much. */
export function pictureBytes(base64: string): Uint8Array<ArrayBuffer> | null {
  if (base64.length > (mostPictureBytes * 4) / 3 + 4) return null
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}
