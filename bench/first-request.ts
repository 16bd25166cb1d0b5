// What the measures of a start share: the command as it is shipped, and how long a program takes from its start until a
// local server has its first request. Every program gets the same few variables and nothing else: what a machine sets
// besides (certificates to load, flags of Node) would be paid by one and not by the other.
import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import * as http from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

export const environmentOf = (home: string): Record<string, string | undefined> => ({
  PATH: process.env['PATH'],
  HOME: home,
})

export function numberOf(flag: string, otherwise: number): number {
  const at = process.argv.indexOf(flag)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}

const root = dirname(import.meta.dirname)

/** The path of `pal.js`, bundled into a folder that says, as the package does, what its files are. */
export async function bundledPal(
  folder: string,
  { tree = root, withLibrary = false }: { readonly tree?: string; readonly withLibrary?: boolean } = {},
): Promise<string> {
  const url = pathToFileURL(join(tree, 'scripts', 'bundle.mjs')).href
  const { bundle } = (await import(url)) as {
    bundle: (folder: string, withLibrary: boolean) => Promise<void>
  }
  await bundle(folder, withLibrary)
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  return join(folder, 'pal.js')
}

/** The same of another commit, whose files are put into `scratch`; null where the repository has no such commit. */
export async function palOfCommit(commit: string, folder: string, scratch: string): Promise<string | null> {
  let archive: Buffer
  try {
    archive = execFileSync('git', ['archive', commit], {
      cwd: root,
      maxBuffer: 2 ** 28,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch {
    return null
  }
  const tree = mkdtempSync(join(scratch, 'tree-'))
  execFileSync('tar', ['-x', '-C', tree], { input: archive })
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  return bundledPal(folder, { tree })
}

/** A folder beside the packages, so that a bundle in it finds optional ones. */
export function bundleFolder(name: string): string {
  const cache = join(root, 'node_modules', '.cache')
  mkdirSync(cache, { recursive: true })
  return mkdtempSync(join(cache, `${name}-`))
}

export interface Start {
  /** The arguments of Node. */
  readonly words: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Hears what was asked. */
  readonly saw?: (body: string) => void
  /** Hears how long the program had a core until then, in milliseconds; only where the system tells. */
  readonly spent?: (cpuMs: number) => void
}

/** What all threads of a process had of the cores so far: on a busy machine that says more than the clock. */
function cpuMsOf(pid: number): number | null {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`)
    const nanoseconds = tasks.map((task) =>
      Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]),
    )
    return nanoseconds.reduce((sum, one) => sum + one, 0) / 1e6
  } catch {
    return null
  }
}

/** Milliseconds from the start of the process until its request is here. */
export async function firstRequest({ words, cwd, environment, saw, spent }: Start): Promise<number> {
  const server = http.createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const arrived = new Promise<number>((resolve) =>
    server.on('request', (request, response) => {
      resolve(performance.now())
      const cpuMs = child.pid === undefined ? null : cpuMsOf(child.pid)
      if (cpuMs !== null) spent?.(cpuMs)
      let body = ''
      request.on('data', (part: Buffer) => (body += part.toString('utf8')))
      request.on('end', () => {
        saw?.(body)
        response.writeHead(400).end('{}')
      })
    }),
  )
  const env = { ...environment, ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: 'k' }
  const begun = performance.now()
  const child = spawn(process.execPath, words, { cwd, env, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('exit', resolve))
  const took = (await arrived) - begun
  await ended
  server.close()
  return took
}
