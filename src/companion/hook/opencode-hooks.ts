// What the plugin of opencode does. It runs inside that program: nothing here throws, waits or asks for anything. The block
// goes before the first user text behind the summary; it is computed once for a boundary and kept, so that the bytes of a
// request never move.
import { safeName } from '../../disk/safe-name.ts'
import { blockOf } from '../block.ts'
import { blockInput } from './compacting.ts'
import { isOff, readOptions } from './options.ts'
import { typedWords } from './prompting.ts'
import { noteFacts, notedScan } from './scan.ts'
import { programOf } from '../clean.ts'
import { isRecord, fieldsOf, listOf, numberOf, textOf, type Fields } from '../../transcript/json.ts'
import {
  appendTyped,
  openState,
  readRecord,
  readTyped,
  sweepStates,
  writeRecord,
  type SessionState,
} from './state.ts'

export interface OpencodePlace {
  readonly root: string
  readonly cwd: string
  readonly now: () => number
}

type OpencodeHook = (input: unknown, output: unknown) => Promise<void>
export type OpencodeHooks = Readonly<Record<string, OpencodeHook>>

/** A message as the program hands it to plugins before each request. */
interface Shown {
  readonly info: Fields
  readonly parts: unknown[]
}

const mostChars = 9500
const mostIdChars = 200
const mostKept = 200

/** What one process of opencode remembers. */
interface Memory {
  /** Sessions of subagents: they get nothing, and their prompts are a model's. */
  readonly children: Set<string>
  readonly commands: Map<
    string,
    { readonly program: string; readonly path: string | null; readonly isEdit: boolean }
  >
}

export function opencodeHooks(place: OpencodePlace): OpencodeHooks {
  const memory: Memory = { children: new Set(), commands: new Map() }
  const stateOf = (session: unknown): SessionState | null => {
    const id = textOf(session, mostIdChars)
    return id === null || id === '' || memory.children.has(id) ? null : openState(place.root, 'opencode', id)
  }
  const hook =
    (event: string, work: (input: Fields, output: Fields) => void): OpencodeHook =>
    (input, output) => {
      try {
        const options = readOptions(place.root)
        if (options !== null && !isOff(options, 'opencode', event)) work(fieldsOf(input), fieldsOf(output))
      } catch {
        // Another program runs this: on any doubt nothing happens.
      }
      return Promise.resolve()
    }
  return {
    event: hook('event', (input) => noteChild(memory, fieldsOf(input['event']))),
    'chat.message': hook('chat.message', (input, output) => {
      const state = stateOf(input['sessionID'])
      if (state === null) return
      sweepStates(place.root, place.now(), () => false)
      const text = typedWords(typedIn(output))
      if (text !== null) appendTyped(state, text, place.now())
    }),
    'tool.execute.before': hook('tool.execute.before', (input, output) => {
      const call = textOf(input['callID'], mostIdChars)
      if (call === null || memory.commands.size > mostKept) memory.commands.clear()
      if (call !== null)
        memory.commands.set(call, deedOf(textOf(input['tool']) ?? '', fieldsOf(output['args'])))
    }),
    'tool.execute.after': hook('tool.execute.after', (input, output) => {
      const state = stateOf(input['sessionID'])
      const call = textOf(input['callID'], mostIdChars) ?? ''
      const deed = memory.commands.get(call)
      memory.commands.delete(call)
      if (state === null || deed === undefined) return
      const exitCode = numberOf(fieldsOf(output['metadata'])['exit'])
      if (deed.path !== null) noteFacts(state, { files: [{ path: deed.path, isEdit: deed.isEdit }] })
      else if (deed.program !== '' && exitCode !== null && exitCode !== 0)
        noteFacts(state, {
          commands: [{ id: call, program: deed.program }],
          results: [{ id: call, exitCode, isError: true }],
        })
    }),
    'experimental.chat.messages.transform': hook('experimental.chat.messages.transform', (_, output) => {
      placeBlock(place, stateOf, output)
    }),
  }
}

function noteChild({ children }: Memory, event: Fields): void {
  const info = fieldsOf(fieldsOf(event['properties'])['info'])
  const [id, parent] = [textOf(info['id'], mostIdChars), textOf(info['parentID'], mostIdChars)]
  if (
    id !== null &&
    parent !== null &&
    parent !== '' &&
    textOf(event['type'])?.startsWith('session.') === true
  )
    children.add(id)
}

/** Texts of the message that a person typed: what the program adds itself is marked. */
const typedIn = (output: Fields): string =>
  listOf(output['parts'])
    .map(fieldsOf)
    .filter((part) => part['type'] === 'text' && part['synthetic'] !== true)
    .flatMap((part) => textOf(part['text']) ?? [])
    .join('\n')

const editors = new Set(['edit', 'write', 'multiedit'])

function deedOf(tool: string, args: Fields): { program: string; path: string | null; isEdit: boolean } {
  const path = tool === 'read' || editors.has(tool) ? textOf(args['filePath']) : null
  const command = tool === 'bash' ? textOf(args['command']) : null
  return { program: command === null ? '' : programOf(command), path, isEdit: editors.has(tool) }
}

function placeBlock(
  place: OpencodePlace,
  stateOf: (session: unknown) => SessionState | null,
  output: Fields,
): void {
  const messages = listOf(output['messages']).filter(isShown)
  const at = messages.findLastIndex(({ info }) => info['role'] === 'assistant' && info['summary'] === true)
  const summary = messages[at]?.info
  const state = summary === undefined ? null : stateOf(summary['sessionID'])
  const boundary = textOf(summary?.['id'], mostIdChars)
  const after = messages
    .slice(at + 1)
    .find(({ info, parts }) => info['role'] === 'user' && parts.some(isText))
  if (summary === undefined || state === null || boundary === null || after === undefined) return
  const block = blockAt(place, state, boundary, summary)
  if (block === null || after.parts.some((part) => fieldsOf(part)['id'] === block.id)) return
  const { sessionID, id: messageID } = after.info
  after.parts.splice(after.parts.findIndex(isText), 0, {
    id: block.id,
    sessionID,
    messageID,
    type: 'text',
    text: block.text,
    synthetic: true,
  })
}

const isShown = (value: unknown): value is Shown =>
  isRecord(value) && isRecord(value['info']) && Array.isArray(value['parts'])
const isText = (part: unknown): boolean => fieldsOf(part)['type'] === 'text'

/** The block of a boundary: as it was kept, or made from what was typed before the summary and kept now. */
function blockAt(
  place: OpencodePlace,
  state: SessionState,
  boundary: string,
  summary: Fields,
): { readonly id: string; readonly text: string } | null {
  const name = `boundary-${safeName(boundary)}.json`
  const kept = readRecord(state, name)
  const [id, text] = [textOf(kept?.['id']), textOf(kept?.['text'])]
  if (id !== null && text !== null) return text === '' ? null : { id, text }
  const until = numberOf(fieldsOf(summary['time'])['created']) ?? place.now()
  const typed = readTyped(state).filter(({ at }) => at !== null && at <= until)
  const input = {
    event: 'transform',
    session: textOf(summary['sessionID']) ?? '',
    transcript: null,
    cwd: place.cwd,
    fields: {},
  }
  const block = blockOf(blockInput({ client: 'opencode', input }, notedScan(state), boundary, typed))
  const made = { id: `prt_pal${block.id}`, text: block.text.length > mostChars ? '' : block.text }
  // What cannot be kept would be another text in the next request.
  return writeRecord(state, name, made) && made.text !== '' ? made : null
}
