// The pictures in docs/screens: the screen driven through a pseudo-terminal against the simulator, and painted from a
// terminal emulator. `npm run screens` makes them anew.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { call, createSimulator, scripted, text } from '../src/simulator/index.ts'
import { endAll, keys, runInTerminal, type Cell, type SeenTerminal } from '../test/screen/terminal.ts'

const root = process.cwd()
const size = { columns: 96, rows: 26 }
const cell = { width: 8.4, height: 18 }
/** The palette of the first sixteen colours, as many terminals have it. */
const palette = ['#1b1d23', '#e06c75', '#98c379', '#e5c07b', '#61afef', '#c678dd', '#56b6c2', '#dcdfe4']
const ground = '#1b1d23'
const ink = '#dcdfe4'

const escaped = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function run({ text, ...look }: Cell): string {
  const fill = look.isInverse ? ground : look.colour === null ? ink : (palette[look.colour % 8] ?? ink)
  const style = [
    `fill="${fill}"`,
    look.isBold ? 'font-weight="bold"' : '',
    look.isItalic ? 'font-style="italic"' : '',
    look.isFaint ? 'opacity="0.6"' : '',
  ].filter((part) => part !== '')
  return `<tspan ${style.join(' ')}>${escaped(text)}</tspan>`
}

/** Neighbours that look alike become one run. */
function runs(
  cells: readonly Cell[],
): { readonly at: number; readonly cell: Cell; readonly columns: number }[] {
  const made: { at: number; cell: Cell; columns: number }[] = []
  cells.forEach((one, at) => {
    if (one.width === 0) return
    const shown = { ...one, text: one.text === '' ? ' ' : one.text }
    const last = made.at(-1)
    const isAlike =
      last !== undefined &&
      JSON.stringify({ ...last.cell, text: '', width: 0 }) ===
        JSON.stringify({ ...shown, text: '', width: 0 })
    if (isAlike) {
      last.cell = { ...last.cell, text: last.cell.text + shown.text }
      last.columns += one.width
    } else made.push({ at, cell: shown, columns: one.width })
  })
  return made.filter(({ cell: { text: words, isInverse } }) => words.trim() !== '' || isInverse)
}

/** `hidden`: the folder of this run, which stands for the user's home. */
function painted(seen: SeenTerminal, hidden: string): string {
  const rows = seen.cells()
  const lines = rows.flatMap((row, y) =>
    runs(row).map(({ at, cell: one, columns }) => {
      const [x, top] = [at * cell.width + 12, y * cell.height + 12]
      const block = one.isInverse
        ? `<rect x="${x.toFixed(1)}" y="${top}" width="${(columns * cell.width).toFixed(1)}" height="${cell.height}" fill="${ink}"/>`
        : ''
      // What is shortened afterwards must not be stretched over the room it had.
      const isWhole = !one.text.includes(hidden)
      const length = isWhole ? ` textLength="${(columns * cell.width).toFixed(1)}"` : ''
      const shown = { ...one, text: one.text.replaceAll(hidden, '~') }
      return `${block}<text x="${x.toFixed(1)}" y="${top + 13}"${length} xml:space="preserve">${run(shown)}</text>`
    }),
  )
  const [width, height] = [size.columns * cell.width + 24, size.rows * cell.height + 24]
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width.toFixed(0)} ${height}" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13.5">
<rect width="100%" height="100%" rx="8" fill="${ground}"/>
${lines.join('\n')}
</svg>
`
}

async function until(isSo: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 600; tries++) {
    if (isSo()) return
    await new Promise((done) => setTimeout(done, 25))
  }
  throw new Error(`waited in vain for ${what}`)
}

const long = Array.from({ length: 400 }, (_, at) => `Step ${at + 1}: the parser reads one more token.`).join(
  '\n\n',
)
const simulator = createSimulator({
  answerer: scripted([
    [
      text('The total leaves out the last entry. I mend the loop and run the test.'),
      call('Edit', {
        file_path: 'total.js',
        old_string: 'i < list.length - 1',
        new_string: 'i < list.length',
      }),
      call('Bash', { command: 'node --test total.test.js > report.txt' }),
    ],
    'The **off-by-one** in `total.js:3` is mended:\n\n- the loop now reaches the last entry\n- `node --test` passes',
    long,
  ]),
})

const { url } = await simulator.start()
const folder = await mkdtemp(join(tmpdir(), 'pal-screens-'))
try {
  const [home, project] = [join(folder, 'home'), join(folder, 'shop')]
  await mkdir(home)
  await mkdir(project)
  await writeFile(
    join(project, 'total.js'),
    'export function total(list) {\n  let sum = 0\n  for (let i = 0; i < list.length - 1; i++) sum += list[i]\n  return sum\n}\n',
  )
  await writeFile(
    join(project, 'total.test.js'),
    "import assert from 'node:assert'\nimport test from 'node:test'\nimport { total } from './total.js'\ntest('adds', () => assert.equal(total([1, 2]), 3))\n",
  )
  await writeFile(join(project, 'package.json'), '{"type": "module"}\n')
  const bundler = (await import(pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href)) as {
    bundle: (folder: string) => Promise<void>
  }
  const built = join(root, 'node_modules', '.cache', 'pal-screens')
  await bundler.bundle(built)
  const environment = {
    PATH: process.env['PATH'] ?? '',
    HOME: home,
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'none',
    PALIMPSEST_NOTES: 'off',
    PALIMPSEST_EXTRACTION: 'off',
    PALIMPSEST_MODEL_SUMMARY: 'off',
    PALIMPSEST_WINDOW: '200000',
  }
  const open = (words: readonly string[]): SeenTerminal =>
    runInTerminal(process.execPath, [join(built, 'pal.js'), ...words], { cwd: project, environment, ...size })
  const keep = async (name: string, seen: SeenTerminal): Promise<void> => {
    const target = resolve(root, 'docs', 'screens', `${name}.svg`)
    await mkdir(resolve(target, '..'), { recursive: true })
    await writeFile(target, painted(seen, folder))
    process.stdout.write(`docs/screens/${name}.svg\n`)
  }
  const seen = open([])
  const shows = (what: string): Promise<void> => until(() => seen.lines().join('\n').includes(what), what)
  const say = async (words: string): Promise<void> => {
    seen.type(words)
    await shows(words.slice(0, 30))
    seen.type(keys.enter)
  }
  await shows('/help')
  await say('the total of @total.js is wrong, mend it and run its test')
  const approve = async (): Promise<void> => {
    seen.type(keys.tab)
    await shows('or a letter')
    seen.type('y')
    await shows('→ Yes')
  }
  await shows('Yes, for this session')
  await approve()
  await keep('permission', seen)
  seen.type(keys.enter)
  await shows('report.txt')
  await until(() => seen.lines().join('\n').includes('Bash:'), 'the second question')
  await approve()
  seen.type(keys.enter)
  await shows('passes')
  await keep('turn', seen)
  await say('tell me all about the parser')
  await shows('Step 400')
  await say('/compact')
  await shows('became')
  await until(() => !seen.lines().join('\n').includes('esc to interrupt'), 'the end')
  await keep('compaction', seen)
  await say('/context')
  await until(() => /messages|results/.test(seen.lines().join('\n')), 'the context')
  await keep('context', seen)
  await say('/rewind')
  await shows('Rewind to before which message?')
  await keep('rewind', seen)
} finally {
  endAll()
  await simulator.stop()
  await rm(folder, { recursive: true, force: true })
}
