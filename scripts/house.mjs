// `npm run house [-- --against REV] [--json] [--names] [--picture [--write]]`: the size and shape of the source, counted from its syntax trees.
// With a revision the same counts of that one stand beside it (default: the commit this was first counted on).
// `--names` also lists what is behind the counts that should be zero; `--picture` draws the house of ARCHITECTURE.md.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
/** Members that others set: a server of tools, Node, a package.json, a collector of spans. */
const fromOutside = [
  'structuredContent',
  'enableCompileCache',
  'packageManager',
  'rejectedSpans',
  'rejectedDataPoints',
  'errorMessage',
]
const given = process.argv.slice(2)
const valueOf = (flag, otherwise) => (given.includes(flag) ? given[given.indexOf(flag) + 1] : otherwise)
const against = valueOf('--against', '50d1d98')

function filesBelow(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? filesBelow(join(folder, entry.name)) : [join(folder, entry.name)],
  )
}

/** Every node of a syntax tree. */
function* nodes(node) {
  if (node === null || typeof node !== 'object') return
  if (Array.isArray(node)) {
    for (const one of node) yield* nodes(one)
    return
  }
  if (typeof node.type === 'string') yield node
  for (const key of Object.keys(node)) {
    const value = node[key]
    if (value !== null && typeof value === 'object') yield* nodes(value)
  }
}

const keyOf = (member) => member.key?.name ?? member.key?.value ?? null

/** Pages this repository never had: a comment that cites one sends its reader nowhere. */
const citation =
  /\b(?:SPEC|TRUST|API|MEMORY|DESIGN|STYLE|NEEDS|PEERS|DEPS|GATEWAY|COMPANION|LEARN|PROMPTS|VOICE|INSPECTOR-FLEET)(?:\.md)? (?:section )?(?:[A-Z]?\d+(?:\.\d+)*[A-Za-z]?|E\d+)\b|\(need \d+\)|\(issue \d+\)|\bof NEEDS\b/g

/** Ids in brackets, as a comment or a test's name gives its reason: those that are no rule here are of a page elsewhere. */
const reason = /\((?:law )?[A-Z]{1,2}\d+(?:(?:, | and )[A-Z]{1,2}\d+)*\)/g

/** The names the state of a session has had; whichever a tree has is counted. */
const stateNames = ['Core', 'SessionState']

export function measure(tree) {
  const src = join(tree, 'src')
  const sources = filesBelow(src).filter((file) => /\.tsx?$/.test(file) && !file.endsWith('.test.ts'))
  const roomOf = (file) =>
    relative(src, file)
      .split('/')[0]
      .replace(/\.tsx?$/, '')
  const importers = new Map(sources.map((file) => [file, new Set()]))
  const exported = new Map()
  const optional = []
  const keysSeen = new Map()
  const state = new Map()
  let takers = 0
  let lines = 0
  const lengths = new Map()
  const seen = (name) => keysSeen.set(name, (keysSeen.get(name) ?? 0) + 1)

  const tests = [src, join(tree, 'test'), join(tree, 'bench'), join(tree, 'scripts')]
    .filter(existsSync)
    .flatMap(filesBelow)
    .filter((file) => /\.(?:tsx?|mjs)$/.test(file))
  for (const file of tests) {
    const text = readFileSync(file, 'utf8')
    const isSource = importers.has(file)
    const { body } = parseAst(text, { lang: /\.(tsx?)$/.exec(file)?.[1] ?? 'js' })
    if (isSource) {
      const count = text.split('\n').length - 1
      lines += count
      lengths.set(file, count)
    }
    for (const node of nodes(body)) {
      if (node.type === 'Property' && node.parent === undefined) seen(keyOf(node))
      // Methods of a class set what an interface leaves open, and an option of the command line sets its flag.
      if (node.type === 'MethodDefinition' || node.type === 'PropertyDefinition') seen(keyOf(node))
      if (node.type === 'Literal' && typeof node.value === 'string')
        for (const [, flag] of node.value.matchAll(/--([a-z][a-z-]*)/g))
          seen(flag.replaceAll(/-([a-z])/g, (_, letter) => letter.toUpperCase()))
      // A value can also be set by assignment or handed on by name.
      if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression')
        seen(node.left.property.name ?? null)
      if (!isSource) continue
      if (
        (node.type === 'ImportDeclaration' ||
          node.type === 'ExportNamedDeclaration' ||
          node.type === 'ExportAllDeclaration') &&
        node.source?.value?.startsWith('.')
      )
        importers.get(resolve(dirname(file), node.source.value))?.add(file)
      if (node.type === 'ImportExpression' && node.source?.value?.startsWith?.('.'))
        importers.get(resolve(dirname(file), node.source.value))?.add(file)
      if (node.type === 'TSPropertySignature' && node.optional === true)
        optional.push({ name: keyOf(node), file })
      // Another room may have a state of its own under the same name.
      if (roomOf(file) !== 'engine') continue
      if (node.type === 'ClassDeclaration' && stateNames.includes(node.id?.name))
        state.set(
          node.id.name,
          new Set(
            node.body.body
              .filter(({ type }) => type === 'PropertyDefinition' || type === 'MethodDefinition')
              .map((member) => keyOf(member) ?? ''),
          ).size,
        )
      if (node.type === 'TSInterfaceDeclaration' && stateNames.includes(node.id.name))
        state.set(node.id.name, node.body.body.length)
      if (
        ['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'].includes(node.type) &&
        node.params.some((parameter) => {
          const annotation = (parameter.typeAnnotation ?? parameter.left?.typeAnnotation)?.typeAnnotation
          return annotation?.type === 'TSTypeReference' && stateNames.includes(annotation.typeName?.name)
        })
      )
        takers++
    }
    if (!isSource) continue
    for (const statement of body) {
      const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : null
      if (declaration === null || declaration === undefined) continue
      const names =
        declaration.type === 'VariableDeclaration'
          ? declaration.declarations.map(({ id }) => id.name)
          : [declaration.id?.name]
      for (const name of names.filter((name) => name !== undefined))
        exported.set(name, [...(exported.get(name) ?? []), file])
    }
  }

  const doubled = [...exported].filter(([, files]) => new Set(files).size > 1)
  const doubledInRoom = doubled.flatMap(([name, files]) => {
    const rooms = [...new Set(files)].map(roomOf)
    const again = rooms.filter((room, index) => rooms.indexOf(room) !== index)
    return again.length === 0 ? [] : [`${name} (${[...new Set(again)].join(', ')})`]
  })
  const singleUse = sources.filter((file) => {
    const users = importers.get(file)
    return (
      users.size === 1 &&
      roomOf([...users][0]) === roomOf(file) &&
      lengths.get(file) < 60 &&
      basename(file) !== 'index.ts'
    )
  })
  const unset = optional.filter(
    ({ name }) => name !== null && !fromOutside.includes(name) && (keysSeen.get(name) ?? 0) === 0,
  )
  const papers = [
    ...tests,
    ...['README.md', 'ARCHITECTURE.md', 'GLOSSARY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SPEC.md'].map(
      (name) => join(tree, name),
    ),
    ...filesBelow(join(tree, 'docs')).filter((file) => file.endsWith('.md')),
    ...[src, join(tree, 'test')].flatMap(filesBelow).filter((file) => file.endsWith('.md')),
  ].filter((file) => existsSync(file) && basename(file) !== 'house.mjs')
  const cited = papers.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(citation)].map((match) => `${relative(tree, file)}: ${match[0]}`),
  )
  const rules = papers
    .filter((file) => basename(file) === 'SPEC.md')
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/^- \*\*([A-Z]{1,2}\d+)\*\* \S/gm)])
    .map((match) => match[1])
  const known = new Set(rules)
  for (const file of papers.filter((one) => /\.(?:tsx?|mjs)$/.test(one)))
    for (const [ids] of readFileSync(file, 'utf8').matchAll(reason))
      if (ids.match(/[A-Z]{1,2}\d+/g).some((id) => !known.has(id)))
        cited.push(`${relative(tree, file)}: ${ids}`)
  const inRoom = (room) => sources.filter((file) => roomOf(file) === room)
  return {
    figures: {
      files: sources.length,
      folders: new Set(sources.map((file) => dirname(file))).size,
      lines,
      'engine files': inRoom('engine').length,
      'members of the session state': Math.max(0, ...state.values()),
      'functions that take it': takers,
      'exported names declared more than once': doubled.length,
      '… within one room': doubledInRoom.length,
      'single-use files under 60 lines': singleUse.length,
      'hops of a compaction': hops(tree, 'compaction'),
      'hops of a memory': hops(tree, 'memory'),
      rules: rules.length,
      'optional members nobody sets': unset.length,
      'citations of pages elsewhere': cited.length,
    },
    rooms: Object.fromEntries(
      [...new Set(sources.map(roomOf))]
        .toSorted((a, b) => (a < b ? -1 : 1))
        .map((room) => [
          room,
          {
            files: inRoom(room).length,
            lines: inRoom(room).reduce((sum, file) => sum + lengths.get(file), 0),
          },
        ]),
    ),
    names: {
      'declared twice in a room': doubledInRoom,
      'single-use files': singleUse.map((file) => relative(tree, file)),
      'options nobody sets': unset.map(({ name, file }) => `${name} (${relative(tree, file)})`),
      citations: cited,
    },
  }
}

/**
 * How many functions a compaction or a memory passes through, by the walk written down in scripts/walks.json: each step
 * must really stand in the file it names and be named by the step before (`~` marks one that is reached through a port),
 * or the walk is not counted.
 */
function hops(tree, walk) {
  const file = join(root, 'scripts', 'walks.json')
  if (!existsSync(file)) return null
  for (const steps of JSON.parse(readFileSync(file, 'utf8'))[walk] ?? []) {
    const texts = steps.map((step) => {
      const path = join(tree, 'src', step.replace(/^~/, '').split('#')[0])
      return existsSync(path) ? readFileSync(path, 'utf8') : ''
    })
    const isWhole = steps.every((step, at) => {
      const name = new RegExp(String.raw`\b${step.split('#')[1]}\b`)
      return name.test(texts[at]) && (at === 0 || step.startsWith('~') || name.test(texts[at - 1]))
    })
    if (isWhole) return steps.length
  }
  return null
}

function measureRevision(revision) {
  const folder = mkdtempSync(join(tmpdir(), 'house-'))
  try {
    execFileSync('tar', ['-x', '-C', folder], {
      input: execFileSync('git', ['archive', revision], {
        cwd: root,
        maxBuffer: 1 << 28,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    })
    return measure(folder)
  } catch {
    return null
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What commits of each kind have added to and taken from the source since a revision: what was built hides what was cut. */
function grownSince(revision) {
  const kinds = new Map()
  let own = null
  try {
    const log = execFileSync(
      'git',
      [
        'log',
        '--no-merges',
        '--no-renames',
        '--numstat',
        '--summary',
        '--format=@%s',
        `${revision}..HEAD`,
        '--',
        'src',
      ],
      { cwd: root, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] },
    )
    for (const line of log.split('\n')) {
      const kind = /^@(\w+)/.exec(line)?.[1]
      if (kind !== undefined) {
        own = kinds.get(kind) ?? { commits: 0, files: 0, lines: 0 }
        kinds.set(kind, own)
        own.commits++
      }
      const [, added, removed] = /^(\d+)\t(\d+)\t\S+(?<!\.test)\.tsx?$/.exec(line) ?? []
      if (added !== undefined) own.lines += Number(added) - Number(removed)
      const deed = /^ (create|delete) mode \d+ \S+(?<!\.test)\.tsx?$/.exec(line)?.[1]
      if (deed !== undefined) own.files += deed === 'create' ? 1 : -1
    }
  } catch {
    return null
  }
  return Object.fromEntries(kinds)
}

const isRun = process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)
if (isRun && given.includes('--picture')) {
  const { picture, writePicture } = await import('./picture.mjs')
  if (given.includes('--write')) writePicture()
  else process.stdout.write(picture())
} else if (isRun) {
  const [before, now] = [measureRevision(against), measure(root)]
  if (before === null) process.stderr.write(`${against} is not in this clone; its column is left out\n`)
  const grown = grownSince(against)
  if (given.includes('--json')) process.stdout.write(`${JSON.stringify({ before, now, grown }, null, 2)}\n`)
  else {
    const shown = (value) =>
      (value === null || value === undefined ? '–' : value.toLocaleString('en-US')).padStart(9)
    process.stdout.write(`${''.padEnd(42)}${against.padStart(9)}${'now'.padStart(9)}\n`)
    for (const [name, value] of Object.entries(now.figures))
      process.stdout.write(`${name.padEnd(42)}${shown(before?.figures[name])}${shown(value)}\n`)
    process.stdout.write('\n')
    for (const [room, { files, lines }] of Object.entries(now.rooms)) {
      const old = before?.rooms[room]
      process.stdout.write(
        `${`${room}: files`.padEnd(42)}${shown(old?.files)}${shown(files)}   lines ${shown(old?.lines)}${shown(lines)}\n`,
      )
    }
    process.stdout.write(`\nsince ${against}, by the kind of commit\n`)
    for (const [kind, { commits, files, lines }] of Object.entries(grown ?? {}))
      process.stdout.write(
        `${`${kind}: commits`.padEnd(42)}${shown(commits)}   files ${shown(files)}   lines ${shown(lines)}\n`,
      )
    if (given.includes('--names'))
      for (const [title, list] of Object.entries(now.names))
        process.stdout.write(`\n${title}:\n${list.map((line) => `  ${line}\n`).join('')}`)
  }
}
