// The files of a project that the command of a server names: `./server.js`, `node tools/server.mjs`. They are approved by
// their content before the command runs, at each start. What such a file loads in its turn, packages that a command
// fetches (`npx name`) and what scripts of package managers run cannot be named here and is not covered.
import { resolve } from 'node:path'
import { attempt, type FileSystem } from '../../../disk/fs.ts'
import { isInside } from '../../../disk/under-root.ts'
import { readWhole } from '../../workplace/files.ts'
import type { Gate } from '../../trust/gate.ts'

export interface ProgramPlace {
  readonly fs: FileSystem
  readonly project: string
  readonly cwd: string
  readonly gate: Gate
}

/** Larger ones cannot be looked at, so they are not started. */
const mostBytes = 32 * 1024 * 1024

export async function programRefusal(
  { fs, project, cwd, gate }: ProgramPlace,
  { command, words }: { readonly command: string; readonly words: readonly string[] },
): Promise<string | null> {
  // A command without a slash is looked for in PATH, never in the folder.
  const named = [...(/[/\\]/.test(command) ? [command] : []), ...words.map(withoutFlag)]
  for (const name of named) {
    const real = await attempt('looking', async () => ({ path: await fs.realPath(resolve(cwd, name)) }))
    if (name === '' || name.includes('\0') || !real.ok || !isInside(project, real.path)) continue
    const stat = await attempt('looking', () => fs.stat(real.path))
    if (!stat.ok || stat.kind !== 'file') continue
    const read = await readWhole(fs, real.path, mostBytes)
    if (!read.ok) return `${real.path} cannot be checked: ${read.why}`
    const refused = read.bytes === null ? null : gate.refusal('MCP program', real.path, read.bytes)
    if (refused !== null) return `${real.path} ${refused}`
  }
  return null
}

/** `--import=./hook.js` names a file too. */
const withoutFlag = (word: string): string => /^--?[\w-]+=(.+)$/s.exec(word)?.[1] ?? word
