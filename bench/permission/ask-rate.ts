// How often the read-only commands of the recorded sessions would be asked about, and why.
import { machineFileSystem } from '../../src/disk/fs.ts'
import { judgeCommand } from '../../src/tools/permission/judge-command.ts'
import { label, type Label } from './label.ts'
import { recordedCommands } from './recorded.ts'

export interface AskRate {
  readonly label: Label
  readonly commands: number
  readonly asked: number
  /** The most frequent first, each with the commands behind it. */
  readonly reasons: readonly (readonly [string, readonly string[]])[]
}

/** What is particular to one command is left out of its reason. */
const reasonOf = (why: string): string =>
  why
    .split('; ')[0]!
    .replace(/(?:\/|\.\.?\/)\S+/g, 'PATH')
    .replace(/^the script [\s\S]* of sed/, 'the script … of sed')

export async function askRates(folder: string): Promise<readonly AskRate[]> {
  const rows = new Map<Label, { commands: number; asked: number; reasons: Map<string, string[]> }>()
  for (const { command, project } of await recordedCommands(folder)) {
    const kind = label(command, project)
    const row = rows.get(kind) ?? { commands: 0, asked: 0, reasons: new Map<string, string[]>() }
    rows.set(kind, row)
    row.commands++
    const verdict = await judgeCommand(
      command,
      { allow: [], ask: [], deny: [] },
      { fs: machineFileSystem, root: project, cwd: project, home: '/nobody' },
    )
    if (verdict.kind === 'allow') continue
    row.asked++
    const reason = reasonOf(verdict.why)
    row.reasons.set(reason, [...(row.reasons.get(reason) ?? []), command])
  }
  return [...rows].map(([kind, { commands, asked, reasons }]) => ({
    label: kind,
    commands,
    asked,
    reasons: [...reasons].toSorted(([, a], [, b]) => b.length - a.length),
  }))
}
