// How far a replay is, the report on what was played, and the page of it in a file.
import { writeFile } from 'node:fs/promises'
import { kindOf, pageOf, reportOf, type BatchOptions, type Outcome, type Report } from '../../lab/index.ts'
import { exits, refuse, type Refusal } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'

/** Where nobody watches, a line now and then is enough. */
const lineEveryMs = 10_000

export interface Progress {
  tell(text: string): void
  end(): void
}

/** In place on a terminal, a line now and then where nobody watches or a file takes it. */
export function progressOn(io: Pick<Io, 'err' | 'errIsTerminal'>, now: () => number = Date.now): Progress {
  let shown = now()
  return {
    tell: (text) => {
      if (io.errIsTerminal) return io.err(`\r\u001B[K${text}`)
      if (now() - shown < lineEveryMs) return
      shown = now()
      io.err(`${text}\n`)
    },
    end: () => {
      if (io.errIsTerminal) io.err('\r\u001B[K')
    },
  }
}

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
