// Random commands against the judge, and against the shell itself: what is let run unasked is really run, behind
// bubblewrap, and must leave the folder as it was.
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { acting, looking } from '../../../test/permission/commands.ts'
import { behindWall, hasWall } from '../../../test/permission/wall.ts'
import { machineFileSystem } from '../../disk/fs.ts'
import { judgeCommand } from './judge-command.ts'
import { parseRule } from './rule.ts'
import { analyse } from './shell/analyse.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'pal-fuzz-')))
mkdirSync(join(root, 'src'))
for (const name of ['.env', 'src/.env', 'a', 'b', 'f', 'package.json', 'src/a.ts'])
  writeFileSync(join(root, name), 'x\n')
afterAll(() => rmSync(root, { recursive: true }))
const place = { fs: machineFileSystem, root, cwd: root, home: '/nobody' }
const none = { allow: [], ask: [], deny: [] }
const isAllowed = async (command: string) => (await judgeCommand(command, none, place)).kind === 'allow'

/** The plain act, spelled in ways a shell understands. */
const letters = (word: string) =>
  fc
    .array(fc.constantFrom('', '\\', "''", '""', "$''"), { minLength: word.length, maxLength: word.length })
    .map((marks) => Array.from(word, (letter, at) => `${marks[at]}${letter}`).join(''))
const act = fc.oneof(
  letters('touch').map((word) => `${word} F`),
  fc.constantFrom(...acting),
)
const look = fc.constantFrom(...looking.filter((command) => !command.includes('\n')))
const wrap = fc.constantFrom<(inner: string) => string>(
  (inner) => inner,
  (inner) => `env ${inner}`,
  (inner) => `env -i ${inner}`,
  (inner) => `timeout -k 1 5 ${inner}`,
  (inner) => `nice -n 3 ${inner}`,
  (inner) => `command ${inner}`,
  (inner) => `time ${inner}`,
  (inner) => `! ${inner}`,
  (inner) => `( ${inner}\n)`,
  (inner) => `{ ${inner}\n}`,
  (inner) => `\n\t${inner}`,
  (inner) => `# look\n${inner}`,
  (inner) => `if true; then ${inner}\nfi`,
  (inner) => `ls "$(${inner}\n)"`,
  (inner) => `cat <(${inner}\n)`,
  (inner) => `cat <<E\n\`${inner.replaceAll('`', '\\`')}\`\nE`,
  (inner) => `X=1 ${inner}`,
  (inner) => `${inner} &`,
  (inner) => `echo \${x:-$(${inner}\n)}`,
)
const join2 = fc.constantFrom(' && ', ' || ', '; ', ' | ', '\n', ' & ')
/** From another folder a way upwards may well stay in the project. */
const lookHere = look.filter((command) => !/\bcd\b/.test(command))
const dangerous = fc
  .tuple(act, fc.array(wrap, { maxLength: 3 }), fc.array(fc.tuple(lookHere, join2), { maxLength: 2 }))
  .map(([inner, wraps, before]) => {
    const wrapped = wraps.reduce((command, one) => one(command), inner)
    return before.reduce((command, [first, between]) => `${first}${between}${command}`, wrapped)
  })

/** Pieces of shell in any order: most make no sense, and those that do must still be harmless. */
const piece = fc.constantFrom(
  'ls',
  'cat',
  'a',
  'f',
  '-n',
  '-o',
  'F',
  '>',
  '>>',
  '<',
  '|',
  '&&',
  ';',
  '&',
  '(',
  ')',
  '{',
  '}',
  '$',
  "'",
  '"',
  '\\',
  '`',
  '$(',
  '${',
  '))',
  '((',
  '<(',
  '<<E\n',
  'E\n',
  '\n',
  '#',
  ' ',
  ' ',
  ' ',
  'touch F',
  'sort',
  'find . ',
  '-exec',
  '-delete',
  'sed',
  '-i',
  'w F',
  'git',
  'status',
  '-c',
  'x=y',
  'echo',
  'x',
  '*',
  '?',
  '[',
  ']',
  '~',
  '!',
  '=',
  'tee',
  '2>&1',
  '$?',
  '1,2p',
  'e touch F',
)
const soup = fc.array(piece, { minLength: 1, maxLength: 14 }).map((pieces) => pieces.join(''))
const spacedSoup = fc.array(piece, { minLength: 1, maxLength: 10 }).map((pieces) => pieces.join(' '))

/** A look with a piece of something else in it. */
const spliced = fc
  .tuple(look, fc.array(fc.tuple(piece, fc.nat()), { minLength: 1, maxLength: 3 }))
  .map(([command, pieces]) =>
    pieces.reduce((text, [one, where]) => {
      const at = where % (text.length + 1)
      return `${text.slice(0, at)}${one}${text.slice(at)}`
    }, command),
  )

describe('commands at random', () => {
  it('[PM9] a command that acts is never let run, however it is spelled, wrapped and chained', async () => {
    await fc.assert(
      fc.asyncProperty(dangerous, async (command) => {
        expect(await isAllowed(command)).toBe(false)
      }),
      { numRuns: 3000 },
    )
  })

  it('[PM9] a denied command is found however it is spelled, wrapped and chained', async () => {
    const rule = (list: 'allow' | 'deny', text: string) => {
      const parsed = parseRule({ list, text, source: 'user' })
      return parsed.ok ? [parsed.rule] : []
    }
    const rules = { ...none, deny: rule('deny', 'Bash(touch *)'), allow: rule('allow', 'Bash') }
    const denied = fc
      .tuple(letters('touch'), fc.array(wrap, { maxLength: 3 }))
      .map(([word, wraps]) => wraps.reduce((command, one) => one(command), `${word} F`))
    await fc.assert(
      fc.asyncProperty(denied, async (command) => {
        expect((await judgeCommand(command, rules, place)).kind).not.toBe('allow')
      }),
      { numRuns: 1000 },
    )
  })

  it('[PM10] judging never throws and stays within its bounds, whatever the text', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(soup, spacedSoup, fc.string({ unit: 'binary', maxLength: 200 })),
        async (text) => {
          const { readings, isTooMuch } = analyse(text)
          expect(isTooMuch || readings.length <= 400).toBe(true)
          await judgeCommand(text, none, place)
        },
      ),
      { numRuns: 3000 },
    )
    const deep = [
      '$('.repeat(5000),
      '('.repeat(5000),
      '{ '.repeat(3000),
      'if true; then '.repeat(3000),
      '`'.repeat(9999),
      '"$('.repeat(3000),
      "eval '".repeat(2000),
      '<<E '.repeat(3000),
    ]
    for (const text of deep) expect(await isAllowed(text)).toBe(false)
  })
})

const wall = [...behindWall, '--tmpfs', '/tmp']

describe.skipIf(!hasWall)('what is let run, run (needs bubblewrap)', () => {
  /** Runs all of them in a copy each, and names those that changed anything. */
  function changed(commands: readonly string[]): string[] {
    const files = commands.map((command, at) => ({ command, at }))
    const script = [
      'cd /tmp',
      ...files.map(
        ({ command, at }) =>
          `mkdir ${at} && cp -r "$SRC"/. ${at} && printf %s ${quote(command)} > ${at}.cmd && (cd ${at} && timeout 5 bash -c "$(cat ../${at}.cmd)" < /dev/null > /dev/null 2>&1); (cd ${at} && find . -mindepth 1 | sort | tr '\\n' ' '; cat a b f package.json src/a.ts | tr -d '\\n'; echo " ${at}"); rm -rf ${at}`,
      ),
    ].join('\n')
    const run = spawnSync('bwrap', [...wall, '--ro-bind', root, '/mnt', 'bash', '-s'], {
      input: script,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], SRC: '/mnt', HOME: '/nobody' },
      maxBuffer: 64_000_000,
    })
    const lines = run.stdout.trim().split('\n')
    expect(lines.length).toBe(commands.length)
    const same = lines.at(-1)!.replace(/ \d+$/, '')
    expect(same).toBe('./.env ./a ./b ./f ./package.json ./src ./src/.env ./src/a.ts xxxxx')
    return lines.flatMap((line, at) => (line.replace(/ \d+$/, '') === same ? [] : [commands[at]!]))
  }
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

  it('[PM11] what is let run unasked changes nothing in the folder when bash runs it', async () => {
    const samples = [
      ...looking,
      ...fc.sample(soup, { numRuns: 2500, seed: 1 }),
      ...fc.sample(spacedSoup, { numRuns: 2500, seed: 2 }),
      ...fc.sample(spliced, { numRuns: 250, seed: 3 }),
    ]
    const letThrough: string[] = []
    for (const command of new Set(samples)) if (await isAllowed(command)) letThrough.push(command)
    expect(letThrough.length).toBeGreaterThan(70)
    // The last one must be a plain look: the others are compared with what it leaves.
    expect(changed([...letThrough, 'ls'])).toEqual([])
    expect(changed(['touch F', 'ls'])).toEqual(['touch F'])
  })
})
