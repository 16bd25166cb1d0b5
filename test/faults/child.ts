// Real child processes that run our own sources: the entry is bundled once, because Node 20 does not read TypeScript.
import { spawn, type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

export interface Program {
  /** The bundle, for those who start it in their own way. */
  readonly file: string
  run(...args: readonly string[]): ChildProcess
  remove(): Promise<void>
}

export async function program(entry: string): Promise<Program> {
  const folder = await mkdtemp(join(tmpdir(), 'pal-child-'))
  const outfile = join(folder, `${basename(entry, '.ts')}.mjs`)
  const here = fileURLToPath(new URL('.', import.meta.url))
  await build({
    entryPoints: [join(here, entry)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    // Packages written for require still look for it in the bundle.
    banner: {
      js: `import { createRequire } from 'node:module';const require = createRequire(import.meta.url);`,
    },
    logLevel: 'error',
  })
  return {
    file: outfile,
    run: (...args) => spawn(process.execPath, [outfile, ...args], { stdio: ['pipe', 'pipe', 'inherit'] }),
    remove: () => rm(folder, { recursive: true }),
  }
}

/** What a child wrote, line by line, as it comes. */
export async function* linesOf(child: ChildProcess): AsyncIterable<string> {
  let rest = ''
  for await (const chunk of child.stdout!) {
    const parts = (rest + String(chunk)).split('\n')
    rest = parts.pop()!
    yield* parts
  }
}

export const exited = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode)
    else child.once('exit', resolve)
  })
