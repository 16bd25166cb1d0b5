// Where a message goes. A name is looked for in this process first, then among the living boxes of other processes; a
// word with a scheme is an address, handed to whoever carries that scheme: `session:<id>` is a box on this machine, and
// a shared store can carry another one between hosts. `*` goes to everybody. An unknown name is refused with the names
// there are, and nothing is said to be sent that is not.
import type { Failure } from '../../disk/fs.ts'
import type { Directory } from './directory.ts'
import type { Message } from './message.ts'

/** Carries messages to addresses of one scheme. Never throws. */
interface Carrier {
  readonly scheme: string
  send(address: string, message: Message): Promise<Sent>
}
export type Sent = { readonly ok: true } | { readonly ok: false; readonly why: string }

/** Those of this process: a message reaches the model at its next round. */
export interface Nearby {
  names(except: string): readonly { readonly name: string; readonly session: string }[]
  /** Null: it is none of them. */
  hand(session: string, message: Message): Promise<Sent> | null
}

export interface MessageSender {
  send(message: Message): Promise<Posted>
}
export type Posted =
  | { readonly ok: true; readonly to: readonly string[]; readonly failures: readonly string[] }
  | { readonly ok: false; readonly why: string }

export function createMessageSender(options: {
  readonly nearby: Nearby
  /** Null where nothing is kept on disk. */
  readonly directory: Directory | null
  readonly carriers?: readonly Carrier[] | undefined
}): MessageSender {
  const { nearby, directory } = options
  const carriers = [...(directory === null ? [] : [boxes(directory)]), ...(options.carriers ?? [])]
  const others = async (
    self: string,
  ): Promise<{ cards: readonly Reached[]; failures: readonly Failure[] }> => {
    const near = nearby.names(self)
    const { cards, failures } = (await directory?.living()) ?? { cards: [], failures: [] }
    const known = new Set([self, ...near.map(({ session }) => session)])
    const far = cards.filter(({ session }) => !known.has(session))
    return {
      cards: [
        ...near.map((card) => ({ ...card, far: false })),
        ...far.map((card) => ({ ...card, far: true })),
      ],
      failures,
    }
  }
  const reach = async (card: Reached, message: Message): Promise<Sent> => {
    if (!card.far)
      return nearby.hand(card.session, message) ?? { ok: false, why: `${card.name} has just ended` }
    return directory === null
      ? { ok: false, why: 'there are no mailboxes here' }
      : toBox(directory, card.session, message)
  }
  return {
    async send(message) {
      const { to, from } = message
      const [, scheme, address = ''] = /^([a-z][a-z0-9+.-]*):(.+)$/i.exec(to) ?? []
      if (scheme !== undefined) {
        const carrier = carriers.find((each) => each.scheme === scheme.toLowerCase())
        if (carrier === undefined)
          return no(
            `nobody carries ${scheme}: here. Known: ${carriers.map((each) => `${each.scheme}:`).join(', ') || 'none'}`,
          )
        const near = scheme.toLowerCase() === 'session' ? nearby.hand(address, message) : null
        const sent = await (near ?? carrier.send(address, message))
        return sent.ok ? { ok: true, to: [to], failures: [] } : no(sent.why)
      }
      const { cards, failures } = await others(from.session)
      const wanted = to === '*' ? cards : cards.filter(({ name }) => name === to).slice(0, 1)
      const unread = failures.map((failure) => failure.message)
      if (wanted.length === 0) return no([noSuch(to, cards), ...unread].join(' '))
      const reached: string[] = []
      const failed: string[] = [...unread]
      for (const card of wanted) {
        const sent = await reach(card, message)
        if (sent.ok) reached.push(card.name)
        else failed.push(`${card.name}: ${sent.why}`)
      }
      return reached.length === 0 ? no(failed.join('; ')) : { ok: true, to: reached, failures: failed }
    },
  }
}

interface Reached {
  readonly name: string
  readonly session: string
  readonly far: boolean
}

const boxes = (directory: Directory): Carrier => ({
  scheme: 'session',
  send: (address, message) => toBox(directory, address, message),
})

async function toBox(directory: Directory, session: string, message: Message): Promise<Sent> {
  const found = await directory.boxOf(session)
  if (!found.ok) {
    const why =
      found.failure.code === 'not-found' ? `there is no mailbox of session ${session}` : found.failure.message
    return { ok: false, why }
  }
  const posted = await found.box.post(message)
  return posted.ok ? posted : { ok: false, why: posted.failure.message }
}

const no = (why: string) => ({ ok: false, why }) as const

function noSuch(to: string, cards: readonly Reached[]): string {
  if (cards.length === 0) return 'there is nobody to write to.'
  const names = cards.map(({ name }) => name).join(', ')
  return `there is no agent named ${JSON.stringify(to)}. There are: ${names}.`
}
