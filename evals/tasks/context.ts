// What must survive a long session: facts, plans, rules, and what is worth remembering in the next one.
import { call, type ScriptStep } from '../../src/simulator/index.ts'
import { all, callsOf, field, longPage, type Stage, type Task, type Turn } from '../task.ts'

const work = { allow: ['Edit', 'Write', 'Bash'] }
const at = (project: string, path: string): string => `${project}/${path}`
const lastText = (turns: readonly Turn[]): string => turns.at(-1)?.text ?? ''

const rows = 2500
const wanted = 1871
const valueOf = (row: number): string => ((row * 7919) % 100_003).toString(36)
/** A ref as stubs and summaries name it. */
const refIn: ScriptStep = (request) => {
  const ref = /ref\W{1,3}([\w./:-]*[\w])/.exec(JSON.stringify(request.messages))?.[1] ?? 'none'
  return [call('Expand', { ref })]
}

export const clearedFact: Task = {
  name: 'fact-in-a-removed-result',
  wants:
    'a detail that was removed from the context is brought back by its ref, when nothing else holds it any more',
  files: { 'table.txt': Array.from({ length: rows }, (_, row) => `row ${row} = ${valueOf(row)}`).join('\n') },
  play: async (stage) => {
    const first = await stage.prompt(
      'Print table.txt with `cat table.txt`. Just say when you have seen it.',
      work,
    )
    await stage.pal('compact')
    stage.shell('git rm -q --force table.txt && git commit -qm gone && git reflog expire --expire=now --all')
    return [
      first,
      await stage.prompt(`table.txt is gone. Which value stood in row ${wanted} of what you printed?`, {
        ...work,
        continues: true,
      }),
    ]
  },
  judge: (_stage, turns) =>
    all(
      ['the value is right', lastText(turns).includes(valueOf(wanted))],
      ['Expand was asked for', callsOf(turns.slice(1)).some(({ name }) => name === 'Expand')],
    ),
  good: () => [
    [call('Bash', { command: 'cat table.txt' })],
    'I have seen it.',
    refIn,
    `Row ${wanted} was ${valueOf(wanted)}.`,
  ],
  bad: () => [
    [call('Bash', { command: 'cat table.txt' })],
    'I have seen it.',
    'I no longer know; the file is gone.',
  ],
}

const seesPage: ScriptStep = [call('Bash', { command: 'cat page.txt' })]
const readsPage = (stage: Stage, name = 'page.txt'): ScriptStep =>
  [1, 501, 1001].map((offset) => call('Read', { file_path: at(stage.project, name), offset, limit: 500 }))
const writes = ({ project }: Stage, name: string, content: string): ScriptStep => [
  call('Write', { file_path: at(project, name), content }),
]
/** Where a run notes what kind of summary it got. */
const kindFile = '.git/kind'

interface MidOptions {
  readonly settings: Readonly<Record<string, unknown>>
  /** Notes are written beside a turn: it lasts until they are, and some conversation follows them. */
  readonly isNoted?: boolean
}
/** Ends when notes of the session are written, or after a minute. */
const slowBuild = `for n in $(seq 240); do
  grep -qs '"type":"notes-update"' "$HOME"/.palimpsest/projects/*/sessions/*/transcript.jsonl && break
  sleep 0.25
done
echo built
`
/** Enough of it that the notes need not be read beside what they were made of. */
const moreTalk = [
  'Read other.txt with the Read tool, 500 lines at a time, and say when it is done.',
  'What is 3 + 3?',
  'And 4 + 4?',
]
const moreAnswers = (stage: Stage): readonly ScriptStep[] => [
  readsPage(stage, 'other.txt'),
  'It is done.',
  '6',
  '8',
]

const midTask = (source: string, { settings, isNoted = false }: MidOptions): Task => {
  const talk = isNoted ? moreTalk : []
  const build = isNoted ? ', run `sh build.sh`,' : ''
  const first = (stage: Stage): readonly ScriptStep[] => [
    readsPage(stage),
    writes(stage, 'one.txt', '1\n'),
    ...(isNoted ? [[call('Bash', { command: 'sh build.sh' })]] : []),
    'The first step is done.',
    ...(isNoted ? moreAnswers(stage) : []),
  ]
  return {
    name: `compaction-in-the-middle-${source}`,
    wants: 'after a compaction the work goes on where it stood: nothing twice, nothing asked again',
    files: { 'page.txt': longPage, ...(isNoted ? { 'other.txt': longPage, 'build.sh': slowBuild } : {}) },
    settings,
    play: async (stage) => {
      const before = [
        await stage.prompt(
          `Read page.txt whole with the Read tool, 500 lines at a time. Then three steps: one.txt with the text 1, two.txt with 2, three.txt with 3. Do only the first now${build} and stop there.`,
          work,
        ),
      ]
      for (const question of talk) before.push(await stage.prompt(question, { ...work, continues: true }))
      const { source: kind } = JSON.parse(await stage.pal('compact', '--json')) as { source: string }
      stage.write(kindFile, kind)
      return [...before, await stage.prompt('Go on with the rest.', { ...work, continues: true })]
    },
    judge: (stage, turns) => {
      const later = callsOf(turns.slice(1))
      return all(
        [`the summary is of the kind ${source}`, read(stage, kindFile) === source],
        [
          'all three are there',
          ['one', 'two', 'three'].every((name, n) => read(stage, `${name}.txt`).trim() === `${n + 1}`),
        ],
        [
          'the first was not written again',
          !later.some((one) => field(one, 'file_path').endsWith('one.txt') && one.name !== 'Read'),
        ],
        ['nothing was asked', !lastText(turns).includes('?')],
      )
    },
    good: (stage) => [
      ...first(stage),
      [
        call('Write', { file_path: at(stage.project, 'two.txt'), content: '2\n' }),
        call('Write', { file_path: at(stage.project, 'three.txt'), content: '3\n' }),
      ],
      'All three files are there.',
    ],
    bad: (stage) => [...first(stage), 'Which steps do you mean?'],
  }
}

function read(stage: Stage, path: string): string {
  return stage.shell(`cat ${path} 2>/dev/null || true`)
}

const small = ['Run `cat page.txt` and say when it is done.', 'What is 3 + 3?', 'And 4 + 4?']
const smallAnswers: readonly ScriptStep[] = [seesPage, 'It is done.', '6', '8']
export const oldRule: Task = {
  name: 'old-rule',
  wants: 'a rule given long before still counts after two compactions',
  files: { 'page.txt': longPage },
  play: async (stage) => {
    const turns = [
      await stage.prompt(
        'From now on every file you create begins with the line "# owned by ops". Just say ok.',
        work,
      ),
    ]
    for (const round of [1, 2]) {
      for (const question of small)
        turns.push(await stage.prompt(`${question} (${round})`, { ...work, continues: true }))
      await stage.pal('compact')
    }
    turns.push(await stage.prompt('Create run.sh, which prints hello.', { ...work, continues: true }))
    return turns
  },
  judge: (stage) =>
    all(['the file begins as the rule says', read(stage, 'run.sh').startsWith('# owned by ops\n')]),
  good: (stage) => [
    'ok',
    ...smallAnswers,
    ...smallAnswers,
    writes(stage, 'run.sh', '# owned by ops\necho hello\n'),
    'Done.',
  ],
  bad: (stage) => [
    'ok',
    ...smallAnswers,
    ...smallAnswers,
    writes(stage, 'run.sh', '#!/bin/sh\necho hello\n'),
    'Done.',
  ],
}

export const german: Task = {
  name: 'german',
  wants: 'a session in German is answered in German, and the summary of it is accepted',
  files: { 'sum.mjs': 'export const sum = (a, b) => a - b\n', 'seite.txt': longPage },
  play: async (stage) => {
    const first = await stage.prompt(
      'Führe einmal `cat seite.txt` aus. Erkläre dann kurz auf Deutsch, was an sum.mjs falsch ist. Ändere nichts.',
      work,
    )
    const out = await stage.pal('compact', '--json')
    stage.write('.compaction.json', out)
    return [first, await stage.prompt('Und wie sähe die Zeile richtig aus?', { ...work, continues: true })]
  },
  judge: (stage, turns) =>
    all(
      [
        'answered in German',
        turns.every(({ text }) => /\b(?:die|der|das|statt|und|ist|muss|Zeile|wird)\b/.test(text)),
      ],
      [
        'the compaction went through',
        /"(?:boundary|seq|tokensAfter|after)"/.test(read(stage, '.compaction.json')),
      ],
      ['nothing was changed', read(stage, 'sum.mjs').includes('a - b')],
    ),
  good: ({ project }) => [
    [call('Bash', { command: 'cat seite.txt' }), call('Read', { file_path: at(project, 'sum.mjs') })],
    'In sum.mjs:1 wird abgezogen statt addiert.',
    'Die Zeile muss `a + b` zurückgeben.',
  ],
  bad: ({ project }) => [
    [call('Bash', { command: 'cat seite.txt' }), call('Read', { file_path: at(project, 'sum.mjs') })],
    'sum.mjs:1 subtracts.',
    'It must return `a + b`.',
  ],
}

const memoryText = `---
name: deploys only on Tuesdays
description: when we deploy
type: project
triggers: [deploy, release]
---
We deploy only on Tuesdays. **Why:** the on-call plan. **How to apply:** propose Tuesdays.
`
/** Where memories lie stands in the system prompt. */
const savesMemory =
  (name: string, content: string): ScriptStep =>
  ({ system }) => {
    const folder = /(\/[^\s"]+\/projects\/[^\s"]+\/memory)\b/.exec(JSON.stringify(system))?.[1] ?? '/nowhere'
    return [call('Write', { file_path: `${folder}/${name}`, content })]
  }

interface MemoryList {
  readonly memories: readonly unknown[]
}
const memoryCount = async (stage: Stage): Promise<number> =>
  (JSON.parse(await stage.pal('memory', '--json')) as MemoryList).memories.length

export const remember: Task = {
  name: 'remember',
  wants: 'what the user wants remembered is saved once, and counts in the next session',
  files: { 'README.md': '# Service\n' },
  play: async (stage) => [
    await stage.prompt('Remember: we deploy only on Tuesdays, because of the on-call plan.', work),
    await stage.prompt('On which weekday may I deploy? Answer with the day alone.', work),
  ],
  judge: async (stage, turns) =>
    all(
      ['one memory was saved', (await memoryCount(stage)) === 1],
      ['the next session knows it', /tuesday/i.test(lastText(turns))],
    ),
  good: () => [savesMemory('deploys.md', memoryText), 'Saved: we deploy only on Tuesdays.', 'Tuesday.'],
  bad: () => ['I will keep that in mind.', 'Any day you like.'],
}

const chat = ['What does `git rebase -i` do?', 'And what is a fast-forward?', 'Thanks. How do I leave vim?']
export const nothingLasting: Task = {
  name: 'nothing-lasting',
  wants: 'a talk with nothing worth keeping leaves no memory',
  files: { 'README.md': '# Empty\n' },
  play: async (stage) => {
    const turns: Turn[] = []
    for (const [n, question] of chat.entries())
      turns.push(await stage.prompt(question, { ...work, continues: n > 0 }))
    return turns
  },
  judge: async (stage) => all(['no memory was saved', (await memoryCount(stage)) === 0]),
  good: () => ['It edits a row of commits.', 'The branch pointer moves forward.', ':q! and Enter.'],
  bad: () => [
    'It edits a row of commits.',
    savesMemory('vim.md', memoryText.replaceAll('deploy', 'vim')),
    'The branch pointer moves forward.',
    ':q! and Enter.',
  ],
}

export const agentSearch: Task = {
  name: 'search-by-an-agent',
  wants: 'a broad search is given to an agent, whose report is short and names the place',
  files: Object.fromEntries(
    Array.from({ length: 30 }, (_, n) => [
      `src/part-${n}.mjs`,
      `export const part = ${n}\n${n === 17 ? 'export const MAX_TRIES = 5\n' : ''}export const name = 'part ${n}'\n`,
    ]),
  ),
  play: async (stage) => [
    await stage.prompt(
      'Let an agent find out where the limit of retries is defined. Name the place as path:line.',
      work,
    ),
  ],
  judge: (_stage, turns) => {
    const agent = callsOf(turns).filter(({ name }) => name === 'Agent')
    return all(
      ['an agent was asked', agent.length > 0],
      ['its report is at most 4,000 characters', agent.every(({ result }) => result.length <= 4000)],
      ['the place is right', lastText(turns).includes('part-17.mjs:2')],
    )
  },
  good: () => [
    [
      call('Agent', {
        label: 'find the limit',
        prompt: 'Find where the limit of retries is defined, as path:line.',
      }),
    ],
    [call('Grep', { pattern: 'TRIES' })],
    'MAX_TRIES is defined at src/part-17.mjs:2.',
    'The limit is defined at src/part-17.mjs:2.',
  ],
  bad: () => [[call('Grep', { pattern: 'retry' })], 'There is no limit of retries.'],
}

export const midTasks: readonly Task[] = [
  midTask('extractive', { settings: { modelSummary: false, notes: false } }),
  midTask('model', { settings: { modelSummary: true, notes: false } }),
  midTask('notes', {
    // Without the sandbox, which hides from commands whether notes are there.
    settings: { modelSummary: false, notes: true, notesAsSummary: true, sandbox: 'off' },
    isNoted: true,
  }),
]
