// Consolidation and progress with their checkers: proposals and phrases that follow the prompt literally are accepted in six
// languages, those that break it are refused.
import { describe, expect, it } from 'vitest'
import { phraseOf, progressPrompt } from '../../src/forks/agents/progress.ts'
import { changeSetOf } from '../../src/forks/memory/consolidation/change-set.ts'
import { consolidationPrompt } from '../../src/forks/memory/prompt.ts'
import { readSnapshot } from '../../src/forks/memory/consolidation/snapshot.ts'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import { defaults } from '../../src/settings/defaults.ts'
import { folder } from '../memory/folder.ts'
import { from, keeperIn, unsynced } from '../memory/memories.ts'

/** A rule, a second one on the same topic, what nobody said, a file name as a project has it, and a phrase about it. */
const languages = {
  en: [
    'Always run the linter before you commit.',
    'Run the tests after the linter.',
    'Deploy on Fridays only.',
    'src/parser.ts',
    'Reading the parser tests',
  ],
  de: [
    'Führe immer den Linter aus, bevor du committest.',
    'Danach laufen die Prüfungen.',
    'Freitags wird ausgeliefert.',
    'src/größe.ts',
    'Reading größe.ts for sizes',
  ],
  fr: [
    'Lance toujours le linter avant de valider.',
    'Ensuite lance les essais.',
    'On livre le vendredi.',
    'src/données.ts',
    'Searching données.ts for dates',
  ],
  es: [
    'Ejecuta siempre el linter antes de confirmar.',
    'Después ejecuta las pruebas.',
    'Se publica los viernes.',
    'src/tamaño.ts',
    'Editing tamaño.ts right now',
  ],
  zh: [
    '提交之前一定要先运行检查工具。',
    '然后运行测试。',
    '只在星期五发布。',
    'src/设计.ts',
    'Reading 设计.ts for links',
  ],
  ja: [
    'コミットする前に必ずリンターを実行してください。',
    'その後でテストを実行します。',
    '金曜日に公開します。',
    'src/解析器.ts',
    'Checking 解析器.ts for errors',
  ],
} as const
const cases = Object.entries(languages)

const memory = (name: string, lines: readonly string[]): string =>
  `---\nname: ${name}\ndescription: ${lines[0]}\ntype: feedback\n---\n${lines.join('\n')}\n`

async function worldOf(files: Readonly<Record<string, string>>) {
  const keeper = keeperIn(await folder(), { fs: unsynced, clock: { now: () => Date.UTC(2026, 10, 15) } })
  for (const [file, text] of Object.entries(files))
    await applyWrite(keeper, [{ file, text }], from(), { via: 'session' })
  const read = await readSnapshot(keeper, keeper)
  if (!read.ok) throw new Error(read.failure.message)
  return read.world
}
const changed = async (
  files: Readonly<Record<string, string>>,
  proposals: Readonly<Record<string, string>>,
) => {
  const outcome = changeSetOf(
    await worldOf(files),
    new Map(Object.entries(proposals)),
    Date.UTC(2026, 10, 16),
  )
  return outcome.ok
    ? outcome.changes.map(({ file, text }) => (text === null ? `-${file}` : file)).toSorted()
    : outcome.why
}

describe('a consolidation', () => {
  it('[DR5] its prompt states what is measured: verbatim lines, frontmatter, and how much may go', () => {
    const prompt = consolidationPrompt({
      root: '/memory',
      manifest: [],
      missed: [],
      hasDiary: false,
      today: '2026-01-05',
    })
    for (const stated of [
      'verbatim',
      'Frontmatter comes from',
      `At most ${defaults.consolidation.lossLines} lines, or ${defaults.consolidation.lossShare * 100}% of all`,
      'Superseded by OTHER.md.',
    ])
      expect(prompt).toContain(stated)
  })
  it.each(cases)('[DR5] that follows it is accepted (%s)', async (_, [rule, second]) => {
    const files = { 'one.md': memory('one', [rule]), 'two.md': memory('two', [second]) }
    const joined = memory('one', [rule, second])
    const retired = memory('two', [second]).replace(
      /(---\n[\s\S]*---\n)[\s\S]*/u,
      '$1\nSuperseded by one.md.\n',
    )
    expect(await changed(files, { 'one.md': joined, 'two.md': retired })).toEqual(['-two.md', 'one.md'])
    expect(await changed(files, {})).toEqual([])
  })
  it.each(cases)('[DR5] that breaks it is refused (%s)', async (_, [rule, second, unsaid]) => {
    const files = { 'one.md': memory('one', [rule]), 'two.md': memory('two', [second]) }
    const all: readonly Readonly<Record<string, string>>[] = [
      { 'one.md': memory('one', [rule, unsaid]) },
      { 'one.md': memory('one', [unsaid]) },
      { 'one.md': memory('one', [rule]).replace('feedback', 'project') },
      { 'three.md': memory('three', [unsaid]) },
      { 'one.md': rule },
      { 'one.md': memory('one', [rule]).replace(/---\n[^-]*$/u, '---\nSuperseded by none.md.\n') },
    ]
    for (const broken of all) expect(await changed(files, broken), JSON.stringify(broken)).toEqual([])
  })
})

describe('what an agent is doing', () => {
  it('[AG51] its prompt states words, language, verb and name', () => {
    const prompt = progressPrompt('task', 'Read {}')
    for (const stated of [
      '3 to 5 words of English',
      'a verb in -ing',
      'named as in the calls',
      'none of: working',
    ])
      expect(prompt).toContain(stated)
  })
  it.each(cases)(
    '[AG51] a phrase that follows it is accepted, whatever the file is called (%s)',
    (_, [, , , path, phrase]) => {
      const calls = `Read {"file_path":"${path}"}\nBash {"command":"npm run parser tests"}`
      for (const text of [phrase, `"${phrase}."`, `${phrase}\n`])
        expect(phraseOf(text, calls), text).not.toBeNull()
    },
  )
  it.each(cases)('[AG51] one that breaks it is refused (%s)', (_, [rule, , , path]) => {
    const calls = `Read {"file_path":"${path}"}`
    for (const text of [
      rule,
      `Working on ${path}`,
      'Reading',
      'Reading the unknown module',
      `Read the ${path}`,
      `Reading ${path} and then all of the others`,
    ])
      expect(phraseOf(text, calls), text).toBeNull()
  })
})
