// Everything the program says to people, in one page: a change of voice is seen in review, and retired words do not come
// back. `GOLDEN=write npx vitest run test/voice` writes the page anew.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { spokenIn, textsIn } from './spoken.ts'

const page = join(import.meta.dirname, '..', 'golden', 'voice.md')

/** What speaks to a model, to a program or in the words of an API that is not ours. */
const unspoken: readonly RegExp[] = [
  // A local Messages API: its sentences are the provider's.
  /^src\/simulator\//,
  // Contracts for those who test: their names stand in test reports.
  /^src\/testing\//,
  // Words to look for, in many languages.
  /\/lexicon\b|\/(?:everyday-words|date-words|runners)\.ts$/,
  /^src\/memory\/trust\/(?:words|sentences|support)\.ts$/,
  /^src\/disk\/(?:secrets\/|secret-shapes)/,
  /\/(?:named-paths|lexer)\.ts$/,
  // Prompts, and texts that only a model reads: test/golden/requests has them.
  /\/prompt\.ts$|\/(?:guidance|template|texts|rules|conversation-text|phrases)\.ts$/,
  /^src\/forks\/(?:select-memory|agents\/(?:agent-memory|progress))\.ts$/,
  /^src\/(?:preset\/sections|tools\/(?:plan|context|search-memory))\.ts$/,
  // Statements of a database.
  /^src\/postgres\/schema\//,
  // Made-up sessions and the page of a replay, which is a program of its own.
  /^src\/lab\/(?:sample\.ts$|page\/)/,
  /^src\/cli\/demo\/project\.ts$/,
]

const spoken = spokenIn('src', (file) => unspoken.some((pattern) => pattern.test(file)))

/** In words of today; each with what is said instead. */
const retired: readonly (readonly [RegExp, string])[] = [
  [/\b(?:a|the|this|of|in) talks?\b/i, 'conversation'],
  [/\bmend(?:ed|s|ing)?\b/i, 'fix'],
  [/\bdearer\b/i, 'more expensive'],
  [/\bput(?:s|ting)? .{0,40}\baway\b/i, 'compact, remove from context'],
  [/\bgiv(?:en|es?|ing) (?:it |them )?back\b/i, 'restore, release'],
  [/\btak(?:en?|es|ing) (?:it |them |this |all of it )?back\b/i, 'undo, revert'],
  [/\b(?:behind|stands? for) an account\b/i, 'summary'],
  [/\bleft the view\b|\btaken out\b/i, 'removed from context, removed'],
  [/\bheirs?\b|\bcapsules?\b|\bshelf\b/i, 'successor, agent report, index'],
  [/\bbeside the (?!line)|(?<!set )\baside\b/i, 'in the background'],
  [/\bonly looks?\b|known to only\b/i, 'read-only'],
  [/\buntil pal ends\b|always and everywhere/i, 'for this session, always'],
  [/\bsay what to do instead\b/i, 'tell the model what to do instead'],
  [/\bfrom now on answers|answers from now on|who answers\b/i, 'model'],
  [/\bcache has run out\b|cache is cold/i, 'the prompt cache has expired'],
  [/looked for .{0,30}in sight/i, 'retained'],
  [/\bservers of tools\b|\btypes of agents\b/i, 'MCP servers, agent types'],
  [/\bpal dream\b/, 'pal consolidate'],
  [/\berror stream\b|\bstandard (?:output|input|error)\b/i, 'stderr, stdout, stdin'],
  [/\btrusted no longer\b|\bwhat it shall be\b/i, 'no longer trusted, the new value'],
  [/\bshall\b/i, 'plain present tense'],
  [/\bis being written by process\b|\blease is held\b/i, 'is open in process N on HOST'],
  [/\bwrong words?\b|\bwords need\b/i, 'usage error, arguments'],
  [/\btokens anew\b/i, 'again'],
  [/\bsay which\b/i, 'choose one'],
  [/\bnothing waits\b|\bwait for you\b/i, 'nothing to review, need review'],
  [/\b(?:SPEC|TRUST|API|DESIGN) [A-Z]?\d/, 'the reason itself'],
]

describe('what people are told', () => {
  it('[H43] is in one page, file by file, as the source says it', () => {
    const made = [
      '# Everything the program says to people\n',
      'Read off the source by `test/voice`; `{}` stands for what is computed.\n',
      ...spoken.map(
        ({ file, texts }) => `## ${file}\n\n${texts.map((text) => `- ${lineOf(text)}`).join('\n')}\n`,
      ),
    ].join('\n')
    if (process.env['GOLDEN'] === 'write') writeFileSync(page, made)
    expect(made).toBe(readFileSync(page, 'utf8'))
  })

  it('[H43] has no retired word', () => {
    const wrong = spoken.flatMap(({ file, texts }) =>
      texts.flatMap((text) =>
        retired.flatMap(([word, instead]) => (word.test(text) ? [`${file}: "${text}" → ${instead}`] : [])),
      ),
    )
    expect(wrong).toEqual([])
  })

  it('[H43] is found in strings, templates and sums, and names for the program are not', () => {
    expect(
      textsIn(`
        import { one } from './a module.ts'
        type Kind = 'a kind' | 'two words'
        const short = 'word'
        say('Nothing was found.')
        say(\`\${count} tokens \${isFew ? 'are left' : 'would go'}\`)
        say('one part and ' + name + ', the ' + 'other part')
      `),
    ).toEqual([
      'Nothing was found.',
      '{} tokens {}',
      'are left',
      'would go',
      'one part and {}, the other part',
    ])
  })
})

const lineOf = (text: string): string => text.replaceAll('\n', '\\n').replaceAll('\u001B', '\\e')
