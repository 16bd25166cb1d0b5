// Whether all meters say the same of the same session: every recorded session is played through the engine, and what the simulator
// charged is held against `pal inspect`, `pal cost`, `pal context` and `pal usage`, to the token.
import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { agreement, type Meters } from '../test/inspector/agreement.ts'
import { clientOf } from '../test/inspector/client.ts'
import { corpusFiles, corpusOr } from '../test/shared-data.ts'

const corpus = corpusOr(undefined)
const limit = Number(/^--count=(\d+)$/u.exec(process.argv.at(-1) ?? '')?.[1] ?? corpusFiles.length)
const window = 120_000
const smallestFirst = corpusFiles
  .map((name) => ({ name, bytes: statSync(join(corpus, name)).size }))
  .sort((a, b) => a.bytes - b.bytes)
  .map(({ name }) => name)
const cache = join(process.cwd(), 'node_modules', '.cache')
await mkdir(cache, { recursive: true })
// The command beside the packages; homes outside of any project.
const place = await mkdtemp(join(cache, 'inspect-figures-'))
const homes = await realpath(await mkdtemp(join(tmpdir(), 'inspect-figures-')))
const { bundle } = (await import(pathToFileURL(join(process.cwd(), 'scripts', 'bundle.mjs')).href)) as {
  bundle: (folder: string) => Promise<void>
}

async function metersIn(home: string): Promise<Meters> {
  const project = join(home, 'project')
  await mkdir(project, { recursive: true })
  const start = (words: readonly string[]) =>
    spawn(process.execPath, [join(place, 'pal', 'pal.js'), ...words], {
      cwd: project,
      env: { PATH: process.env['PATH'], HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  return {
    state: join(home, '.palimpsest'),
    project,
    pal: async (words) => {
      const child = start(words)
      let [out, err] = ['', '']
      child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text))
      child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text))
      const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
      if (code !== 0) throw new Error(`pal ${words.join(' ')}: ${code} ${err}`)
      return out
    },
    inspected: async (work) => {
      const child = start(['inspect', '--json', '--no-open'])
      try {
        const address = await new Promise<string>((resolve, reject) => {
          child.stdout.setEncoding('utf8').once('data', resolve)
          child.once('close', (code) => reject(new Error(`pal inspect ended with ${code}`)))
        })
        const { port, hash } = new URL((JSON.parse(address) as { readonly url: string }).url)
        return await work(clientOf(Number(port), hash.replace('#t=', '')).get)
      } finally {
        child.kill('SIGINT')
        await new Promise((resolve) => child.once('close', resolve))
      }
    },
  }
}

const sums = { sessions: 0, agreed: 0, requests: 0, tokens: 0 }
try {
  await bundle(join(place, 'pal'))
  for (const [at, name] of smallestFirst.slice(0, limit).entries()) {
    const home = join(homes, `home-${at}`)
    const source = { kind: 'file' as const, path: join(corpus, name) }
    const { requests, tokens, differences } = await agreement(source, window, await metersIn(home))
    await rm(home, { recursive: true, force: true })
    sums.sessions++
    sums.agreed += differences.length === 0 ? 1 : 0
    sums.requests += requests
    sums.tokens += tokens
    process.stderr.write(
      `${at + 1} of ${limit}  ${name}: ${requests} requests, ${differences.length} differences\n`,
    )
    for (const line of differences.slice(0, 5)) process.stderr.write(`    ${line.slice(0, 300)}\n`)
  }
} finally {
  for (const folder of [place, homes]) await rm(folder, { recursive: true, force: true })
}
process.stdout.write(
  `${sums.agreed} of ${sums.sessions} sessions agree to the token in all meters: ${sums.requests.toLocaleString('en-US')} requests, ${sums.tokens.toLocaleString('en-US')} prompt tokens\n`,
)
process.exit(sums.agreed === sums.sessions ? 0 : 1)
