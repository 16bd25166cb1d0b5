// `npm start`: with a key or a server the agent itself, with neither the demo.
import { talk } from '../line-mode/conversation.ts'
import type { Exit } from '../exit-codes.ts'
import { openWorkplace } from '../workplace/workplace.ts'
import type { Io } from '../terminal/io.ts'
import { demo } from './demo.ts'

export async function start(io: Io): Promise<Exit> {
  const place = await openWorkplace(io, {})
  if (!place.ok || place.access === null) return demo(io)
  return talk(io, { isVerbose: false, continue: false, forkSession: false, settings: {} })
}
