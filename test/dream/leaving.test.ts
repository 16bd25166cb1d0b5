// A session is left for another one while what was said in it is still looked through.
import { homedir } from 'node:os'
import { describe, expect, it } from 'vitest'
import { Conversation } from '../../src/cli/conversation/conversation.ts'
import type { Io } from '../../src/cli/terminal/io.ts'
import { processIo } from '../../src/cli/terminal/io.ts'
import type { AnswerContext } from '../../src/simulator/index.ts'
import type { SessionId } from '../../src/transcript/ids.ts'
import { factsOf, later, ofType } from '../e2e/simulated.ts'
import { waiting } from './answers.ts'
import { openWorkspace, quiet, type Workspace } from './workspace.ts'
import { until } from '../until.ts'

const options = { isVerbose: false, continue: false, forkSession: false, settings: {} }

interface Held {
  readonly at: Workspace
  readonly talk: Conversation
  readonly said: string[]
  release(): void
}

/** A talk whose first extraction waits until it is released. */
async function held(): Promise<Held> {
  let release = (): void => undefined
  const gate = new Promise<void>((resolve) => (release = resolve))
  const isFirst = ({ request }: AnswerContext): boolean =>
    JSON.stringify(request.messages).includes('blue server')
  const at = await openWorkspace(waiting('extract', async (asked) => (isFirst(asked) ? gate : undefined)))
  const said: string[] = []
  const io: Io = {
    ...processIo({ cwd: process.cwd(), userHome: homedir() }),
    err: (text) => void said.push(text),
  }
  const talk = new Conversation(at.preset, options, io)
  later(async () => {
    release()
    await talk.close()
  })
  return { at, talk, said, release: () => release() }
}

const extracted = async ({ at }: Held, session: SessionId) =>
  ofType(await factsOf(at.preset.store, session), 'memories-extracted')

describe('leaving a session for another', () => {
  it('[DR26] waits for no extraction, which goes on beside the new talk and loses nothing', async () => {
    const here = await held()
    const { at, talk } = here
    await talk.turn('Remember that we use the blue server.', () => undefined)
    const first = talk.begun()!.id
    await talk.change(null)
    expect(talk.begun()!.id).not.toBe(first)
    await talk.turn('Hello.', () => undefined)
    expect(at.notices()).not.toContain('memory-wait')
    expect(await extracted(here, first)).toEqual([])
    here.release()
    await quiet(at)
    expect(Object.values(await at.files()).join('\n')).toContain('blue server')
    await talk.close()
    expect(await extracted(here, first)).toMatchObject([{ files: [expect.stringMatching(/\.md$/u)] }])
    expect(here.said).toEqual([])
  })

  it('[DR26] the end of the program waits for it, and says so', async () => {
    const here = await held()
    const { at, talk } = here
    await talk.turn('Remember that we use the blue server.', () => undefined)
    const first = talk.begun()!.id
    await talk.change(null)
    const closed = talk.close()
    await until(() => at.notices().includes('memory-wait'), 'the wait to be said')
    here.release()
    await closed
    expect(await extracted(here, first)).toHaveLength(1)
    expect(Object.values(await at.files()).join('\n')).toContain('blue server')
  })

  it('[DR26] who goes back at once waits until the session is free, and goes on with it', async () => {
    const here = await held()
    const { talk } = here
    await talk.turn('Remember that we use the blue server.', () => undefined)
    const first = talk.begun()!.id
    await talk.change(null)
    const back = talk.change(first)
    here.release()
    await back
    expect(talk.begun()!.id).toBe(first)
    expect(await extracted(here, first)).toHaveLength(1)
    await talk.turn('And now?', () => undefined)
  })
})
