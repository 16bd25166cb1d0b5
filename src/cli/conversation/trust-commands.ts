// The question of trust in a conversation: at its start where something of the folder waits for a decision, and with
// `/trust`. A yes counts at once: everything is opened anew, and the session goes on with it.
import { exits, fail, refuse, type Exit } from '../exit-codes.ts'
import { revealed } from '../terminal/approval-text.ts'
import { safeLine } from '../terminal/safe-text.ts'
import {
  decide,
  folderContent,
  openAtStart,
  openText,
  questionText,
  type FolderContent,
  type TrustAnswer,
} from '../trust/deciding.ts'
import { describe } from '../trust/describe.ts'
import { forgetTrust } from '../trust/pins.ts'
import type { CommandContext, KeyedQuestion } from './context.ts'
import { RefusedError } from './conversation.ts'

type Chosen = TrustAnswer | 'show'
const choices: KeyedQuestion<Chosen>['choices'] = [
  { value: 'yes', key: 'y', label: 'Yes, trust these contents' },
  { value: 'show', key: 's', label: 'Show the contents first' },
  { value: 'later', key: 'l', label: 'Not now, ask again at the next start' },
  { value: 'no', key: 'n', label: "No, and don't ask again (/trust changes it)" },
]

/** What waits for a decision when a conversation begins; null where nothing does or nobody can be asked. */
export async function waitingAtStart(context: CommandContext): Promise<FolderContent | null> {
  if (context.decide === undefined) return null
  if (context.place.trust.standing === 'refused')
    context.place.io.err(
      'pal: nothing in this folder takes effect: you chose not to trust it; /trust changes that\n',
    )
  return openAtStart(context.place)
}

/** Asks until it is answered. Turning away decides nothing. */
export async function askTrust(context: CommandContext, content: FolderContent): Promise<Exit> {
  const { io } = context.place
  const question = await questionText(context.place, content)
  for (;;) {
    const answer = (await context.decide?.({ ...question, choices })) ?? 'later'
    if (answer !== 'show') return applyAnswer(context, content, answer)
    io.out(`${revealed(await openText(context.place, content))}\n`)
  }
}

async function applyAnswer(
  context: CommandContext,
  content: FolderContent,
  answer: TrustAnswer,
): Promise<Exit> {
  const kept = await decide(context.place, content, answer)
  if (!kept.ok)
    throw new RefusedError(refuse(exits.failed, `the answer could not be saved: ${kept.failure.message}`))
  const open = content.files.filter(({ state }) => state !== 'approved').length
  if (answer === 'yes') {
    await context.reload()
    context.place.io.out(`trusted: ${files(content.files.length)} of this folder now in effect\n`)
  } else context.place.io.out(`${files(open)} of this folder not in effect; /trust asks again\n`)
  return exits.done
}

const files = (count: number): string => (count === 1 ? '1 file' : `${count} files`)

export async function trustCommand(context: CommandContext, word: string): Promise<Exit> {
  const { place } = context
  const { io, project } = place
  if (word === 'remove') {
    const removed = await forgetTrust(place.trustPlace)
    if (!removed.ok) throw new RefusedError(refuse(exits.failed, removed.failure.message))
    await context.reload()
    context.place.io.out(`${safeLine(project.root)} is no longer trusted\n`)
    return exits.done
  }
  if (word !== '' && word !== 'list' && word !== 'diff')
    return fail(io, exits.usage, 'usage: /trust [list|diff|remove]')
  const content = await folderContent(place, true)
  const isOpen = content.files.some(({ state }) => state !== 'approved')
  if (word === 'diff') {
    io.out(isOpen ? `${revealed(await openText(place, content))}\n` : 'Everything is approved.\n')
    return exits.done
  }
  if (word === '' && isOpen && context.decide !== undefined) return askTrust(context, content)
  const standing = place.trusted ? 'is trusted' : 'is not trusted'
  const lines = describe(content.files, project.root).map((line) => `  ${revealed(line)}\n`)
  io.out(
    lines.length === 0
      ? `${safeLine(project.root)} ${standing}; it contains nothing that needs approval\n`
      : `${safeLine(project.root)} ${standing}\n${lines.join('')}`,
  )
  if (word === '' && isOpen) io.err('pal: there is no terminal to ask here; run pal trust\n')
  return exits.done
}
