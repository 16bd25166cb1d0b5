// Messages of a framework, judged in the words of a wire and handed back as the framework's own. Each message is written as one
// or more elements that say where they came from; what `fit` leaves alone is the framework's object again, and only what it
// changed is made anew.
import type { WireName } from '../../model/model.ts'
import type { FitOptions, FitOutcome, FitReport, SummarisingOptions } from '../contract.ts'
import { fit } from '../fit.ts'
import { isRecord } from '../../transcript/json.ts'
import { plainDigest } from '../../wires/plain-digest.ts'
import { spelledId } from '../../wires/repairing.ts'

export type Element = Readonly<Record<string, unknown>>

/** The parts of a content, of which a text is one; only what has fields is looked at. */
export const partsOf = (content: unknown): readonly Element[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : Array.isArray(content)
      ? content.filter(isRecord)
      : []
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/** How one framework has its messages. */
export interface Dialect<Message> {
  readonly wire: WireName
  /** In the words of the wire; never empty. Ids of calls are named by `nameOf`. */
  write(message: Message, nameOf?: CallName): readonly Element[]
  /** The message with some of its elements as they are now; those that are gone are null. */
  rewrite(message: Message, elements: readonly (Element | null)[]): Message
  /** A message that stands for no other: a summary of ours, a result that was missing; `idOf` says whose name it has. */
  create(element: Element, idOf: (name: unknown) => string): Message
}

export type CallName = (id: unknown) => string

/** The shortest that any of the wires takes. */
const mostIdChars = 40
/** An id of a call as it is judged: how long it may be is a matter of the framework's own provider, so no long one is a fault. */
export const callName: CallName = (id) => {
  const text = textOf(id)
  return text.length <= mostIdChars ? text : spelledId(text, mostIdChars, plainDigest)
}
/** A call that is sent on: one without an id is told from others by its framework. */
export const isKeptCall = (id: unknown, kept: ReadonlySet<unknown>): boolean =>
  textOf(id) === '' || kept.has(callName(id))

/** Where an element came from: unknown members go through everything unchanged. */
const place = 'x_from'

interface Placed {
  readonly message: number
  readonly part: number
}
const placeOf = (element: unknown): Placed | null => {
  const found = (element as Element)[place]
  if (typeof found !== 'string') return null
  const [message, part] = found.split('.').map(Number)
  return message === undefined || part === undefined ? null : { message, part }
}

export async function fitIn<Message>(
  dialect: Dialect<Message>,
  messages: readonly Message[],
  { pins, summarise, ...options }: Omit<FitOptions<Message>, 'wire'> & Partial<SummarisingOptions<Message>>,
): Promise<FitOutcome<Message>> {
  const ids = new Map<string, string>()
  const nameOf: CallName = (id) => {
    const name = callName(id)
    ids.set(name, textOf(id))
    return name
  }
  const idOf = (name: unknown): string => ids.get(textOf(name)) ?? textOf(name)
  const written = messages.map((message, at) =>
    dialect.write(message, nameOf).map((element, part) => ({ ...element, [place]: `${at}.${part}` })),
  )
  const given = new Set<unknown>(written.flat())
  const ownOf = (element: unknown): number | undefined => placeOf(element)?.message
  const made = await fit(written.flat(), {
    ...options,
    wire: dialect.wire,
    pins: pins && ((element) => isAsked(ownOf(element), (at) => pins(messages[at]!, at))),
    ...(summarise === undefined
      ? {}
      : {
          summarise: (ask) =>
            summarise({
              ...ask,
              messages: [...new Set(ask.messages.flatMap((each) => ownOf(each) ?? []))].map(
                (at) => messages[at]!,
              ),
            }),
        }),
  })
  if (!made.ok) return made
  const out: Message[] = []
  for (let at = 0; at < made.messages.length;) {
    const from = placeOf(made.messages[at])
    if (from === null) {
      out.push(dialect.create(made.messages[at]!, idOf))
      at++
      continue
    }
    // All that is left of one message, next to each other.
    const elements: (Element | null)[] = written[from.message]!.map(() => null)
    for (
      let next = placeOf(made.messages[at]);
      next?.message === from.message;
      next = placeOf(made.messages[at])
    ) {
      elements[next.part] = made.messages[at]!
      at++
      if (at >= made.messages.length) break
    }
    const message = messages[from.message]!
    const isSame = elements.every((element) => element !== null && given.has(element))
    out.push(isSame ? message : dialect.rewrite(message, elements))
  }
  return { ...made, messages: out, report: { ...made.report, edits: placedEdits(made.report, written) } }
}

const isAsked = (at: number | undefined, ask: (at: number) => boolean): boolean => at !== undefined && ask(at)

/** Places in the report are those of the framework's list. */
function placedEdits({ edits }: FitReport, written: readonly (readonly unknown[])[]): FitReport['edits'] {
  const owners = written.flatMap((elements, at) => elements.map(() => at))
  return edits.map((edit) => ({ ...edit, message: owners[edit.message] ?? edit.message }))
}
