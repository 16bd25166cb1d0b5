// What the work has used: which names its calls named and which files they worked on, lately more than long ago. What was
// used is what will be used; nothing here knows the future.
import { defaults } from '../../settings/defaults.ts'
import { stringsIn } from '../../projection/folding/block-words.ts'
import type { Part, ViewBlock } from '../../projection/view.ts'
import { namesIn } from '../words.ts'

export interface Usage {
  /** How much calls have used a name. */
  use(name: string): number
  /** How much calls have worked on the files that this block shows or names. */
  work(block: ViewBlock): number
  /** The block shows the text of a file: what an edit will have to quote. */
  showsFile(block: ViewBlock): boolean
  /** The block shows a file that comes with the instructions anyway. */
  isTold(block: ViewBlock): boolean
  /** Answers that came after a part. */
  age(part: Part): number
}

type Call = Extract<ViewBlock, { readonly type: 'tool_use'; readonly input: unknown }>

/** `earlier` are calls that an earlier boundary kept: they say what their results show, and use nothing any more. */
export function usageIn(parts: readonly Part[], earlier: readonly ViewBlock[]): Usage {
  const { fading, changeWeight } = defaults.excerpts
  const names = new Map<string, number>()
  const files = new Map<string, number>()
  const calls = new Map<string, { readonly files: readonly string[]; readonly shows: boolean }>()
  const ages = new Map<Part, number>()
  const learn = (call: Call) => {
    const own = { files: filesOf(call), shows: shows(call) }
    calls.set(call.id, own)
    return own
  }
  for (const call of earlier.filter(isCall)) learn(call)
  let age = parts.filter((part) => part.kind === 'answer').length
  for (const part of parts) {
    if (part.kind === 'answer') age--
    ages.set(part, age)
    const weight = Math.exp(-age / fading)
    for (const call of part.blocks.filter(isCall)) {
      const own = learn(call)
      const worked = weight * (changes(call) ? changeWeight : 1)
      for (const file of own.files) files.set(file, (files.get(file) ?? 0) + worked)
      const used = new Set(stringsIn(call.input).flatMap((text) => [...namesIn(text)]))
      for (const name of used) names.set(name, (names.get(name) ?? 0) + weight)
    }
  }
  const callOf = (block: ViewBlock) => {
    if (isCall(block)) return calls.get(block.id) ?? { files: filesOf(block), shows: false }
    return block.type === 'tool_result' ? calls.get(block.tool_use_id) : undefined
  }
  return {
    use: (name) => names.get(name) ?? 0,
    work: (block) => Math.max(0, ...(callOf(block)?.files ?? []).map((file) => files.get(file) ?? 0)),
    showsFile: (block) => (isCall(block) ? changes(block) : callOf(block)?.shows === true),
    isTold: (block) =>
      callOf(block)?.files.some((file) => told.has(file.slice(file.lastIndexOf('/') + 1))) === true,
    age: (part) => ages.get(part) ?? 0,
  }
}

const told: ReadonlySet<string> = new Set(defaults.restoration.instructionFiles)

const isCall = (block: ViewBlock): block is Call => block.type === 'tool_use' && 'input' in block

const changing = /^(?:old_string|old_str|oldText|new_string|file_text|content|edits)$/
const patchStart = '*** Begin Patch'

const changes = ({ input }: Call): boolean =>
  Object.entries(input).some(
    ([key, value]) => changing.test(key) || (typeof value === 'string' && value.includes(patchStart)),
  )

const reader = /^(?:read|view|open|cat|read_file)$/i
const showingCommand = /(?:^|[;&|('"\s])(?:cat|sed|nl|head|tail|bat|less)\s/
/** A command says at its beginning what it does. */
const commandChars = 400

const shows = ({ name, input }: Call): boolean =>
  reader.test(name) || showingCommand.test(stringsIn(input).join(' ').slice(0, commandChars))

/** Only what has an ending is a file: folders stand in every call. */
const pathWord = /(?:[\w@~.-]*\/)*[\w@~.-]*\w\.[A-Za-z][A-Za-z0-9]{0,5}\b(?!\/)/g
const patched = /^\*\*\* (?:Update|Add) File: (.+)$/gm
const scanChars = 4000
const mostFiles = 8

/** The files a call works on, each with its nearest folder: commands name them in many ways. */
function filesOf({ input }: Call): readonly string[] {
  const named = [input['file_path'], input['path'], input['notebook_path']].filter(
    (value) => typeof value === 'string',
  )
  if (named.length > 0) return named.map(nearestOf)
  const text = stringsIn(input).join('\n').slice(0, scanChars)
  const inPatch = [...text.matchAll(patched)].map((match) => match[1]!)
  const found = inPatch.length > 0 ? inPatch : [...text.matchAll(pathWord)].map(([path]) => path)
  return [...new Set(found.map(nearestOf))].slice(0, mostFiles)
}

const nearestOf = (path: string): string => path.split('/').slice(-2).join('/')
