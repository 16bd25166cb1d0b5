// Where the page's data comes from: the server by fetch with the token in a header, or an exported file. Asking never
// throws: what went wrong is an answer in words.
import type { EffectConflict, LiveEvent } from '../../protocol.ts'

export type Answer<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false
      readonly status: number
      readonly problem: string
      /** Of a change to a session that has moved on. */
      readonly conflict?: EffectConflict
    }

/** The sessions as the page asks for them. Paths are those of the protocol, without `/api`. */
export interface Source {
  /** An exported file: nothing grows and nothing can be changed. */
  readonly isStatic: boolean
  json<T>(path: string): Promise<Answer<T>>
  bytes(path: string): Promise<Answer<Uint8Array>>
  text(path: string): Promise<Answer<string>>
  ask<T>(path: string, wish: unknown): Promise<Answer<T>>
  /** Follows a session, or the list of them; ends with the returned function. `onState`: whether it is connected. */
  follow(
    session: string | null,
    onEvent: (event: LiveEvent) => void,
    onState: (on: boolean) => void,
  ): () => void
}

const unreachable =
  'The server does not answer. Is `pal inspect` still running? Start it again and open the address it prints.'
const refused = 'The server does not accept this page’s token. Open the address that `pal inspect` printed.'

/** How long until a lost connection is tried again, growing up to the last. */
const retryMs = [250, 500, 1000, 2000, 5000] as const

export function remoteSource(token: string): Source {
  const headers = { Authorization: `Bearer ${token}` }
  const ask = async (path: string, init: RequestInit = {}): Promise<Answer<Response>> => {
    try {
      const response = await fetch(`/api${path}`, {
        cache: 'no-store',
        credentials: 'omit',
        redirect: 'error',
        ...init,
        headers: { ...headers, ...(init.headers as Record<string, string> | undefined) },
      })
      return response.ok ? { ok: true, value: response } : await refusalIn(response)
    } catch {
      return { ok: false, status: 0, problem: unreachable }
    }
  }
  const read = async <T>(
    asked: Answer<Response>,
    reading: (response: Response) => Promise<T>,
  ): Promise<Answer<T>> => {
    if (!asked.ok) return asked
    try {
      return { ok: true, value: await reading(asked.value) }
    } catch {
      return { ok: false, status: 0, problem: 'The answer broke off. Try again.' }
    }
  }
  const post = (path: string, wish: unknown): Promise<Answer<Response>> =>
    ask(path, {
      method: 'POST',
      body: JSON.stringify(wish),
      headers: { 'Content-Type': 'application/json' },
    })
  return {
    isStatic: false,
    json: async (path) => read(await ask(path), (response) => response.json()),
    text: async (path) => read(await ask(path), (response) => response.text()),
    bytes: async (path) =>
      read(await ask(path), async (response) => new Uint8Array(await response.arrayBuffer())),
    ask: async (path, wish) => read(await post(path, wish), (response) => response.json()),
    follow: (session, onEvent, onState) => follow(ask, session, onEvent, onState),
  }
}

async function refusalIn(response: Response): Promise<Answer<never>> {
  const { status } = response
  const said = (await response.json().catch(() => null)) as EffectConflict | null
  const plain =
    typeof said?.problem === 'string' ? said.problem : `The server answered with status ${status}.`
  const problem = status === 401 ? refused : plain
  return { ok: false, status, problem, ...(status === 409 && said !== null ? { conflict: said } : {}) }
}

/** Reads events until it is told to stop; a connection that ends is opened again. */
function follow(
  ask: (path: string, init?: RequestInit) => Promise<Answer<Response>>,
  session: string | null,
  onEvent: (event: LiveEvent) => void,
  onState: (on: boolean) => void,
): () => void {
  const stop = new AbortController()
  const path = session === null ? '/live' : `/live?session=${encodeURIComponent(session)}`
  const run = async (): Promise<void> => {
    for (let tries = 0; !stop.signal.aborted; tries++) {
      const asked = await ask(path, { signal: stop.signal })
      if (asked.ok && asked.value.body !== null) {
        onState(true)
        tries = 0
        await readEvents(asked.value.body, onEvent)
        onState(false)
      } else if (!asked.ok && asked.status === 401) return
      if (stop.signal.aborted) return
      await new Promise((done) => setTimeout(done, retryMs[Math.min(tries, retryMs.length - 1)]))
    }
  }
  void run()
  return () => stop.abort()
}

async function readEvents(
  body: ReadableStream<Uint8Array>,
  onEvent: (event: LiveEvent) => void,
): Promise<void> {
  const reader = body
    .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
    .getReader()
  let rest = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      const blocks = (rest + value).split('\n\n')
      rest = blocks.pop() ?? ''
      for (const block of blocks) {
        const event = eventIn(block)
        if (event !== null) onEvent(event)
      }
    }
  } catch {
    // The connection is gone; whoever follows opens it again.
  }
}

/** One event of a stream: its type and its data as one object. */
function eventIn(block: string): LiveEvent | null {
  const lines = block.split('\n')
  const valueOf = (name: string): string =>
    lines
      .filter((line) => line.startsWith(`${name}:`))
      .map((line) => line.slice(name.length + 1).replace(/^ /, ''))
      .join('\n')
  const type = valueOf('event')
  if (type === '') return null
  try {
    const data = valueOf('data')
    return { ...(data === '' ? {} : (JSON.parse(data) as object)), type } as LiveEvent
  } catch {
    return null
  }
}
