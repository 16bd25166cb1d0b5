import { describe, expect, it } from 'vitest'
import { Fold } from '../projection/fold.ts'
import type { Part } from '../projection/view.ts'
import { answered, call, entriesOf, result, said } from '../testing/builders.ts'
import type { Fact } from '../transcript/fact.ts'
import { extract } from './extract.ts'
import { fitSections, mergeSections, noSections, parseSections, renderSections } from './sections.ts'

function partsOf(...facts: readonly Fact[]): readonly Part[] {
  const fold = new Fold()
  for (const entry of entriesOf(...facts)) fold.push(entry)
  return [...fold.parts()]
}
const sectionsOf = (...facts: readonly Fact[]) => extract(partsOf(...facts), { isFollowed: false })
const ran = (
  id: string,
  name: string,
  input: Record<string, unknown>,
  text: string,
  isError = false,
): Fact[] => [answered([call(id, name, input)], { id: `m_${id}` }), result(id, text, isError)]

describe('what is extracted', () => {
  it('[O2] files stand with their last state and how often they were touched', () => {
    const { files } = sectionsOf(
      said('go'),
      ...ran('a', 'Read', { file_path: 'src/a.ts' }, 'one\ntwo\nthree\n'),
      ...ran(
        'b',
        'Edit',
        { file_path: 'src/a.ts', old_string: 'one', new_string: 'one\nand\nmore' },
        'edited',
      ),
      ...ran('c', 'Read', { file_path: 'src/a.ts' }, 'one\nand\nmore\ntwo\nthree\n'),
      ...ran('d', 'Write', { file_path: '文档/说明.md', content: '一\n二' }, 'written'),
      ...ran('e', 'Edit', { file_path: 'src/b.ts', old_string: 'x', new_string: 'y' }, 'no such file', true),
    )
    expect(files).toEqual([
      'src/a.ts — edited, 1 line became 3 [5], read 2 times',
      '文档/说明.md — written, 2 lines [9]',
      'src/b.ts — an edit failed [11]',
    ])
  })

  it('[O2] commands stand once, with their newest outcome and the last thing they said', () => {
    const { commands } = sectionsOf(
      said('go'),
      ...ran('a', 'Bash', { command: 'npm test' }, 'FAIL login.test.ts\n3 failed', true),
      ...ran('b', 'Bash', { command: 'npm run lint' }, 'all good'),
      ...ran('c', 'Bash', { command: 'npm test' }, 'ok\n42 passed\n'),
      ...ran('d', 'Bash', { command: 'make' }, 'broken\nexit code 2'),
    )
    expect(commands).toEqual([
      '`npm run lint` — worked [5]: all good',
      '`npm test` — worked [7], run 2 times: 42 passed',
      '`make` — failed [9]: exit code 2',
    ])
  })

  it('[O38] open tasks have room in however small a text, before what is done; tasks that were made one by one go on', () => {
    const tasks = Array.from({ length: 9 }, (_, at) => `#${at + 1} step number ${at + 1} of the plan`)
    const lines = tasks.map((task, at) => `[${at < 6 ? 'x' : ' '}] ${task}`)
    const all = { ...noSections, open: lines, outcomes: ['We keep the ledger. [3]'] }
    const fitted = fitSections(all, 10, { factor: 1, taskTokens: 400 })
    expect(fitted.open).toEqual(lines.slice(6))
    expect(fitted.outcomes).toEqual([])
    // One that is long leaves room for the others.
    const first = {
      todos: [
        { content: 'word '.repeat(2000), status: 'pending' },
        { content: 'Test it', status: 'pending' },
      ],
    }
    const { open } = sectionsOf(said('go'), ...ran('a', 'TodoWrite', first, 'ok'))
    expect(fitSections({ ...noSections, open }, 10, { factor: 1, taskTokens: 400 }).open.at(-1)).toBe(
      '[ ] Test it',
    )
    // A list that is longer than any text has what it can have.
    const long = Array.from({ length: 90 }, (_, at) => `[ ] ${at} ${'of a long plan '.repeat(8)}`)
    expect(
      fitSections({ ...all, open: long }, 10, { factor: 1, taskTokens: 400 }).open.length,
    ).toBeGreaterThan(5)
    expect(fitSections({ ...all, open: long }, 10, { factor: 1, taskTokens: 400 }).open.length).toBeLessThan(
      30,
    )
  })

  it('[O2] an error stands with what followed it', () => {
    const { errors } = sectionsOf(
      said('go'),
      ...ran('a', 'Bash', { command: 'npm test' }, 'running\nTypeError: x is not a function\n  at y', true),
      answered(
        [
          { type: 'text', text: 'The import is wrong. Fixing it.' },
          call('b', 'Bash', { command: 'npm test' }),
        ],
        { id: 'f' },
      ),
      result('b', '1 passed'),
    )
    expect(errors).toEqual([
      'Bash npm test: TypeError: x is not a function [3]; then: The import is wrong.; later it worked [5]',
    ])
  })

  it('[O2] a call of another tool worked later only with the same input', () => {
    const { errors } = sectionsOf(
      said('go'),
      ...ran('a', 'Skill', { name: 'deploy' }, 'There is no skill deploy.', true),
      ...ran('b', 'Skill', { name: 'release' }, 'how it is done'),
    )
    expect(errors).toEqual(['Skill deploy: There is no skill deploy. [3]'])
  })

  it.each([
    [
      'English',
      'We looked around. I decided to use JWT instead of sessions. Fine.',
      'I decided to use JWT instead of sessions.',
    ],
    ['Chinese', '看了一下代码。我们决定改用新的解析库。继续。', '我们决定改用新的解析库。'],
    ['Japanese', '調べました。原因は古いトークンでした。続けます。', '原因は古いトークンでした。'],
    [
      'Korean',
      '확인했습니다. 캐시 대신 파일을 쓰기로 결정했습니다. 계속합니다.',
      '캐시 대신 파일을 쓰기로 결정했습니다.',
    ],
    ['German', 'Gut. Die Ursache war ein alter Zeiger. Weiter.', 'Die Ursache war ein alter Zeiger.'],
    [
      'Russian',
      'Посмотрел. Мы решили взять SQLite вместо файлов. Дальше.',
      'Мы решили взять SQLite вместо файлов.',
    ],
  ])('[O2] decisions are found in %s', (_, text, sentence) => {
    const working = answered([{ type: 'text', text }, call('a')], { id: 'x' })
    expect(sectionsOf(said('go'), working, result('a')).outcomes).toEqual([`${sentence} [2]`])
  })

  it('[O2] what the model said it would do stands with how it went, one sentence a call', () => {
    const text = 'Reading a.ts.\nRunning the tests. More words.'
    const both = [call('a', 'Read', { file_path: 'a.ts' }), call('b', 'Bash', { command: 'npm test' })]
    const answer = answered([{ type: 'text', text }, ...both], { id: 'x' })
    expect(sectionsOf(said('go'), answer, result('a'), result('b', 'boom', true)).steps).toEqual([
      'Reading a.ts. — worked [2]',
      'Running the tests. — failed [2]',
    ])
  })

  it('[O2] a word or two before a call is no step, and what decides is a decision', () => {
    const run = (text: string) => {
      const answer = answered([{ type: 'text', text }, call('a', 'Bash', { command: 'make' })], { id: 'x' })
      const { steps, outcomes } = sectionsOf(said('go'), answer, result('a'))
      return { steps, outcomes }
    }
    const steps = ['Let me look at the build. — worked [2]']
    expect(run('Good question. Let me look at the build.')).toEqual({ steps, outcomes: [] })
    expect(run('The cause was a stale lock. Let me look at the build.')).toEqual({
      steps,
      outcomes: ['The cause was a stale lock. [2]'],
    })
    expect(run('Done.').steps).toEqual([])
  })

  it('[O2] what only leads on to something is not what came out of it', () => {
    expect(sectionsOf(said('go'), answered('Two things there:\n- rows drift')).outcomes).toEqual([])
    expect(sectionsOf(said('go'), answered('两个问题：\n- 行')).outcomes).toEqual([])
    expect(sectionsOf(said('go'), answered('It failed because of this:\n- rows drift')).outcomes).toEqual([
      'It failed because of this: [2]',
    ])
  })

  it('[O2] an answer that ends a turn stands with how it begins, whatever its language', () => {
    expect(sectionsOf(said('go'), answered('ทำเสร็จแล้ว')).outcomes).toEqual(['ทำเสร็จแล้ว [2]'])
    expect(sectionsOf(said('go'), answered('已修复')).outcomes).toEqual(['已修复 [2]'])
    expect(sectionsOf(said('go'), answered('All tests pass.')).outcomes).toEqual(['All tests pass. [2]'])
  })

  it('[O2] an answer that begins with a word or two of consent is no outcome', () => {
    for (const text of ['Done.', 'Good thinking! Now the rest of it.', '[empty response]'])
      expect(sectionsOf(said('go'), answered(text)).outcomes).toEqual([])
  })

  it('[O1] is deterministic, and every line but its labels stands in the span', () => {
    const facts = [
      said('go'),
      ...ran('a', 'Read', { file_path: 'src/a.ts' }, 'one\n'),
      ...ran('b', 'Bash', { command: 'npm test' }, 'Error: boom', true),
      answered('The cause was a race. Next: write a test. Shall I?'),
    ]
    const parts = partsOf(...facts)
    const once = renderSections(extract(parts, { isFollowed: false }))
    expect(renderSections(extract(partsOf(...facts), { isFollowed: false }))).toBe(once)
    const source = JSON.stringify(parts.map(({ blocks }) => blocks))
    const labels = new Set(
      'read lines worked failed then said called a an edit write line Read Bash later it no result times run edited written became'.split(
        ' ',
      ),
    )
    for (const line of once.split('\n').filter((text) => text.startsWith('- '))) {
      const words = line.replaceAll(/\[\d+\]/g, '').match(/\p{L}+/gu) ?? []
      for (const word of words)
        expect(labels.has(word) || source.includes(word), `${word} in ${line}`).toBe(true)
    }
  })

  it('[O3] what was announced with a call is not open; what an answer leaves at its end is', () => {
    const announced = answered(
      [{ type: 'text', text: 'Next I will run the audit.' }, call('a', 'Bash', { command: 'audit' })],
      { id: 'n' },
    )
    expect(sectionsOf(said('go'), announced, result('a', 'ok')).open).toEqual([])
    const ended = answered('The audit ran. Next: fix the two findings. Which one first?', { id: 'e' })
    expect(sectionsOf(said('go'), announced, result('a', 'ok'), ended).open).toEqual([
      'Next: fix the two findings. [4]',
      'Which one first? [4]',
    ])
    expect(extract(partsOf(said('go'), ended), { isFollowed: true }).open).toEqual([])
  })

  it('[O3] the newest task list stands with its states', () => {
    const list = (id: string, state: string) =>
      ran(
        id,
        'TaskList',
        {
          tasks: [
            { title: 'write it', state },
            { title: '测试它', state: 'pending' },
          ],
        },
        'ok',
      )
    expect(sectionsOf(said('go'), ...list('a', 'active'), ...list('b', 'done')).open).toEqual([
      '[x] write it',
      '[ ] 测试它',
    ])
  })

  it('[O38] a call that makes or moves a task runs nothing and looks nothing up', () => {
    const { commands, lookups, open } = sectionsOf(
      said('go'),
      ...ran(
        'a',
        'TaskCreate',
        { subject: 'make the build faster' },
        'Task #1 created successfully: make the build faster',
      ),
      ...ran('b', 'TaskUpdate', { taskId: '1', status: 'in_progress' }, 'Updated task #1 status'),
      ...ran('c', 'Search', { query: 'the build' }, 'none'),
    )
    expect(open).toEqual(['[>] #1 make the build faster'])
    expect([commands, lookups]).toEqual([[], ['Search the build [6]']])
  })

  it('[O3] where the work stood is the last answer and the calls after it', () => {
    const { standing } = sectionsOf(
      said('go'),
      answered(
        [
          { type: 'text', text: 'Now the parser.' },
          call('a', 'Edit', { file_path: 'p.ts', old_string: 'a', new_string: 'b' }),
        ],
        { id: 'x' },
      ),
      result('a', 'done'),
    )
    expect(standing).toEqual(['said [2]: Now the parser.', 'called [2]: Edit p.ts a b (worked)'])
  })
})

describe('sections', () => {
  const older = {
    ...noSections,
    open: ['[ ] ship it', 'Next: test [9]'],
    files: ['a.ts — read, 3 lines [4]'],
    standing: ['said [9]: old'],
  }
  const newer = {
    ...noSections,
    files: ['b.ts — read, 1 line [12]', 'a.ts — written, 9 lines [14]'],
    standing: ['said [15]: new\nin two lines'],
  }

  it('[O4] a rendered text is read back into the same lines', () => {
    expect(parseSections(renderSections(newer))).toEqual(newer)
    expect(parseSections('a summary of somebody else')).toBeNull()
  })

  it('[O4] newer lines replace what they are about; tasks stay until a newer list', () => {
    const merged = mergeSections(older, newer)
    expect(merged.files).toEqual(['b.ts — read, 1 line [12]', 'a.ts — written, 9 lines [14]'])
    expect(merged.standing).toEqual(['said [15]: new\nin two lines'])
    expect(merged.open).toEqual(['[ ] ship it'])
    expect(mergeSections(older, { ...newer, open: ['[x] ship it'] }).open).toEqual(['[x] ship it'])
    expect(mergeSections(older, noSections)).toEqual(older)
  })

  it('[O4] fitting keeps the newest, tasks first, wanted words before others, and never exceeds its tokens', () => {
    const outcomes = Array.from(
      { length: 50 },
      (_, index) => `finding number ${index} about ${index === 3 ? 'the parser' : 'things'}`,
    )
    const many = { ...noSections, outcomes, open: ['[ ] one', '[ ] two', '[ ] three'] }
    const fitted = fitSections(many, 120, { factor: 1, focus: ['parser'], taskTokens: 0 })
    expect(fitted.open).toEqual(['[ ] one', '[ ] two', '[ ] three'])
    expect(fitted.outcomes[0]).toContain('the parser')
    expect(fitted.outcomes.at(-1)).toContain('number 49')
    expect(fitted.outcomes.length).toBeLessThan(15)
    expect(fitSections(many, 0, { factor: 1, taskTokens: 0 })).toEqual(noSections)
  })
})
