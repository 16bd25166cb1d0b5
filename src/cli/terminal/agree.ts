// A question that is answered with yes or no, before something is changed for good.
import { exits, refuse, type Refusal } from '../exit-codes.ts'
import type { Io } from './io.ts'

/** Whether the person typed yes; anything else is a no. */
export async function saysYes(io: Io, question: string): Promise<boolean> {
  io.err(`${question} [y/N] `)
  const lines = io.lines()
  let answer = ''
  for await (const line of lines) {
    answer = line.trim().toLowerCase()
    break
  }
  lines.close()
  return answer === 'y' || answer === 'yes'
}

/** Null: yes. Without a terminal nobody can be asked, and a script has to say so. */
export async function agreesTo(
  io: Io,
  question: string,
  verb: 'changed' | 'deleted',
): Promise<Refusal | null> {
  if (!io.inIsTerminal)
    return refuse(
      exits.usage,
      `nothing was ${verb}: there is no terminal to ask for confirmation. Use --yes, or --dry-run for a preview`,
    )
  return (await saysYes(io, question)) ? null : refuse(exits.failed, `nothing was ${verb}`)
}
