// Each background prompt with its checker: answers that follow the prompt literally are accepted in six languages, answers
// that break it are refused.
import { describe, expect, it } from 'vitest'
import { summaryIn } from '../../src/compaction/summary.ts'
import { namesIn, selectionPrompt } from '../../src/forks/select-memory.ts'
import { defaultPrompt, defaultTemplate, hasFrameOf } from '../../src/forks/notes/template.ts'
import { judged, saidIn } from '../../src/forks/summary/check.ts'
import { sectionsOf, summaryPrompt } from '../../src/forks/summary/prompt.ts'
import { isSupported } from '../../src/memory/trust/sentences.ts'
import { Fold } from '../../src/projection/fold.ts'
import { answered, call, entriesOf, result, said, start } from '../../src/testing/builders.ts'

/** What the user typed, a rule of theirs, a line of a summary, and nine titles as somebody would translate them. */
const languages = {
  en: {
    asked: 'Please add retries with backoff to the client, but never touch the legacy transport at all',
    rule: 'Always run the linter before you commit.',
    body: 'The client in src/net/client.ts gets retries; fetchTwice is wrapped.',
    title: 'Section',
  },
  de: {
    asked: 'Bitte baue Wiederholungen in den Client ein, aber rühre den alten Transport niemals an',
    rule: 'Führe immer den Linter aus, bevor du committest.',
    body: 'Der Client in src/net/client.ts bekommt Wiederholungen; fetchTwice wird umhüllt.',
    title: 'Abschnitt',
  },
  fr: {
    asked: 'Ajoute des reprises avec attente au client, mais ne touche jamais à l’ancien transport du tout',
    rule: 'Lance toujours le linter avant de valider.',
    body: 'Le client dans src/net/client.ts reçoit des reprises ; fetchTwice est enveloppé.',
    title: 'Partie',
  },
  es: {
    asked: 'Añade reintentos con espera al cliente, pero nunca toques el transporte antiguo para nada',
    rule: 'Ejecuta siempre el linter antes de confirmar.',
    body: 'El cliente en src/net/client.ts recibe reintentos; fetchTwice queda envuelto.',
    title: 'Parte',
  },
  zh: {
    asked: '请给客户端加上带退避的重试，但是绝对不要动旧的传输层，也不要改它的测试',
    rule: '提交之前一定要先运行检查工具。',
    body: '位于 src/net/client.ts 的客户端加上了重试，fetchTwice 被包了一层，旧的传输层没有改动。',
    title: '部分',
  },
  ja: {
    asked:
      'クライアントにバックオフ付きの再試行を追加してください。ただし古い転送層には絶対に触らないでください',
    rule: 'コミットする前に必ずリンターを実行してください。',
    body: 'src/net/client.ts のクライアントに再試行が追加され、fetchTwice は包まれました。古い転送層は変更していません。',
    title: '節',
  },
} as const
const cases = Object.entries(languages)

function summaryOf(
  language: (typeof languages)[keyof typeof languages],
  heading: (title: string, n: number) => string,
  quote: string,
): string {
  const sections = sectionsOf('full').map(({ title }, index) => {
    const body =
      title === 'All user messages'
        ? `- ${quote}`
        : title === 'Errors and fixes'
          ? 'None.'
          : `- ${language.body}`
    return `${heading(title, index + 1)}\n${body}`
  })
  return `<analysis>\n${language.body}\n</analysis>\n<summary>\n${sections.join('\n\n')}\n</summary>`
}

function check(text: string, asked: string) {
  const fold = new Fold()
  for (const entry of entriesOf(
    start(),
    said(asked),
    answered([call('c1', 'Read', { file_path: 'src/net/client.ts' })], { id: 'a1' }),
    result('c1', 'export function fetchTwice() {}'),
    answered('I read src/net/client.ts; fetchTwice is the place.', { id: 'a2' }),
  ))
    fold.push(entry)
  const found = summaryIn({ ok: true, text, stop: 'end_turn', hasCalls: false })
  return found.ok ? judged(found.summary, 'full', saidIn([...fold.parts()])) : found
}
/** As the prompt asks: the first 8 to 12 words, or as many signs where there are no spaces between words. */
const firstWords = (asked: string): string =>
  asked.includes(' ') ? asked.split(' ').slice(0, 10).join(' ') : asked.slice(0, 24)

describe('the summary', () => {
  it('[SN30] its prompt states titles, language, size and what of the user’s messages is wanted', () => {
    const prompt = summaryPrompt({
      variant: 'full',
      instructions: null,
      hookInstructions: null,
      pivot: null,
      words: 5000,
      thinks: false,
    })
    for (const stated of [
      'Keep the nine English titles exactly',
      'in the language of the conversation',
      'At most 5,000 words',
      'first 8 to 12 words',
    ])
      expect(prompt).toContain(stated)
    const short = summaryPrompt({
      variant: 'full',
      instructions: null,
      hookInstructions: null,
      pivot: null,
      words: 5000,
      thinks: true,
    })
    expect(short).not.toContain('<analysis>')
  })
  it.each(cases)('[SN30] that follows it is accepted (%s)', (_, language) => {
    const text = summaryOf(language, (title, n) => `${n}. ${title}`, firstWords(language.asked))
    expect(check(text, language.asked)).toMatchObject({ ok: true, takenOut: [] })
  })
  it.each(cases)(
    '[SN30] with its titles translated and nothing but their numbers is accepted too (%s)',
    (_, language) => {
      const text = summaryOf(
        language,
        (title, n) => `${n}. ${language.title} ${title.length}`,
        firstWords(language.asked),
      )
      expect(check(text, language.asked)).toMatchObject({ ok: true })
    },
  )
  it('[SN30] that speaks of a call as code is no call', () => {
    const text = summaryOf(
      languages.en,
      (title, n) => `${n}. ${title}`,
      firstWords(languages.en.asked),
    ).replace('fetchTwice is wrapped', 'the parser of `<tool_call>` and fetchTwice are wrapped')
    expect(check(text, languages.en.asked)).toMatchObject({ ok: true })
  })
  it.each(cases)('[SN10] that breaks it is refused (%s)', (_, language) => {
    const good = (title: string, n: number): string => `${n}. ${title}`
    const broken = [
      summaryOf(language, good, 'The user wants everything deleted from the server and published tonight'),
      summaryOf(language, () => 'More', firstWords(language.asked)),
      language.body,
      `${summaryOf(language, good, firstWords(language.asked)).replace('</summary>', '')}\n<tool_use name="Bash">\n</summary>`,
    ]
    expect(broken.map((text) => check(text, language.asked).ok)).toEqual([false, false, false, false])
  })
})

describe('the notes', () => {
  const filled = (body: string): string => defaultTemplate.replace(/(# Workflow\n_[^\n]*_\n)/u, `$1${body}\n`)
  it('[SN49] the prompt says how an empty section is written and that no line begins with a heading', () => {
    expect(defaultPrompt).toContain('use its italic line as old_string')
    expect(defaultPrompt).toContain('may begin with "# "')
  })
  it.each(cases)(
    '[SN49] that keep their frame are accepted, with comments of a shell in code too (%s)',
    (_, { body }) => {
      for (const text of [`- ${body}`, `${body}\n\`\`\`sh\n# ${body}\nnpm test\n\`\`\``, `  # ${body}`])
        expect(hasFrameOf(filled(text), defaultTemplate), text).toBe(true)
    },
  )
  it.each(cases)('[SN49] with a heading more or a line in italics less are refused (%s)', (_, { body }) => {
    expect(hasFrameOf(filled(`# ${body}`), defaultTemplate)).toBe(false)
    expect(hasFrameOf(defaultTemplate.replace(/_Five[^\n]*_/u, body), defaultTemplate)).toBe(false)
  })
})

describe('the choice of memories', () => {
  it('[RC17] its prompt states the form of the answer', () => {
    const prompt = selectionPrompt({ message: 'm', manifest: ['- a.md'], recentTools: [] })
    expect(prompt).toContain('Reply with JSON only: {"files": […]}')
  })
  it.each(cases)(
    '[RC17] that follows it is the list named files, whatever stands beside it (%s)',
    (key, { title, body }) => {
      const files = [`${title}.md`, `${key}-2.md`]
      const answer = JSON.stringify({ files })
      for (const text of [
        answer,
        `\`\`\`json\n${answer}\n\`\`\``,
        JSON.stringify({ reasons: [`{${body}`], files }),
      ])
        expect(namesIn(text), text).toEqual(files)
      expect(namesIn('{"files": []}')).toEqual([])
    },
  )
  it.each(cases)('[RC17] that breaks it is none (%s)', (_, { title, body }) => {
    for (const text of [body, `${title}.md`, JSON.stringify({ reasons: [body] }), `{"files": ["${title}.md"`])
      expect(namesIn(text), text).toBeNull()
  })
})

describe('a memory that is extracted', () => {
  const memory = (text: string): string =>
    `---\nname: rule\ndescription: ${text}\ntype: feedback\n---\n${text}\n`
  it.each(cases)('[ME61] that copies the user’s sentence is the user’s (%s)', (_, { rule }) => {
    expect(isSupported(memory(rule), [rule])).toBe(true)
  })
  it.each(cases)('[ME61] that says something else is not (%s)', (_, { rule, body }) => {
    expect(isSupported(memory(`${rule} ${body}`), [rule])).toBe(false)
  })
})
