// Every distinct shell command of the recorded sessions.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { importFile } from '../../src/lab/importers/import-file.ts'

/** A command line as it was given to a shell; a list of words whose last one is a script gives that script. */
function commandOf(input: Readonly<Record<string, unknown>>): string | null {
  const given = input['command'] ?? input['cmd']
  if (typeof given === 'string') return given
  if (!Array.isArray(given)) return null
  const words = given.filter((word) => typeof word === 'string')
  return /^-\w*c$/.test(words.at(-2) ?? '') ? words.at(-1)! : words.join(' ')
}

export interface Recorded {
  readonly command: string
  /** The folder its session worked in, as far as the paths of its calls tell. */
  readonly project: string
}

/** The folder named like the project that most absolute paths of a session begin with. */
function projectOf(name: string, inputs: readonly string[]): string {
  const counts = new Map<string, number>()
  for (const input of inputs)
    for (const [path] of input.matchAll(/(?<=["'\s=:])\/(?:[\w.@+-]+\/)*[\w.@+-]+/g)) {
      const parts = path.split('/')
      const at = parts.indexOf(name)
      if (at > 1) {
        const folder = parts.slice(0, at + 1).join('/')
        counts.set(folder, (counts.get(folder) ?? 0) + 1)
      }
    }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? `/project/${name}`
}

export async function recordedCommands(folder: string): Promise<readonly Recorded[]> {
  const found = new Map<string, Recorded>()
  for (const name of readdirSync(folder)
    .filter((one) => one.endsWith('.jsonl.gz'))
    .toSorted()) {
    const imported = await importFile(join(folder, name))
    if (!imported.ok) throw new Error(`${name}: ${imported.failure.message}`)
    const calls = imported.recording.turns.flatMap(({ content }) =>
      content.flatMap(({ block }) => (block.type === 'tool_use' ? [block] : [])),
    )
    const project = projectOf(
      name.replace(/^[a-z0-9]+-/, '').replace(/-[^-]*$/, ''),
      calls.map(({ input }) => JSON.stringify(input)),
    )
    for (const { name: tool, input } of calls) {
      const command = /bash|shell|exec|terminal|run/i.test(tool) ? commandOf(input) : null
      if (command !== null && command.trim() !== '' && !found.has(command))
        found.set(command, { command, project })
    }
  }
  return [...found.values()]
}
