// From what was played to a report, and from a report to a page in a file.
import { writeFile } from 'node:fs/promises'
import { kindOf, pageOf, reportOf, type BatchOptions, type Outcome, type Report } from '../../lab/index.ts'
import { exits, refuse, type Refusal } from '../exit-codes.ts'

export function reportFor(outcomes: readonly Outcome[], { policies, window, model }: BatchOptions): Report {
  const names = policies.map(({ name }) => name)
  return reportOf(outcomes, names, { window, model })
}

export async function writePage(
  file: string | undefined,
  report: Report,
  { policies }: BatchOptions,
  isOwn = false,
): Promise<Refusal | null> {
  if (file === undefined) return null
  const notes = policies.map((policy) => ({ name: policy.name, about: policy.about, kind: kindOf(policy) }))
  try {
    await writeFile(file, pageOf(report, notes, { isOwn }))
    return null
  } catch (error) {
    return refuse(exits.failed, `${file} cannot be written (${(error as Error).message})`)
  }
}
