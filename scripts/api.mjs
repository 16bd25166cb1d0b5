// The reference of every exported name, from the declarations that the compiler writes: `npm run api` writes docs/api.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync } from 'vite'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** What each door is for, in one sentence. */
const doors = {
  '.': 'The main entry: the engine, stores, models, memory and the whole agent.',
  './projection': 'The fold from facts to what the model sees; runs in a browser too.',
  './fit':
    'Messages of your own loop, kept within the window, valid and on the cache; runs in a browser too.',
  './tools': 'The standard tools, permissions and the sandbox.',
  './simulator': 'A local stand-in for the Messages API with its rules and its prompt cache.',
  './lab': 'Recorded sessions, replayed under any policy and measured.',
  './otel': 'Spans and metrics of sessions for OpenTelemetry.',
  './fleet': 'Workers over a Postgres database: claiming, turns as steps, budgets, questions for people.',
  './postgres':
    'Sessions of a team in a Postgres database; the package `pg` is installed by those who use it.',
  './testing': 'Contracts for stores, layers, models and memories of your own.',
}

/** Files of the reference by their names. */
export function apiPages() {
  const folder = join(root, 'node_modules', '.cache', `api-${process.pid}`)
  const compiled = spawnSync(
    process.execPath,
    [
      join(root, 'node_modules', 'typescript', 'bin', 'tsc'),
      '-p',
      'tsconfig.build.json',
      '--emitDeclarationOnly',
      '--outDir',
      folder,
    ],
    { cwd: root, encoding: 'utf8' },
  )
  try {
    if (compiled.status !== 0) throw new Error(compiled.stdout)
    const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const pages = new Map()
    const rows = []
    for (const [door, { types }] of Object.entries(exports)) {
      const file = `${door === '.' ? 'palimpsest' : door.slice(2)}.md`
      const names = [...exportsOf(join(folder, types.replace('./dist/', '')))].sort(([a], [b]) =>
        a < b ? -1 : 1,
      )
      pages.set(file, pageOf(door, names))
      rows.push(`| [\`${nameOf(door)}\`](${file}) | ${names.length} | ${doors[door]} |`)
    }
    pages.set(
      'README.md',
      `${['# API reference', '', 'Made from the types by `npm run api`; a test holds it to them. Guides: [embedding](../embedding.md), [examples](../../examples/README.md).', '', '| import from | names | what for |', '|---|---|---|', ...rows].join('\n')}\n`,
    )
    return pages
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const nameOf = (door) => (door === '.' ? 'palimpsest' : `palimpsest/${door.slice(2)}`)

const groups = [
  ['Functions', 'function'],
  ['Classes', 'class'],
  ['Values', 'value'],
  ['Types', 'type'],
]

function pageOf(door, names) {
  const parts = groups.flatMap(([title, kind]) => {
    const found = names.filter(([, each]) => each.kind === kind)
    return found.length === 0 ? [] : [`## ${title}`, ...found.map(([name, each]) => entry(name, each))]
  })
  return `${[`# ${nameOf(door)}`, doors[door], ...parts].join('\n\n')}\n`
}

const entry = (name, { doc, text }) =>
  [`### ${name}`, ...(doc === '' ? [] : [doc]), `\`\`\`ts\n${text}\n\`\`\``].join('\n\n')

/** Every exported name of a declaration file, through re-exports, with its comment and its text. */
function exportsOf(file) {
  const source = readFileSync(file, 'utf8')
  const { program, comments } = parseSync(file, source, { lang: 'dts' })
  const found = new Map()
  const from = (path) => exportsOf(resolve(dirname(file), path.replace(/\.[jt]s$/, '.d.ts')))
  const own = new Map()
  for (const node of program.body) {
    const declared = node.type === 'ExportNamedDeclaration' ? node.declaration : node
    for (const name of namesOf(declared)) {
      const doc = commentBefore(source, comments, node.start)
      const text = source
        .slice(node.start, node.end)
        .replace(/^export /, '')
        .replace(/^declare /, '')
        .replace(/;$/, '')
      const before = own.get(name)
      own.set(name, {
        kind: kindOf(declared.type),
        doc: before?.doc || doc,
        text: before === undefined ? text : `${before.text}\n${text}`,
      })
      if (node.type === 'ExportNamedDeclaration') found.set(name, own.get(name))
    }
  }
  for (const node of program.body) {
    if (node.type === 'ExportAllDeclaration')
      for (const [name, each] of from(node.source.value)) found.set(name, each)
    if (node.type !== 'ExportNamedDeclaration' || node.declaration !== null) continue
    const there =
      node.source === null ? new Map([...own, ...importedIn(program, from)]) : from(node.source.value)
    for (const { local, exported } of node.specifiers) {
      const each = there.get(local.name)
      if (each === undefined) throw new Error(`${file}: no declaration of ${local.name}`)
      found.set(exported.name, each)
    }
  }
  return found
}

function* importedIn(program, from) {
  for (const node of program.body) {
    if (node.type !== 'ImportDeclaration' || !node.source.value.startsWith('.')) continue
    const there = from(node.source.value)
    for (const { local, imported } of node.specifiers)
      if (imported !== undefined && there.has(imported.name)) yield [local.name, there.get(imported.name)]
  }
}

function namesOf(declared) {
  if (declared === null || declared === undefined) return []
  if (declared.type === 'VariableDeclaration') return declared.declarations.map(({ id }) => id.name)
  return declared.id?.name === undefined ? [] : [declared.id.name]
}

const kindOf = (type) =>
  ({ TSDeclareFunction: 'function', ClassDeclaration: 'class', VariableDeclaration: 'value' })[type] ?? 'type'

/** Documentation comments stand directly before what they are about. */
function commentBefore(source, comments, start) {
  const comment = comments.findLast(
    (each) => each.end <= start && source.slice(each.end, start).trim() === '',
  )
  if (comment === undefined || !comment.value.startsWith('*')) return ''
  return comment.value
    .slice(1)
    .split('\n')
    .map((line) => line.trim().replace(/^\* ?/, ''))
    .join('\n')
    .trim()
}

if (resolve(process.argv[1] ?? '') === fileURLToPath(import.meta.url)) {
  const folder = join(root, 'docs', 'api')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of apiPages()) writeFileSync(join(folder, name), text)
}
