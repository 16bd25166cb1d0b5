// Runs the examples as they stand: `npm run examples`, or `npm run examples -- NAME …`. Only the package's name is resolved
// to this source, and the simulator answers in place of a provider.
import { build } from 'esbuild'
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { installed, isInstalled } from '../clients/on-demand.ts'
import { call, createSimulator, scripted, type ScriptStep } from '../src/simulator/index.ts'

const root = join(import.meta.dirname, '..')

interface Example {
  /** What the simulator answers, in turn. */
  readonly steps: readonly ScriptStep[]
  /** What it must print. */
  readonly prints: readonly (string | RegExp)[]
  readonly times?: number
  /** What must stand in a request. */
  readonly sends?: string
  /** Packages that are no dependency of ours: installed on demand, and kept. */
  readonly needs?: { readonly name: string; readonly packages: readonly string[] }
  /** For one that does not end by itself. */
  readonly visit?: (url: string) => Promise<string>
}

/** An agent that reads one page after the other and then says so. */
const pages = 60
const reader: readonly ScriptStep[] = [
  ...Array.from({ length: pages }, (_, page): ScriptStep => [call('read', { page })]),
  'All pages are read.',
]
/** All of it happened: results shortened before they were sent, compactions, and a cache that was read all along. */
const fitted = /: (?!0 )\d+ results shortened, (?!0 )\d+ compactions, \d{5,} tokens from the cache/

const hello: readonly ScriptStep[] = ['Hello from the simulator.']
const launch = [call('Agent', { label: 'find the date', prompt: 'Read notes.txt.' })]

export const examples: Readonly<Record<string, Example>> = {
  'quick-start.ts': { steps: hello, prints: ['Hello from the simulator.', /\[\d+ tokens, \$0\.\d{4}\]/] },
  'own-loop.ts': {
    steps: [[call('add', { a: 19, b: 23 })], 'It is 42.'],
    prints: ['It is 42.', '2 requests'],
  },
  'wires.ts': {
    steps: [[call('add', { a: 19, b: 23 })], 'It is 42.', 'It is 84.', 'Hello.'],
    prints: [
      'It is 42.',
      /switching sends \d+ tokens anew/,
      'It is 84.',
      /\d items were sent, 2 messages are kept/,
    ],
  },
  'own-tools.ts': {
    steps: [
      [call('in_stock', { article: 'paper' })],
      [call('order', { article: 'paper', count: 20 })],
      'Done.',
    ],
    prints: ['in_stock: 0', 'order: ordered 20, now 20', 'Done.'],
  },
  'web-stream.ts': {
    steps: hello,
    prints: [],
    visit: async (url) => {
      const page = await (await fetch(url)).text()
      const answer = await (await fetch(`${url}ask?visitor=v&q=hello`)).text()
      const words = [...answer.matchAll(/^data: (".*")$/gm)].map(([, json]) => JSON.parse(json!) as string)
      return page.includes('EventSource') ? words.join('') : 'no page'
    },
  },
  'resume.ts': {
    steps: ['I will.', 'It was heron.'],
    times: 2,
    prints: [
      'began a session of 0 messages',
      'I will.',
      'went on with a session of 2 messages',
      'It was heron.',
    ],
  },
  'undo.ts': {
    steps: Array.from({ length: 12 }, () => 'Noted.'),
    prints: ['compacted: smaller', /edit \d+: /, 'after the undo the view is as it was'],
  },
  'fork.ts': {
    steps: ['Watch the locks.', 'Queues on Postgres'],
    prints: ['Watch the locks.', 'title: Queues on Postgres', 'the conversation still has 0 messages more'],
  },
  'agents.ts': {
    steps: [
      launch,
      [call('Read', { file_path: 'notes.txt' })],
      'The launch is on Friday.',
      'It is on Friday.',
    ],
    prints: ['Agent done', 'It is on Friday.', /agent .*: done/],
  },
  'memory.ts': {
    steps: ['No: only on Tuesdays.'],
    sends: 'We deploy on Tuesdays only.',
    prints: ['found: deploys.md', 'No: only on Tuesdays.'],
  },
  'own-layer.ts': {
    steps: [[call('status', {})], [call('status', {})], 'Still building.'],
    prints: ['newest-status: a newer result of status is there'],
  },
  'own-store.ts': {
    steps: hello,
    prints: [/contract: (\d+) of \1/, 'Hello from the simulator.', 'every entry came through the store'],
  },
  'own-model.ts': { steps: [], prints: ['pong', 'tock'] },
  'own-hooks.ts': {
    steps: [[call('deploy', { service: 'shop' })], 'Ada must decide.'],
    prints: ['deploy was not run: ', 'No deployments on Fridays', 'Ada must decide.', 'the turn ended: done'],
  },
  'fit-anthropic.ts': { steps: reader, prints: [/^61 requests of 122 messages/m, fitted] },
  'fit-openai.ts': { steps: reader, prints: [/^61 requests/m, fitted] },
  'fit-ai-sdk.ts': { steps: reader, prints: ['All pages are read.', /^61 steps/m, fitted] },
  'fit-langchain.ts': {
    steps: reader,
    prints: [/^61 calls of 122 messages/m, fitted],
    needs: {
      name: 'fit-langchain',
      packages: ['langchain@1.5.14', '@langchain/core@1.2.13', '@langchain/anthropic@1.5.11', 'zod@4.6.7'],
    },
  },
  'fit-agents.ts': {
    steps: reader,
    prints: [/^61 calls, 122 items/m, fitted],
    needs: { name: 'fit-agents', packages: ['@openai/agents@0.20.0', 'openai@7.53.0', 'zod@4.6.7'] },
  },
  'policy.json': { steps: [], prints: ['careful'] },
  'ci-review.sh': { steps: ['Fine.\nVERDICT: OK'], prints: ['VERDICT: OK'] },
}

export interface Ran {
  readonly code: number | null
  readonly out: string
  /** What it should have printed and did not, or what the simulator refused. */
  readonly problems: readonly string[]
}

/** Why an example cannot be run here, or null. Tests install nothing: `npm run examples` does. */
export function missingFor(name: string): string | null {
  const { needs } = examples[name]!
  return needs === undefined || isInstalled(needs.name)
    ? null
    : `${needs.packages.join(', ')} not installed: npm run examples -- ${name}`
}

/** Programs and `pal`, made once for all that are run: most of each is the library itself. */
export interface Made {
  readonly folder: string
  remove(): Promise<void>
}

/** Bundles `pal` and every example that needs no packages of its own. */
export async function madeOnce(): Promise<Made> {
  const cache = join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'examples-'))
  const names = Object.keys(examples).filter((name) => name.endsWith('.ts'))
  await bundled(
    names.filter((name) => examples[name]!.needs === undefined).map((name) => join(root, 'examples', name)),
    folder,
  )
  const { bundle } = (await import(pathToFileURL(join(root, 'scripts', 'bundle.mjs')).href)) as {
    bundle: (folder: string) => Promise<void>
  }
  await bundle(join(folder, 'lib'))
  return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
}

export async function runExample(name: string, made: Made): Promise<Ran> {
  const example = examples[name]!
  const { needs } = example
  const packages = needs === undefined ? null : installed(needs.name, needs.packages)
  if (needs !== undefined && packages === null)
    return { code: 1, out: '', problems: [`cannot install ${needs.packages.join(', ')}`] }
  const simulator = createSimulator({ answerer: scripted(example.steps) })
  const { url } = await simulator.start()
  // Beside the packages, so that they are found.
  const cache = packages ?? join(root, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'example-'))
  try {
    const command = !name.endsWith('.ts')
      ? await scriptOf(name, folder, made)
      : packages === null
        ? ([process.execPath, join(made.folder, `${basename(name, '.ts')}.mjs`)] as const)
        : await programOf(join(root, 'examples', name), folder)
    let [out, code]: [string, number | null] = ['', 0]
    for (let time = 0; time < (example.times ?? 1); time++) {
      const ended = await run(command, folder, url, example.visit)
      out += ended.out
      code ||= ended.code
    }
    const problems = [
      ...example.prints.filter((each) => (typeof each === 'string' ? !out.includes(each) : !each.test(out))),
      ...simulator.log.requests.flatMap(({ error }) => (error === null ? [] : [JSON.stringify(error)])),
      ...[example.sends ?? ''].filter(
        (words) =>
          words !== '' && !simulator.log.requests.some(({ body }) => JSON.stringify(body).includes(words)),
      ),
    ].map(String)
    return { code, out, problems }
  } finally {
    await simulator.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

type Command = readonly [program: string, ...words: string[]]

/** A program that takes the package by its name, as its users do. */
export async function programOf(file: string, folder: string): Promise<Command> {
  await bundled([file], folder)
  return [process.execPath, join(folder, `${basename(file, '.ts')}.mjs`)]
}

async function bundled(files: readonly string[], folder: string): Promise<void> {
  await build({
    entryPoints: [...files],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    splitting: true,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: [
      '@anthropic-ai/sdk',
      '@ai-sdk/openai',
      '@google/genai',
      '@langchain/anthropic',
      '@openai/agents',
      'ai',
      'langchain',
      'openai',
      'zod',
      'fast-check',
      '@vscode/ripgrep',
    ],
    alias: {
      palimpsest: join(root, 'src/index.ts'),
      'palimpsest/fit': join(root, 'src/fit/index.ts'),
      'palimpsest/testing': join(root, 'src/testing/index.ts'),
    },
    banner: {
      js: "import { createRequire } from 'node:module';const require = createRequire(import.meta.url);",
    },
    logLevel: 'error',
  })
}

/** A script finds `pal` on its PATH and works in a repository with one change. */
async function scriptOf(name: string, folder: string, made: Made): Promise<Command> {
  await mkdir(join(folder, 'bin'))
  await writeFile(
    join(folder, 'bin', 'pal'),
    `#!/bin/sh\nexec "${process.execPath}" "${join(made.folder, 'lib', 'pal.js')}" "$@"\n`,
  )
  await chmod(join(folder, 'bin', 'pal'), 0o755)
  await writeFile(join(folder, 'a.txt'), 'one\n')
  const git = (...words: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.c', ...words], { cwd: folder })
  git('init', '-q')
  git('add', 'a.txt')
  git('commit', '-qm', 'one')
  await writeFile(join(folder, 'a.txt'), 'two\n')
  git('commit', '-qam', 'two')
  const file = join(root, 'examples', name)
  return name.endsWith('.json')
    ? [join(folder, 'bin', 'pal'), 'replay', '--sample', '--policy', file]
    : ['bash', file]
}

async function run(
  [program, ...words]: Command,
  folder: string,
  url: string,
  visit: Example['visit'],
): Promise<{ readonly code: number | null; readonly out: string }> {
  const child = spawn(program, words, {
    cwd: folder,
    env: {
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      HOME: folder,
      ANTHROPIC_API_KEY: 'example',
      ANTHROPIC_BASE_URL: url,
      OPENAI_API_KEY: 'example',
      OPENAI_BASE_URL: `${url}/v1`,
      GEMINI_API_KEY: 'example',
      GOOGLE_GEMINI_BASE_URL: url,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  const ended = new Promise<number | null>((done) => child.on('close', done))
  const take = (chunk: Buffer): void => void (out += chunk.toString())
  child.stdout.on('data', take)
  child.stderr.on('data', take)
  if (visit !== undefined) out += await visit(await addressOf(child)).finally(() => child.kill('SIGTERM'))
  return { code: await ended, out }
}

const addressOf = (child: ChildProcess): Promise<string> =>
  new Promise((found, failed) => {
    child.stdout!.on('data', (chunk: Buffer) => {
      const [url] = /http:\/\/\S+\//.exec(chunk.toString()) ?? []
      if (url !== undefined) found(url)
    })
    child.on('close', () => failed(new Error('it ended before it said where it listens')))
  })

const isProgram = process.argv[1] !== undefined && /run-ts.run-/.test(process.argv[1])
if (isProgram) {
  const asked = process.argv.slice(2)
  const names = Object.keys(examples).filter(
    (name) => asked.length === 0 || asked.some((word) => name.startsWith(word)),
  )
  if (names.length === 0) {
    console.error(`no such example: ${asked.join(' ')}; there are ${Object.keys(examples).join(', ')}`)
    process.exit(2)
  }
  const made = await madeOnce()
  for (const name of names) {
    const { code, out, problems } = await runExample(name, made)
    const isGood = code === 0 && problems.length === 0
    console.log(`${isGood ? '✓' : '✗'} ${name}`)
    if (asked.length > 0 || !isGood) console.log(out.replaceAll(/^/gm, '    '))
    for (const problem of problems) console.log(`    missing or refused: ${problem}`)
    if (!isGood) process.exitCode = 1
  }
  await made.remove()
}
