// Messages between sessions of a fleet, over the database: a message waits in the inbox of its receiver, wakes it where nobody works on
// it, and leaves with the entry that shows it. So it is in one of the two places whatever dies, on whichever machine.
import { refused, type Failure, type Result } from '../disk/failure.ts'
import type { Box, Taken } from '../forks/mailbox/box.ts'
import type { Directory } from '../forks/mailbox/directory.ts'
import { decodeMessage, encodeMessage, type Message } from '../forks/mailbox/message.ts'
import type { Queue } from '../postgres/queue.ts'
import { defaults } from '../settings/defaults.ts'

/** Where messages for the sessions of a tenant wait. */
export function fleetMail(queue: Queue): Directory {
  return {
    async open({ name, session }) {
      const put = await queue.putCard(session, name)
      return put.ok ? { ok: true, box: boxOf(queue, session) } : put
    },
    leave: async (session) => void (await queue.putCard(session, null)),
    // What waits goes with the session itself.
    remove: (session) => queue.putCard(session, null),
    async living() {
      const found = await queue.cards()
      return found.ok ? { cards: found.cards, failures: [] } : { cards: [], failures: [found.failure] }
    },
    async boxOf(session) {
      const found = await queue.hasBox(session)
      if (!found.ok) return found
      return found.isFound
        ? { ok: true, box: boxOf(queue, session) }
        : refused('not-found', `there is no session ${session} that reads messages`)
    },
  }
}

const { mailbox } = defaults

function boxOf(queue: Queue, session: string): Box {
  const waiting = async (): Promise<Result<{ readonly count: number }>> => {
    const found = await queue.inbox(session, 'mail', mailbox.waiting)
    return found.ok ? { ok: true, count: found.rows.length } : found
  }
  return {
    async post(message) {
      const bytes = encodeMessage(message)
      if (bytes.byteLength > mailbox.messageBytes)
        return refused(
          'too-large',
          `the message has ${bytes.byteLength} bytes; at most ${mailbox.messageBytes} are taken`,
        )
      const now = await waiting()
      if (!now.ok) return now
      if (now.count >= mailbox.waiting)
        return refused('box-full', `${now.count} messages wait there already; try again when some were read`)
      const body = new TextDecoder().decode(bytes)
      const sent = await queue.send({ session, id: message.id, kind: 'mail', body })
      return sent.ok ? { ok: true } : sent
    },
    take: () => take(queue, session),
    // What was shown left the inbox with its entry; this is for what was known already.
    acted: (names) => queue.dropMail(session, names),
    waiting,
  }
}

async function take(queue: Queue, session: string): Promise<Taken> {
  const found = await queue.inbox(session, 'mail', mailbox.batch)
  if (!found.ok) return { messages: [], failures: [found.failure] }
  const messages: { readonly name: string; readonly message: Message }[] = []
  const failures: Failure[] = []
  for (const { id, body } of found.rows) {
    const message = decodeMessage(new TextEncoder().encode(body))
    if (message !== null) {
      messages.push({ name: id, message })
      continue
    }
    const dropped = await queue.dropMail(session, [id])
    failures.push(
      dropped.ok
        ? { code: 'poison', message: `message ${id} cannot be read and was set aside` }
        : dropped.failure,
    )
  }
  return { messages, failures }
}
