// Every TypeScript snippet of the pages, as somebody who pastes it into a strict project meets it.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'pal-snippets-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pagesIn = (place: string): readonly string[] =>
  readdirSync(join(root, place))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(place, name))

/** What the page says the reader brings, or what is installed here only on demand. */
const brought: Readonly<Record<string, string>> = {
  'my-store.ts': "export { inMemoryStore as myStore } from 'palimpsest'\n",
}
const onDemand = ['langchain', '@openai/agents'].filter(
  (name) => !existsSync(join(root, 'node_modules', name)),
)

it('[EM9] every snippet of README and docs compiles as it stands, under the strictest options', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    exports: Readonly<Record<string, { readonly default: string }>>
  }
  const paths = Object.entries(exports).map(([door, { default: built }]) => [
    `palimpsest${door.slice(1)}`,
    [join(root, built.replace('./dist/', 'src/').replace(/\.js$/, '.ts'))],
  ])
  const files = ['README.md', ...pagesIn('docs'), ...pagesIn('docs/clients')].flatMap((page) => {
    const snippets = [
      ...readFileSync(join(root, page), 'utf8').matchAll(/```(?:ts|typescript)\n([\s\S]*?)```/g),
    ]
    return snippets.map(([, code], at) => [`${page.replaceAll(/[/.]/g, '-')}-${at + 1}.ts`, code!] as const)
  })
  for (const [name, text] of [...files, ...Object.entries(brought)]) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, 'on-demand.d.ts'), onDemand.map((name) => `declare module '${name}'\n`).join(''))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const options = {
    exactOptionalPropertyTypes: true,
    noUnusedLocals: false,
    typeRoots: [join(root, 'node_modules', '@types')],
    paths: Object.fromEntries(paths) as object,
  }
  const config = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: options,
    include: ['*.ts'],
    exclude: [],
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify(config))
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder], { encoding: 'utf8', cwd: folder })
  const names = files.map(([name]) => name)
  expect(names.length).toBeGreaterThan(9)
  // What else is compiled with them is held by the project's own options.
  expect(stdout.split('\n').filter((line) => names.some((name) => line.startsWith(name)))).toEqual([])
})
