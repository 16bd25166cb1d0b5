// Everything opened anew while a conversation goes on: settings, tools, servers and instructions as they count now. The
// session is given free and goes on in the new engine, and takes its prompt and tools from there.
import { exits, refuse, type Exit } from '../exit-codes.ts'
import type { Opened, TalkOptions } from '../headless.ts'
import { Refused, type Conversation } from './conversation.ts'

export async function reopened(
  before: Opened,
  talk: Conversation,
  open: (options: TalkOptions) => Promise<Opened | Exit>,
  options: TalkOptions,
): Promise<{ readonly opened: Opened; readonly options: TalkOptions }> {
  const session = talk.begun()
  const how: TalkOptions =
    session === null
      ? { ...options, renew: true }
      : { ...options, renew: true, continue: false, forkSession: false, resume: session.id }
  const opened = await open(how)
  if (typeof opened === 'number')
    throw new Refused(
      refuse(exits.failed, 'that counts from the next start on: see above for what went wrong'),
    )
  const mode = before.preset.permission.mode()
  // A mode that the person chose in this run stays.
  if (mode !== (before.place.settings.permissionMode ?? 'default')) opened.preset.permission.setMode(mode)
  await talk.close()
  return { opened, options: how }
}
