// The README's examples, run as they stand there against the simulator; only the package's name is resolved to the
// source, and the key and address come from the environment as the examples say.
import { build } from 'esbuild'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { call, createSimulator, scripted, type Simulator } from '../src/simulator/index.ts'

const root = resolve(import.meta.dirname, '..')
const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function examples(page = 'README.md'): Promise<string[]> {
  const readme = await readFile(join(root, page), 'utf8')
  return [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!)
}

async function simulated(): Promise<{ simulator: Simulator; url: string }> {
  const simulator = createSimulator({ answerer: scripted(['Hello from the simulator.']) })
  const { url } = await simulator.start()
  cleanups.push(() => simulator.stop())
  return { simulator, url }
}

async function run(
  code: string,
  environment: Record<string, string>,
  files: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; out: string }> {
  // Beside the packages, so that they are found.
  const folder = await mkdtemp(join(root, 'node_modules', '.readme-'))
  cleanups.push(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'example.ts'), code)
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const outfile = join(folder, 'example.mjs')
  await build({
    entryPoints: [join(folder, 'example.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['@anthropic-ai/sdk', 'yaml'],
    alias: { palimpsest: join(root, 'src/index.ts') },
    logLevel: 'error',
  })
  const child = spawn(process.execPath, [outfile], {
    cwd: folder,
    env: { PATH: process.env['PATH'], ...environment },
  })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const exit = await new Promise<number | null>((done) => child.on('close', done))
  return { code: exit, out }
}

const accessTo = (url: string) => ({ ANTHROPIC_API_KEY: 'test', ANTHROPIC_BASE_URL: url })

describe('the README', () => {
  it('[H30] its first example streams an answer and keeps the session', async () => {
    const { simulator, url } = await simulated()
    const [first] = await examples()
    expect(await run(first!, accessTo(url))).toEqual({ code: 0, out: 'Hello from the simulator.' })
    expect(simulator.log.requests.map((request) => request.error)).toEqual([null])
  })

  it('[H30] its first example shows a failure and ends with 1: without a key, with a wrong one, without a server', async () => {
    const [first] = await examples()
    const simulator = createSimulator({ answerer: scripted(['never']), keys: ['other'] })
    const { url } = await simulator.start()
    expect(await run(first!, {})).toMatchObject({
      code: 1,
      out: expect.stringContaining('no key was given') as string,
    })
    expect(await run(first!, accessTo(url))).toMatchObject({
      code: 1,
      out: expect.stringContaining('unauthorized: ') as string,
    })
    await simulator.stop()
    expect(await run(first!, accessTo(url))).toMatchObject({
      code: 1,
      out: expect.stringContaining('network: ') as string,
    })
  })

  it('[H30] its second example keeps the loop with the caller', async () => {
    const { simulator, url } = await simulated()
    const [, second] = await examples()
    expect(await run(second!, accessTo(url))).toEqual({ code: 0, out: '' })
    expect(simulator.log.requests.map((request) => request.error)).toEqual([null])
  })
})

describe('the page of extensions', () => {
  it('[EX9] its example lists a skill, shows it when it is called, and names what is wrong with another', async () => {
    const answerer = scripted([[call('Skill', { name: 'release' }, 's')], 'Published.'])
    const simulator = createSimulator({ answerer, log: { bodies: 10 } })
    const { url } = await simulator.start()
    cleanups.push(() => simulator.stop())
    const [example] = await examples('docs/extensions.md')
    const { code, out } = await run(example!, accessTo(url), {
      'skills/release/SKILL.md':
        '---\ndescription: how a version is published\n---\nRun the SEVENTEEN steps.\n',
      'skills/bad/SKILL.md': '---\na: [\n---\n',
    })
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/bad.*left out\nPublished\.$/s) as string,
    })
    const [first, second] = simulator.log.requests.map(({ body }) => JSON.stringify(body))
    expect(first).toContain('release: how a version is published')
    expect(first).not.toContain('SEVENTEEN')
    expect(second).toContain('SEVENTEEN steps')
  })
})
