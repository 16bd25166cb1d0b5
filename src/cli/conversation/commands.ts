// The commands of a conversation: a word after a slash. They read the session or change what it shows; nothing of them
// reaches the model. What they write goes to the `Io` of the context's place, wherever that shows it.
import type { Session } from '../../engine/session.ts'
import type { Seq } from '../../transcript/ids.ts'
import { showConfig } from '../commands/config.ts'
import { showContext } from '../commands/context.ts'
import { showCost } from '../commands/cost.ts'
import { showEdits } from '../commands/edits.ts'
import { serverTable } from '../commands/mcp.ts'
import { placeIn, releasable, releasedText, releaseOf, restore } from '../commands/undo.ts'
import { exits, fail, type Exit } from '../exit-codes.ts'
import { commandPrompt, type LoadedExtensions } from '../extensions/load.ts'
import { aboutOf } from '../../preset/pages.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { didYouMean } from '../terminal/suggest.ts'
import { prose, wordWrapped } from '../terminal/tables.ts'
import { agentsCommand, agentsUsage, tasksCommand } from './agent-commands.ts'
import { withSession, type CommandContext } from './context.ts'
import { compactCommand, pinCommand, resumeCommand, rewindCommand } from './history-commands.ts'
import { modelCommand, permissionsCommand } from './mode-commands.ts'
import { exportCommand, initCommand, statusCommand } from './session-commands.ts'
import { noteLine, shellLine } from './input-line.ts'
import { trustCommand } from './trust-commands.ts'

interface Command {
  /** How it is written, for the list. */
  readonly usage: string
  readonly about: string
  readonly group: Group
  run(context: CommandContext, rest: string): Promise<Exit>
}

const groups = ['Session', 'Context', 'Project', 'Work in the background', 'pal'] as const
type Group = (typeof groups)[number]

const done = (work: () => void): Promise<Exit> => {
  work()
  return Promise.resolve(exits.done)
}

/** A command about one edit or pin, by its number. */
const numbered =
  (usage: string, work: (context: CommandContext, session: Session, target: Seq) => Promise<void>) =>
  async (context: CommandContext, rest: string): Promise<Exit> => {
    const target = placeIn(rest.replace(/^#/, ''))
    if (target === null) return fail(context.place.io, exits.usage, `usage: ${usage}`)
    return withSession(context, async (session) => {
      await work(context, session, target)
      context.refresh?.()
      return exits.done
    })
  }

const commands: Readonly<Record<string, Command>> = {
  resume: {
    usage: '/resume [ID]',
    about: 'continue another session of this project',
    group: 'Session',
    run: resumeCommand,
  },
  clear: {
    usage: '/clear',
    about: 'start a new session; the old one stays',
    group: 'Session',
    run: async (context) => {
      await context.change(null)
      context.place.io.out('New session; /resume goes back to another\n')
      return exits.done
    },
  },
  rewind: {
    usage: '/rewind [N]',
    about: 'go back to before a message, and restore files if you want',
    group: 'Session',
    run: rewindCommand,
  },
  export: {
    usage: '/export [FILE]',
    about: 'write the conversation to a markdown file',
    group: 'Session',
    run: exportCommand,
  },
  cost: {
    usage: '/cost',
    about: 'what each turn cost, and why',
    group: 'Session',
    run: (context) =>
      withSession(context, ({ id }) => showCost(context.place, context.preset.store, id, false)),
  },
  status: {
    usage: '/status',
    about: 'session, model, mode, context and cost at a glance',
    group: 'Session',
    run: statusCommand,
  },
  context: {
    usage: '/context',
    about: 'what the last request contained',
    group: 'Context',
    run: (context) =>
      withSession(context, ({ id }) => showContext(context.place, context.preset.store, id, false)),
  },
  compact: {
    usage: '/compact [--from [N] | --up-to [N]] [TEXT]',
    about: 'replace older messages with a summary, or those from or up to message N; TEXT says what to keep',
    group: 'Context',
    run: compactCommand,
  },
  edits: {
    usage: '/edits',
    about: 'everything that was removed from context, with its number',
    group: 'Context',
    run: (context) =>
      withSession(context, ({ id }) => showEdits(context.place.io, context.preset.store, id, false)),
  },
  undo: {
    usage: '/undo N',
    about: 'restore what an edit removed',
    group: 'Context',
    run: numbered('/undo N; /edits lists the numbers', ({ place }, session, target) =>
      restore(place.io, session, target, '/'),
    ),
  },
  release: {
    usage: '/release N',
    about: 'allow what was restored or pinned to be compacted again',
    group: 'Context',
    run: numbered(`/release N; ${releasable('/')}`, async ({ place }, session, target) => {
      await releaseOf(session, target, '/')
      place.io.out(releasedText(target))
    }),
  },
  pin: {
    usage: '/pin [N]',
    about: 'keep a message verbatim through every compaction',
    group: 'Context',
    run: pinCommand,
  },
  init: {
    usage: '/init',
    about: 'let the model write AGENTS.md for this project; asks first',
    group: 'Project',
    run: initCommand,
  },
  memory: {
    usage: '/memory [TEXT]',
    about: 'list memories, or search them',
    group: 'Project',
    run: async ({ place }, rest) => {
      const flags = { cwd: place.project.cwd }
      const { memory, searchMemory } = await import('../commands/memory/list.ts')
      return rest === '' ? memory(place.io, flags) : searchMemory(place.io, rest.split(/\s+/), flags)
    },
  },
  permissions: {
    usage: '/permissions [MODE | why CALL]',
    about: 'list rules and mode, change the mode, or explain who decides about a call',
    group: 'Project',
    run: permissionsCommand,
  },
  trust: {
    usage: '/trust [list|diff|remove]',
    about: 'what in this folder is trusted',
    group: 'Project',
    run: trustCommand,
  },
  mcp: {
    usage: '/mcp',
    about: 'the MCP servers in use',
    group: 'Project',
    run: ({ place, loaded }) => done(() => place.io.out(serverTable(loaded.servers, place.io))),
  },
  agents: {
    usage: agentsUsage,
    about: 'list the agents of this session; follow, stop, message or merge one',
    group: 'Work in the background',
    run: agentsCommand,
  },
  tasks: {
    usage: '/tasks [stop ID]',
    about: 'list background tasks, or stop one',
    group: 'Work in the background',
    run: tasksCommand,
  },
  model: {
    usage: '/model [NAME]',
    about: 'choose the model of this session; without a name from a list with prices',
    group: 'pal',
    run: modelCommand,
  },
  config: {
    usage: '/config [KEY [VALUE]]',
    about: 'list settings, show one, or set it',
    group: 'pal',
    run: (context, rest) => {
      const [, key, value] = /^(\S+)?\s*([\s\S]*)$/.exec(rest) ?? []
      return showConfig(context.place, key, value === '' ? undefined : value, {}, '/')
    },
  },
  help: {
    usage: '/help',
    about: 'this list; ? does the same',
    group: 'pal',
    run: ({ place, loaded }) => done(() => place.io.out(helpText(loaded, place.io.columns))),
  },
  quit: {
    usage: '/quit, /exit',
    about: 'exit; pal --continue resumes the session',
    group: 'pal',
    run: (context) => done(() => context.leave()),
  },
}

/** Other names that people know. */
const aliases: Readonly<Record<string, string>> = { exit: 'quit' }

const isCommandName = (name: string): boolean => Object.hasOwn(commands, name) || Object.hasOwn(aliases, name)

/** Whether a line asks to exit, whatever else runs. */
export const isExitLine = (input: string): boolean => ['/quit', '/exit'].includes(input.trim())

/** A line that is for pal: a command after a slash, a shell command after `!`, a note after `#`, or `?`. */
export async function runOwnLine(context: CommandContext, line: string): Promise<Exit> {
  if (line.startsWith('!')) return shellLine(context, line)
  if (line.startsWith('#')) return noteLine(context, line)
  const [, name = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line.trim() === '?' ? '/help' : line) ?? []
  const command = isCommandName(name) ? commands[aliases[name] ?? name] : undefined
  if (command !== undefined) return command.run(context, rest.trim())
  const own = context.loaded.commands.find((page) => page.name === name)
  if (own !== undefined) return context.turn(commandPrompt(own, rest))
  const known = [
    ...Object.keys(commands),
    ...Object.keys(aliases),
    ...context.loaded.commands.map((page) => page.name),
  ]
  return fail(
    context.place.io,
    exits.usage,
    `unknown command /${safeLine(name)}.${didYouMean(name, known, '/')} /help lists the commands; to send it to the model, start with //`,
  )
}

/** Each with how it is written, for lists and completion. */
export const commandList = (loaded: LoadedExtensions): readonly Pick<Command, 'usage' | 'about'>[] => [
  ...Object.values(commands),
  ...ownPages(loaded),
]

/** A name of ours cannot be taken. */
const ownPages = (loaded: LoadedExtensions): readonly Pick<Command, 'usage' | 'about'>[] =>
  loaded.commands
    .filter(({ name }) => !isCommandName(name))
    .map((page) => ({ usage: `/${page.name}`, about: aboutOf(page) }))

/** Descriptions stand in one column; a usage that is longer has a line of its own. */
const usageColumn = 24
const leastAbout = 30

function helpText(loaded: LoadedExtensions, room: number): string {
  const isNarrow = room < usageColumn + leastAbout
  const lines = ({ usage: plain, about }: Pick<Command, 'usage' | 'about'>): string => {
    const indent = isNarrow ? 4 : usageColumn
    // Those of a project come from its files.
    const usage = safeLine(plain)
    const [first = '', ...more] = wordWrapped(safeLine(about), room - indent)
    const below = more.map((line) => `${' '.repeat(indent)}${line}\n`).join('')
    return isNarrow || usage.length > indent - 4
      ? `${prose(`  ${usage}`, room)}\n${' '.repeat(indent)}${first}\n${below}`
      : `  ${usage.padEnd(indent - 2)}${first}\n${below}`
  }
  const section = (title: string, of: readonly Pick<Command, 'usage' | 'about'>[]): string =>
    of.length === 0 ? '' : `${title}\n${of.map(lines).join('')}\n`
  const all = Object.values(commands)
  const others = [
    { usage: '!COMMAND', about: 'run a shell command; the model sees its output with your next prompt' },
    { usage: '#NOTE', about: 'save a note to memory' },
    { usage: '@PATH', about: 'show a file to the model' },
    { usage: '//TEXT', about: 'send a prompt that starts with a slash' },
    { usage: 'a \\ at the end', about: 'continue on the next line' },
  ]
  return [
    ...groups.map((group) =>
      section(
        group,
        all.filter((command) => command.group === group),
      ),
    ),
    section('Your commands', ownPages(loaded)),
    section('Other input', others),
  ]
    .join('')
    .replace(/\n$/, '')
}
