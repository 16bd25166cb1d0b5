// `/status`, `/export` and `/init`: what is in use, the conversation as a file, and instructions for the project.
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { machineFileSystem } from '../../disk/fs.ts'
import { forOthers } from '../../disk/redact.ts'
import { windowOf } from '../../model/models.ts'
import { textIn } from '../../transcript/content.ts'
import { isKnown, isRealInput } from '../../transcript/fact.ts'
import { lineageOf, readLine } from '../../transcript/lineage.ts'
import { exits, fail, type Exit } from '../exit-codes.ts'
import { shortId } from '../session-lookup.ts'
import { describeCall } from '../terminal/event-text.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { shortPath, dollars, prose, table, whole, wraps } from '../terminal/tables.ts'
import { readText } from '../workplace/files.ts'
import { modelInUse, withSession, type CommandContext } from './context.ts'

export function statusCommand(context: CommandContext): Promise<Exit> {
  const { place, preset, loaded } = context
  const session = context.begun()
  const model = modelInUse(context)
  const window = windowOf({ model, table: preset.models, override: place.settings.window }).tokens
  const tokens = session?.view().tokens ?? 0
  const spent = session?.spent()
  const rows = [
    ['project', shortPath(place.project.root, place.io.userHome)],
    ['session', session === null ? 'not started' : session.id],
    ['model', model],
    ['access', place.access === null ? 'offline, scripted model' : place.accessFrom],
    ['permission mode', preset.permission.mode()],
    ['context', `${whole(tokens)} of ${whole(window)} tokens`],
    ['cost', spent === undefined || place.access === null ? '–' : dollars(spent.dollars + spent.forkDollars)],
    ['MCP servers', loaded.servers.map(({ name, state }) => `${name} (${state})`).join(', ') || 'none'],
    ['settings', [...new Set(place.loaded.from.values())].join(', ') || 'defaults'],
  ]
  place.io.out(table(['status', wraps('')], rows, place.io.columns))
  return Promise.resolve(exits.done)
}

/** The whole conversation as markdown, also what was removed from context; secrets are taken out. */
export const exportCommand = (context: CommandContext, rest: string): Promise<Exit> =>
  withSession(context, async ({ id }) => {
    const { place, preset } = context
    const file = resolve(place.project.cwd, rest === '' ? `pal-${shortId(id)}.md` : rest)
    const line = await lineageOf(preset.store, id)
    if (!line.ok) return fail(place.io, exits.failed, line.failure.message)
    const parts = [`# Session ${id}\n`]
    for await (const item of readLine(preset.store, line.links, {})) {
      if (item.kind === 'failed') return fail(place.io, exits.failed, item.failure.message)
      if (item.kind !== 'entry' || !isKnown(item.entry)) continue
      const { fact } = item.entry
      if (isRealInput(fact)) parts.push(`## You\n\n${textIn(fact.content, '\n')}\n`)
      if (fact.type !== 'assistant-message') continue
      for (const block of fact.content) {
        if (block.type === 'text' && 'text' in block) parts.push(`## ${fact.model}\n\n${block.text}\n`)
        if (block.type === 'tool_use' && 'input' in block)
          parts.push(`\`${describeCall(block.name, block.input).replaceAll('`', "'")}\`\n`)
      }
    }
    try {
      // Nothing is overwritten: whoever wants that deletes the file first.
      await writeFile(file, forOthers(parts.join('\n')), { flag: 'wx', mode: 0o600 })
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      const why = code === 'EEXIST' ? 'the file exists already; give another name: /export FILE' : message
      return fail(place.io, exits.failed, `${file} was not written: ${why}`)
    }
    place.io.out(`Exported to ${safeLine(file)}\n`)
    return exits.done
  })

const instructions = 'AGENTS.md'

/** Lets the model write AGENTS.md; asked first, and the Write is asked about like every other. */
export async function initCommand(context: CommandContext): Promise<Exit> {
  const { io, project } = context.place
  const read = await readText(machineFileSystem, join(project.root, instructions), Number.MAX_SAFE_INTEGER)
  const exists = read.ok && read.text !== null
  const answer = await context.decide?.({
    title: exists ? `Improve ${instructions}?` : `Create ${instructions}?`,
    subject: `The model reads the project and ${exists ? 'improves' : 'writes'} ${join(project.root, instructions)}: how to build and test, how the code is organised, what to watch out for. This takes one turn.`,
    choices: [
      { value: true, label: 'Yes', key: 'y' },
      { value: false, label: 'No', key: 'n' },
    ],
  })
  if (answer === undefined)
    io.err(prose('pal: /init asks first and needs a terminal; nothing was written\n', io.columns))
  if (answer !== true) return answer === undefined ? exits.usage : exits.done
  return context.turn(initPrompt(exists))
}

const initPrompt = (exists: boolean): string =>
  [
    exists
      ? `Read ${instructions} at the root of this project, check it against the project, and improve it.`
      : `Write ${instructions} at the root of this project: what somebody who works on the code for the first time has to know.`,
    'Look at the manifest, the build and test scripts, the folders and a few typical files first. State only what you have seen there.',
    'Cover: the commands to build, to run all tests and to run one; how the code is organised; conventions that differ from what is usual; pitfalls. Leave out what every programmer knows. At most 60 lines.',
  ].join('\n')
