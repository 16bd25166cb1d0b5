// A made-up session: a person asks, an agent searches, reads, runs, fails and edits, and what it uses is what it has
// seen. Pauses are those of a person. Nothing here is recorded; it has the shape of recorded work and proves nothing more.
import { defaults } from '../settings/defaults.ts'
import type { RecordedBlock, RecordedTurn, Recording } from './recording.ts'

interface SampleSize {
  readonly requests: number
  readonly files: number
  readonly lines: number
}

export function sampleSession(index: number, size: SampleSize): Recording {
  const chance = chanceOf(index + 1)
  const recorder = new Recorder(chance, projectOf(chance, size.files, size.lines))
  while (recorder.answers < size.requests) turn(recorder, size)
  return {
    name: `sample-${index + 1}`,
    client: 'sample',
    model: defaults.preset.model,
    usageKind: 'none',
    outputCounts: 'partial',
    firstRequestTokens: null,
    system: null,
    tools: ['Bash', 'Edit', 'Grep', 'Read', 'Write'],
    turns: recorder.turns,
  }
}

class Recorder {
  readonly turns: RecordedTurn[] = []
  /** What was read, oldest first. */
  readonly read: SourceFile[] = []
  readonly chance: Chance
  readonly project: Project
  answers = 0
  #at = Date.UTC(2026, 0, 5, 9)
  #calls = 0

  constructor(chance: Chance, project: Project) {
    this.chance = chance
    this.project = project
  }

  say(words: string): void {
    const { pauses } = defaults.lab.sample
    const pause = this.turns.length === 0 ? 0 : this.chance.pick(pauses)
    this.#push('user', [{ block: { type: 'text', text: words } }], pause)
  }

  /** An answer with calls, and their results. */
  use(words: string, ...calls: readonly (readonly [name: string, input: object, output: string])[]): void {
    const ids = calls.map(() => `call-${(this.#calls += 1)}`)
    const said: RecordedBlock[] = words === '' ? [] : [{ block: { type: 'text', text: words } }]
    const asked = calls.map(([name, input], at) => ({
      block: { type: 'tool_use' as const, id: ids[at]!, name, input: { ...input } },
    }))
    this.#answer([...said, ...asked])
    const results = calls.map(([, , output], at) => ({
      block: {
        type: 'tool_result' as const,
        tool_use_id: ids[at]!,
        content: [{ type: 'text' as const, text: output }],
        is_error: output.startsWith('Error'),
      },
    }))
    this.#push('user', results, this.chance.between(1, 12) * second)
  }

  conclude(words: string): void {
    this.#answer([{ block: { type: 'text', text: words } }])
  }

  #answer(content: readonly RecordedBlock[]): void {
    this.answers += 1
    this.#push('assistant', content, this.chance.between(3, 20) * second)
  }

  #push(role: RecordedTurn['role'], content: readonly RecordedBlock[], pause: number): void {
    this.turns.push({ role, content, at: (this.#at += pause) })
  }
}

const second = 1000

function turn(recorder: Recorder, size: SampleSize): void {
  const { chance, project } = recorder
  const file = chance.pick(project.files)
  const name = nameIn(file, chance)
  recorder.say(
    `${chance.pick(['Please make', 'Now make', 'Next: make'])} ${name} in ${file.path} hold its limit of ${chance.between(200, 9000)}. ` +
      chance.pick([
        'Leave the other callers alone.',
        'Do not change public names.',
        'The tests must pass afterwards.',
      ]),
  )
  search(recorder, name)
  readFile(recorder, file)
  for (let step = chance.between(4, 14); step > 0 && recorder.answers < size.requests; step--) {
    const kind = chance.next()
    if (kind < 0.3) readFile(recorder, chance.pick(project.files))
    else if (kind < 0.45) search(recorder, chance.pick(project.names))
    else if (kind < 0.75) edit(recorder)
    else if (kind < 0.93) run(recorder, chance.isLikely(0.5))
    else
      recorder.use('A note for later.', [
        'Write',
        { file_path: `notes/${name}.md`, content: note(recorder) },
        'ok',
      ])
  }
  recorder.conclude(`${name} holds its limit now; ${file.path} is the only file with a changed name.`)
}

const nameIn = ({ lines }: SourceFile, chance: Chance): string =>
  /function (\w+)/.exec(chance.pick(lines.filter((line) => line.startsWith('export'))))![1]!

function search(recorder: Recorder, name: string): void {
  const pattern = name.replace(/_\d+$/, '')
  const found = recorder.project.files.flatMap(({ path, lines }) =>
    lines.flatMap((line, at) => (line.includes(pattern) ? [`${path}:${at + 1}:${line}`] : [])),
  )
  recorder.use('', ['Grep', { pattern, path: 'src' }, found.join('\n') || 'nothing found'])
}

function readFile(recorder: Recorder, file: SourceFile): void {
  recorder.read.push(file)
  const text = file.lines.map((line, at) => `${String(at + 1).padStart(6)}→${line}`).join('\n')
  recorder.use(recorder.chance.pick(['', `Reading ${file.path}.`]), ['Read', { file_path: file.path }, text])
}

/** Mostly a file that was read lately, sometimes one that was read long ago. */
function edit(recorder: Recorder): void {
  const { chance, read } = recorder
  const { recentReads, oldEdits } = defaults.lab.sample
  const file = chance.pick(chance.isLikely(oldEdits) ? read : read.slice(-recentReads))
  const at = chance.between(2, file.lines.length - 2)
  const old = file.lines.slice(at, at + 2).join('\n')
  if (old.trim() === '') return search(recorder, chance.pick(recorder.project.names))
  const fresh = `${file.lines[at]} // held`
  recorder.use(chance.pick(['', 'This is the place.']), [
    'Edit',
    { file_path: file.path, old_string: old, new_string: `${fresh}\n${file.lines[at + 1]}` },
    `${file.path} was changed`,
  ])
  file.lines[at] = fresh
}

function run(recorder: Recorder, fails: boolean): void {
  const { chance, project } = recorder
  const file = chance.pick(recorder.read)
  const rows = Array.from({ length: chance.between(20, defaults.lab.sample.outputLines) }, (_, row) => {
    const name = chance.pick(project.names)
    return ` ✓ ${name} keeps what it was given (case ${row}) ${chance.between(1, 900)}ms`
  })
  const at = chance.between(1, file.lines.length)
  const trouble = [
    `Error: expected ${chance.between(100, 9999)}, got ${chance.between(100, 9999)}`,
    `    at ${nameIn(file, chance)} (${file.path}:${at}:17)`,
  ]
  const output = fails ? [...trouble, ...rows] : [...rows, `${rows.length} passed`]
  recorder.use('', ['Bash', { command: `npm test -- ${file.path}` }, output.join('\n')])
  if (fails) readFile(recorder, file)
}

const note = ({ read, chance }: Recorder): string =>
  `Seen so far, commit ${chance.between(2 ** 27, 2 ** 32 - 1).toString(16)}:\n${read.map(({ path }) => `- ${path}`).join('\n')}`

// A made-up project: files of lines that name each other's functions, so that what is found in one place is used in
// another. The lines change as they are edited.

interface SourceFile {
  readonly path: string
  readonly lines: string[]
}

interface Project {
  readonly files: readonly SourceFile[]
  readonly names: readonly string[]
}

const areas = ['billing', 'orders', 'stock', 'reports', 'users', 'mail', 'search', 'export'] as const
const nouns = ['Row', 'Total', 'Batch', 'Cursor', 'Ledger', 'Quota', 'Window', 'Record', 'Digest'] as const
const verbs = ['parse', 'merge', 'apply', 'check', 'load', 'split', 'count', 'render', 'resolve'] as const

function projectOf(chance: Chance, files: number, lines: number): Project {
  const names = Array.from(
    { length: files * 4 },
    (_, index) => `${chance.pick(verbs)}${chance.pick(nouns)}${index}`,
  )
  return {
    names,
    files: Array.from({ length: files }, (_, index) => fileOf(chance, names, index, lines)),
  }
}

function fileOf(chance: Chance, names: readonly string[], index: number, most: number): SourceFile {
  const area = areas[index % areas.length]!
  const path = `src/${area}/${chance.pick(nouns).toLowerCase()}-${index}.ts`
  const own = names.slice(index * 4, index * 4 + 4)
  const lines = [`// ${area}: ${own.join(', ')}`, '']
  const wanted = chance.between(Math.ceil(most / 3), most)
  while (lines.length < wanted) lines.push(...functionOf(chance, names, chance.pick(own), lines.length))
  return { path, lines }
}

function functionOf(chance: Chance, names: readonly string[], name: string, at: number): readonly string[] {
  const limit = chance.between(100, 99_999)
  const body = Array.from({ length: chance.between(3, 9) }, (_, row) => {
    const other = chance.pick(names)
    return chance.pick([
      `  const part_${at + row} = ${other}(input.slice(${row}), { limit: ${limit + row} })`,
      `  if (part.size > ${limit + row}) throw new RangeError('${other} gave more than ${limit + row} rows')`,
      `  for (const entry of ${other}(options)) seen.set(entry.key_${at + row}, entry)`,
      `  // ${other} has counted these already, so they must not be counted again.`,
    ])
  })
  return [
    `export function ${name}_${at}(input: Input, options: Options): Output {`,
    ...body,
    `  return finish(seen, ${limit})`,
    '}',
    '',
  ]
}

interface Chance {
  /** At least 0 and below 1. */
  next(): number
  /** A whole number, both ends included. */
  between(least: number, most: number): number
  pick<T>(list: readonly T[]): T
  isLikely(share: number): boolean
}

/** Chance that comes out the same each time: a small generator of numbers (mulberry32), begun with a seed. */
function chanceOf(seed: number): Chance {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    pick: (list) => list[between(0, list.length - 1)]!,
    isLikely: (share) => next() < share,
  }
}
