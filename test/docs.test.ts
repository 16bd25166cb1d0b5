// The pages hold as they are written: what README, CONTRIBUTING and docs name exists, and the cheap part of it is run.
// Pages of decisions are not read here: they say what was so on their day.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runProgram } from '../src/cli/program.ts'
import { pointOf } from '../src/projection/dial.ts'
import { processIo } from '../src/cli/terminal/io.ts'

const root = resolve(import.meta.dirname, '..')
const pages = [
  'README.md',
  'CONTRIBUTING.md',
  'ARCHITECTURE.md',
  'GLOSSARY.md',
  'SPEC.md',
  'CHANGELOG.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
].map((name) => ({ name, text: readFileSync(join(root, name), 'utf8') }))
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, { readonly default: string }>>
}

interface Command {
  readonly page: string
  /** Its words, without the explanation that a block sets behind it. */
  readonly words: readonly string[]
}

/** What stands in backticks or in a block and begins like something one would type. */
function commands(program: RegExp): Command[] {
  return pages.flatMap(({ name, text }) => {
    const prose = text.replaceAll(/```[\s\S]*?```/g, '')
    const lines = [
      ...[...text.matchAll(/```\w*\n([\s\S]*?)```/g)].flatMap((block) => block[1]!.split('\n')),
      ...prose.split('\n').filter((line) => line.startsWith('    ')),
    ].map((line) => line.trim().replace(/\s{2,}.*$|\s+#.*$/, ''))
    const spans = [...prose.matchAll(/`([^`\n]+)`/g)].map((match) => match[1]!)
    return [...lines, ...spans]
      .flatMap((line) => line.split(/ && | \| (?=pal )/))
      .filter((line) => program.test(line))
      .map((line) => ({ page: name, words: line.split(' ') }))
  })
}

const told = ({ page, words }: Command, problem: string): string => `${page}: ${words.join(' ')}: ${problem}`
const flagsIn = (words: readonly string[]): string[] =>
  words.flatMap((word) => /^\[?(--[a-z][a-z-]*)/.exec(word)?.[1] ?? [])

const io = processIo({ cwd: process.cwd(), userHome: homedir() })

/** The help of a command, made in this process. */
async function helpOf(words: readonly string[]): Promise<string> {
  let text = ''
  const out = (more: string): void => void (text += more)
  const exit = await runProgram({ ...io, out, err: out }, words, '0')
  expect(exit, `pal ${words.join(' ')}`).toBe(0)
  return text
}

describe('commands that the pages name', () => {
  it('[H34] npm scripts exist, and benchmarks know the flags they are shown with', () => {
    const wrong: string[] = []
    const found = commands(/^npm (?:run|test|start)\b/)
    for (const command of found) {
      const [, first, second] = command.words
      const script = first === 'run' ? second! : first!
      if (script === '…') continue
      if (manifest.scripts[script] === undefined) wrong.push(told(command, 'no such script'))
      const behind = command.words.includes('--') ? command.words.slice(command.words.indexOf('--') + 1) : []
      if (script !== 'bench') continue
      const names = behind.filter(
        (word, at) => !word.startsWith('--') && behind.slice(0, at).every((one) => !one.startsWith('--')),
      )
      for (const bench of names) {
        const file = join(root, 'bench', `${bench}.ts`)
        if (!existsSync(file)) wrong.push(told(command, `no benchmark ${bench}`))
        else
          for (const flag of flagsIn(behind))
            if (!sourceOf(file).includes(flag.slice(2)))
              wrong.push(told(command, `${bench} knows no ${flag}`))
      }
    }
    expect(wrong).toEqual([])
    expect(found.length).toBeGreaterThan(15)
  })

  it('[H34] files that are run exist', () => {
    const found = [...commands(/^node scripts\//), ...commands(/^npx vitest run \S+\.ts/)]
    const wrong = found.flatMap((command) =>
      command.words
        .filter((word) => /\.(?:ts|mjs)$/.test(word) && !existsSync(join(root, word)))
        .map((word) => told(command, `no ${word}`)),
    )
    expect(wrong).toEqual([])
    expect(found.length).toBeGreaterThan(3)
  })

  it('[H34] every form of pal has its command and its flags in the help', async () => {
    const top = await helpOf(['--help'])
    const listed = [...top.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1]!)
    const found = commands(/^pal(?: |$)/)
    const helps = new Map<string, string>([['', `${top}${await helpOf(['help', 'prompt'])}`]])
    const wrong: string[] = []
    for (const command of found) {
      const second = command.words[1] ?? ''
      const isCommand = /^[a-z]+$/.test(second)
      if (isCommand && !listed.includes(second)) {
        wrong.push(told(command, 'no such command'))
        continue
      }
      const name = isCommand ? second : ''
      if (!helps.has(name)) helps.set(name, await helpOf([name, '--help']))
      let help = helps.get(name)!
      const third = command.words[2] ?? ''
      if (isCommand && /^[a-z]+$/.test(third) && new RegExp(`^ {2}${third}\\b`, 'm').test(help))
        help += await helpOf([name, third, '--help'])
      const own = command.words.slice(
        0,
        command.words.includes('--') ? command.words.indexOf('--') : undefined,
      )
      for (const flag of flagsIn(own)) if (!help.includes(flag)) wrong.push(told(command, `no ${flag}`))
    }
    expect(wrong).toEqual([])
    expect(found.length).toBeGreaterThan(60)
    expect(helps.size).toBeGreaterThan(20)
  })

  it('[H34] a benchmark of the figures runs as written, smaller', async () => {
    const shown = commands(/^npm run bench -- resume/)[0]!
    expect(flagsIn(shown.words)).toEqual(['--size'])
    const { code, out } = await run('npm', ['run', '--silent', 'bench', '--', 'resume', '--size', '8'])
    expect(code, out).toBe(0)
    expect(out).toContain('8 MB')
  })
})

describe('names and links', () => {
  it('[H49] sizes at the default dial that the page of compaction names are those of the code', () => {
    const { textTokens } = pointOf(undefined)
    const page = pages.find(({ name }) => name === 'docs/compaction.md')!.text
    expect(page).toContain(`(${textTokens.toLocaleString('en-US')} tokens at the default dial)`)
  })

  it('[H35] links lead to a file, and to a heading of it', () => {
    const anchors = (text: string): string[] =>
      [...text.matchAll(/^#+ (.+)$/gm)].map((match) =>
        match[1]!
          .toLowerCase()
          .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
          .replaceAll(' ', '-'),
      )
    const wrong: string[] = []
    for (const { name, text } of pages)
      for (const [, target] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
        if (/^[a-z]+:/.test(target!)) continue
        const [file, anchor] = target!.split('#')
        const path = file === '' ? join(root, name) : join(root, dirname(name), file!)
        if (!existsSync(path)) wrong.push(`${name}: ${target}`)
        else if (anchor !== undefined && !anchors(readFileSync(path, 'utf8')).includes(anchor))
          wrong.push(`${name}: ${target}: no such heading`)
      }
    expect(wrong).toEqual([])
  })

  it('[H35] names that a page says can be imported are exported there', async () => {
    const wrong: string[] = []
    let count = 0
    for (const { name, text } of pages) {
      const imports = [
        ...[...text.matchAll(/import \{([^}]+)\} from '(palimpsest[\w/]*)'/g)].flatMap((match) =>
          match[1]!.split(',').map((one) => [one.trim(), match[2]!] as const),
        ),
        ...[...text.matchAll(/`(\w+)` \(`(palimpsest[\w/]*)`\)/g)].map(
          (match) => [match[1]!, match[2]!] as const,
        ),
      ]
      for (const [symbol, door] of imports) {
        const file = manifest.exports[door.replace(/^palimpsest/, '.')]?.default
        const source = file?.replace('./dist', '../src').replace(/\.js$/, '.ts')
        const names = source === undefined ? [] : Object.keys((await import(source)) as object)
        count++
        if (!names.includes(symbol)) wrong.push(`${name}: ${symbol} from ${door}`)
      }
    }
    expect(wrong).toEqual([])
    expect(count).toBeGreaterThan(6)
  })
})

/** A benchmark with the files of its own folder that it is made of. */
function sourceOf(file: string): string {
  const text = readFileSync(file, 'utf8')
  const parts = [...text.matchAll(/from '(\.\/[^']+)'/g)].map((match) => join(dirname(file), match[1]!))
  return [text, ...parts.map((part) => readFileSync(part, 'utf8'))].join('\n')
}

function run(program: string, args: readonly string[]): Promise<{ code: number | null; out: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()))
    child.once('close', (code) => resolve({ code, out }))
  })
}
