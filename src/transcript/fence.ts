// Blocks that carry somebody else's text into a user turn: who says it, and how far it counts. Every such block is made
// here, so that one law holds for all: what stands inside can neither close its block nor open another.
//
// Format: <tag name="value" …>, a line end, the text, a line end, </tag>. Inside, whatever reads as one of these tags, in
// any case or encoding, loses its first character to `‹`.

/** How far a block counts: as an instruction, or as information that may be wrong, old or hostile. */
export type Weight = 'instruction' | 'information'

const weights = {
  instructions: 'instruction',
  plan: 'instruction',
  mode: 'instruction',
  skill: 'instruction',
  /** The program asks for work in the background, or hands a fork its task. */
  'program-task': 'instruction',
  /** Only what says from="user" is the user speaking. */
  kept: 'information',
  'session-summary': 'information',
  /** What a compaction took from the messages it replaces, line by line. */
  'session-extract': 'information',
  hook: 'information',
  'memory-index': 'information',
  'recalled-memories': 'information',
  memory: 'information',
  found: 'information',
  'mcp-server': 'information',
  /** Names of skills and when to use them; the page of one is a `skill`. */
  'skill-list': 'information',
  /** Names of skills that were used and found no room after a compaction. */
  'skills-by-name': 'information',
  'agent-report': 'information',
  'agent-message': 'information',
  'agent-list': 'information',
  'agent-calls': 'information',
  'git-state': 'information',
  'named-file': 'information',
  'restored-file': 'information',
  'restored-outlines': 'information',
  'restored-tasks': 'information',
  'persisted-output': 'information',
  'tool-result': 'information',
  'earlier-summary': 'information',
  'current-notes': 'information',
  'typed-message': 'information',
  /** What was piped in beside a prompt: the material, not the request. */
  'piped-input': 'information',
  /** What a companion puts back after another program's compaction: words the user typed, names and counts. */
  companion: 'information',
  /** One message of the user in it. */
  typed: 'information',
  'system-reminder': 'information',
} as const satisfies Readonly<Record<string, Weight>>

export type FenceTag = keyof typeof weights
export const fenceTags = Object.keys(weights) as readonly FenceTag[]
export const weightOf = (tag: FenceTag): Weight => weights[tag]

/** Stood in earlier versions; their transcripts are read as they were written. */
const formerTags = ['account', 'forked-agent'] as const
const known: ReadonlySet<string> = new Set([...fenceTags, ...formerTags])
/** As a name may be written too: with other joints, and the instructing ones with none. */
const isKnownName = (name: string): boolean =>
  name
    .toLowerCase()
    .split(':')
    .some((part) => known.has(part.replaceAll('_', '-')) || part === 'programtask')

/** A list is written once for each of its values; what is undefined is left out. */
export type Attributes = Readonly<Record<string, string | number | readonly string[] | undefined>>

/** One block. What has an id repeats it where it ends. */
export const fenced = (tag: FenceTag, attributes: Attributes, text: string): string =>
  `${opening(tag, attributes)}\n${defused(text)}\n</${tag}${written({ id: attributes['id'] })}>`

/** A block that holds blocks of ours: nothing else may be among them. */
export const around = (tag: FenceTag, attributes: Attributes, blocks: readonly string[]): string =>
  `${opening(tag, attributes)}\n${blocks.join('\n')}\n</${tag}>`

const opening = (tag: FenceTag, attributes: Attributes): string => `<${tag}${written(attributes)}>`

const written = (attributes: Attributes): string =>
  Object.entries(attributes)
    .flatMap(([name, value]) => [value ?? []].flat().map((one) => [name, one] as const))
    .map(([name, value]) => ` ${name}=${defused(JSON.stringify(String(value)))}`)
    .join('')

/** A text of blocks that was cut somewhere: those left open are closed. */
export function closed(text: string): string {
  const open: string[] = []
  // No content can begin a line with a tag of ours, so a line that does is one.
  for (const [, slash, tag] of text.matchAll(/^<(\/?)([a-z-]+)/gmu)) {
    if (!known.has(tag!)) continue
    if (slash === '') open.push(tag!)
    else if (open.at(-1) === tag) open.pop()
  }
  return open.reduceRight((all, tag) => `${all}\n</${tag}>`, text)
}

// ---- what no content may say ----

export const defusedMark = '‹'

/** What begins a tag: the character itself, its look-alikes, and how markup, URLs and strings write it. */
const openers =
  /[<＜﹤≮˂ᐸ❮⟨〈〈⧼\u{E003C}]|&(?:amp;)*(?:lt|#0*60|#x0*3c);?|%(?:25)*3c|\\u0*3c|\\u\{0*3c\}|\\x3c|\\0?74/giu
/** A plain tag, with or without a prefix, decided without looking further. */
const plainTag = /[\s/\\!?]*((?:[a-z][\w.-]*:)*[a-z][a-z_-]*)(?=[\t\n\r -~]|$)(?![a-z&%\\\d_-])/iy

/** The text with every tag of ours made harmless; all else stays as it is. */
export function defused(text: string): string {
  return text.replace(openers, (opener, at: number) =>
    isTag(text, at + opener.length) ? defusedMark : opener,
  )
}

/** A path as a prompt says it outside of a block: in one line, whatever its folders are called. */
export const pathText = (path: string): string =>
  defused(path.replaceAll(/[\p{Cc}\u2028\u2029]/gu, inEscapes))
const inEscapes = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`

/** What a text was before its tags were made harmless, where one other text says so: somebody quotes what was shown. */
export interface Original {
  readonly text: string
  /** What began its first tag. */
  readonly opener: string
}

/** The one text in `source` that is shown as `shown`; null where there is none, or where several differ. */
export function originalOf(source: string, shown: string): Original | null {
  if (!shown.includes(defusedMark)) return null
  const literal = shown
    .split(defusedMark)
    .map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/gu, String.raw`\$&`))
  const pattern = new RegExp(literal.join(`(${defusedMark}|${openers.source})`), openers.flags)
  const found = [...source.matchAll(pattern)].filter(([text]) => defused(text) === shown)
  const first = found[0]
  if (first === undefined || found.some(([text]) => text !== first[0])) return null
  return { text: first[0], opener: first.slice(1).find((one) => one !== defusedMark) ?? '<' }
}

/** A text that somebody wrote after what was shown: its tags as they stand in the original. */
export const restoredTags = (text: string, { opener: begins }: Original): string =>
  text.replaceAll(defusedMark, (mark, at: number) => (isTag(text, at + 1) ? begins : mark))

function isTag(text: string, at: number): boolean {
  plainTag.lastIndex = at
  const plain = plainTag.exec(text)
  if (plain !== null) return isKnownName(plain[1]!)
  const name = /^[\s/\\!?]*((?:[a-z][\w.-]*:)*[a-z][a-z_-]*)(?![a-z\d_-])/u.exec(skeletonAt(text, at))?.[1]
  return name !== undefined && isKnownName(name)
}

/** More than the longest tag takes in the widest encoding anybody would read. */
const windowChars = 400
const invisible = /[\p{Cf}\p{M}\u115F\u1160\u3164\uFFA0]|(?![\t\n\r])\p{Cc}/u
const encoded =
  /&(?:amp;)*#(?:x([\da-f]+)|(\d+));?|%([\da-f]{2})|\\u\{([\da-f]+)\}|\\u([\da-f]{4})|\\x([\da-f]{2})|&sol;/giu

/** What follows as a reader would take it: without what nobody sees, decoded, in plain small letters. */
function skeletonAt(text: string, at: number): string {
  let seen = ''
  for (let i = at; i < text.length && seen.length < windowChars;) {
    const whole = String.fromCodePoint(text.codePointAt(i)!)
    i += whole.length
    const char = unhidden(whole)
    const isPlain = char >= ' ' && char <= '~'
    if (!isPlain && invisible.test(char)) continue
    seen += char
    // No name goes on behind one of these.
    if (char === '<' || char === '>' || seen === '&lt') break
  }
  const decoded = seen.replace(
    encoded,
    (all, hex?: string, decimal?: string, url?: string, long?: string, short?: string, byte?: string) => {
      const digits = hex ?? url ?? long ?? short ?? byte
      const code = digits === undefined ? Number(decimal ?? slash) : Number.parseInt(digits, 16)
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : all
    },
  )
  return decoded
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(new RegExp(invisible, 'gu'), '')
    .replaceAll(/[^\0-~]/gu, (char) => lookalikes[char] ?? framed(char))
}
const slash = 47

/** A tag character nobody sees but a model reads, as the character it stands for. */
function unhidden(char: string): string {
  const code = char.codePointAt(0)! - 0xe0000
  return code >= 0x20 && code <= 0x7e ? String.fromCodePoint(code) : char
}

/** The first letter of each alphabet of framed letters: white in circles, white in squares, and those of flags. */
const frames = [0x1f150, 0x1f170, 0x1f1e6]
function framed(char: string): string {
  const code = char.codePointAt(0)!
  const first = frames.find((one) => code >= one && code < one + 26)
  return first === undefined ? char : String.fromCodePoint(code - first + 0x61)
}

/** Letters of other scripts that are drawn as ours, for the letters our tags have; and other strokes for `/` and `-`. */
const lookalikes: Readonly<Record<string, string>> = {
  а: 'a', с: 'c', е: 'e', һ: 'h', і: 'i', ѕ: 's', ј: 'j', к: 'k', м: 'm', о: 'o', р: 'p', г: 'r', т: 't', υ: 'u', у: 'y', х: 'x',
  α: 'a', ε: 'e', ι: 'i', κ: 'k', ν: 'v', ο: 'o', ρ: 'p', τ: 't', ı: 'i', ɡ: 'g', ⅼ: 'l', ӏ: 'l', ո: 'n', ս: 'u', ԁ: 'd', ѵ: 'v',
  ᴀ: 'a', ᴄ: 'c', ᴅ: 'd', ᴇ: 'e', ꜰ: 'f', ɢ: 'g', ʜ: 'h', ɪ: 'i', ᴊ: 'j', ᴋ: 'k', ʟ: 'l', ᴍ: 'm', ɴ: 'n', ᴏ: 'o', ᴘ: 'p', ʀ: 'r',
  ꜱ: 's', ᴛ: 't', ᴜ: 'u', ᴠ: 'v', ʏ: 'y', '∕': '/', '⁄': '/', '⧸': '/', '‐': '-', '‑': '-', '‒': '-', '–': '-', '−': '-',
} // prettier-ignore
