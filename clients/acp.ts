// A client that stays open and is spoken to over its pipes, as editors do it (Agent Client Protocol): for one that cannot go
// on with an earlier conversation in a new process, or whose start costs more than its work.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { isRecord } from '../src/transcript/content.ts'

/** What it said to a prompt, and what went wrong. */
export interface Said {
  readonly text: string
  readonly error: string | null
}

export interface OpenClient {
  /** Answers once it is done with the prompt. */
  ask(prompt: string): Promise<Said>
  /** Ends when its process has. */
  end(): Promise<void>
}

interface Started {
  readonly program: string
  readonly args: readonly string[]
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
}

type Fields = Readonly<Record<string, unknown>>

export function openClient({ program, args, folder, env }: Started): OpenClient {
  // A group of its own: such a program may start itself again as a child.
  const child = spawn(program, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true })
  const waiting = new Map<number, (answer: Fields) => void>()
  let [said, complained, last] = ['', '', 0]
  const write = (message: object): void =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const call = (method: string, params: object): Promise<Fields> =>
    new Promise((resolve) => {
      const id = ++last
      waiting.set(id, resolve)
      write({ id, method, params })
    })
  // Nobody answers any more: what was asked is over, with what it complained about.
  const over = (): void => {
    for (const done of waiting.values()) done({ error: complained })
    waiting.clear()
  }
  child.once('error', (error) => {
    complained += error.message
    over()
  })
  child.once('close', over)
  child.stderr.on('data', (bytes: Buffer) => (complained += bytes.toString()))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = fieldsIn(line)
    const { id, method, params } = message
    if (typeof id === 'number' && typeof method !== 'string') {
      waiting.get(id)?.(message)
      waiting.delete(id)
    }
    if (method === 'session/update') said += chunkIn(params)
    if (method === 'session/request_permission') write({ id, result: allowed(params) })
  })
  const opened = call('initialize', { protocolVersion: 1, clientCapabilities: {} })
    .then(() => call('session/new', { cwd: folder, mcpServers: [] }))
    .then(({ result, error }) => ({ session: isRecord(result) ? result['sessionId'] : null, error }))
  return {
    async ask(prompt) {
      const { session, error } = await opened
      if (typeof session !== 'string') return { text: '', error: `no session: ${JSON.stringify(error)}` }
      said = ''
      const answer = await call('session/prompt', {
        sessionId: session,
        prompt: [{ type: 'text', text: prompt }],
      })
      return { text: said, error: answer['error'] === undefined ? null : JSON.stringify(answer['error']) }
    },
    async end() {
      if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
      const closed = once(child, 'close')
      process.kill(-child.pid)
      await closed
    },
  }
}

function fieldsIn(line: string): Fields {
  try {
    const value: unknown = JSON.parse(line)
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

function chunkIn(params: unknown): string {
  const update = isRecord(params) ? params['update'] : null
  if (!isRecord(update) || update['sessionUpdate'] !== 'agent_message_chunk') return ''
  const { content } = update
  return isRecord(content) && typeof content['text'] === 'string' ? content['text'] : ''
}

/** The first of its offers that allows. */
function allowed(params: unknown): object {
  const offers: readonly unknown[] =
    isRecord(params) && Array.isArray(params['options']) ? params['options'] : []
  const offer = offers.find((each) => isRecord(each) && String(each['kind']).startsWith('allow'))
  return isRecord(offer)
    ? { outcome: { outcome: 'selected', optionId: offer['optionId'] } }
    : { outcome: { outcome: 'cancelled' } }
}
