// The commands of a conversation: a word after a slash. They read the session or change what it shows; nothing of them
// reaches the model. What they write goes to the `Io` of the context's place, wherever that shows it.
import { lookUp } from '../../model/models.ts'
import { showConfig } from '../commands/config.ts'
import { showContext } from '../commands/context.ts'
import { showCost } from '../commands/cost.ts'
import { showEdits } from '../commands/edits.ts'
import { placeIn, takeBack } from '../commands/undo.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { commandPrompt, type LoadedExtensions } from '../extensions/load.ts'
import { aboutOf } from '../extensions/pages.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { agentsCommand, agentsUsage, tasksCommand } from './agent-commands.ts'
import { withSession, type CommandContext } from './context.ts'
import { compactCommand, pinCommand, resumeCommand, rewindCommand } from './history-commands.ts'
import { permissionsCommand } from './permission-commands.ts'
import { trustCommand } from './trust-commands.ts'

interface Command {
  /** How it is written, for the list. */
  readonly usage: string
  readonly about: string
  run(context: CommandContext, rest: string): Promise<Exit>
}

const done = (work: () => void): Promise<Exit> => {
  work()
  return Promise.resolve(exits.done)
}

const commands: Readonly<Record<string, Command>> = {
  help: {
    usage: '/help',
    about: 'this list',
    run: ({ place, loaded }) => done(() => place.io.out(helpText(loaded))),
  },
  context: {
    usage: '/context',
    about: 'what the last request held',
    run: (context) =>
      withSession(context, ({ id }) => showContext(context.place, context.preset.store, id, false)),
  },
  cost: {
    usage: '/cost',
    about: 'what each turn cost, and why',
    run: (context) =>
      withSession(context, ({ id }) => showCost(context.place, context.preset.store, id, false)),
  },
  edits: {
    usage: '/edits',
    about: 'everything that left the context, with its number',
    run: (context) =>
      withSession(context, ({ id }) => showEdits(context.place.io, context.preset.store, id, false)),
  },
  undo: { usage: '/undo N', about: 'take the removal with this number back', run: undo },
  compact: {
    usage: '/compact [--from [N] | --up-to [N]] [TEXT]',
    about:
      'compact the older messages, or those from or up to message N; TEXT says what you want to find again',
    run: compactCommand,
  },
  pin: {
    usage: '/pin [PLACE]',
    about: 'keep a message word for word, whatever is put away',
    run: pinCommand,
  },
  rewind: {
    usage: '/rewind [PLACE]',
    about: 'go back to before a message was said, with the files if you want',
    run: rewindCommand,
  },
  resume: { usage: '/resume [ID]', about: 'go on with another session of this project', run: resumeCommand },
  clear: {
    usage: '/clear',
    about: 'begin a new session; the old one stays',
    run: async (context) => {
      await context.change(null)
      context.place.io.out('a new session; /resume goes back to another\n')
      return exits.done
    },
  },
  agents: {
    usage: agentsUsage,
    about: 'the agents of this session, and what to do with them',
    run: agentsCommand,
  },
  tasks: {
    usage: '/tasks [stop ID]',
    about: 'what is under way beside the talk; or stop a job',
    run: tasksCommand,
  },
  permissions: {
    usage: '/permissions [MODE | why CALL]',
    about: 'the rules and the mode in force; another mode; or who decides about a call, and why',
    run: permissionsCommand,
  },
  trust: {
    usage: '/trust [list|diff|remove]',
    about: 'what of this folder would act, and whether it may',
    run: trustCommand,
  },
  memory: {
    usage: '/memory [WORDS]',
    about: 'what is remembered; with words, what is found for them',
    run: async ({ place }, rest) => {
      const flags = { cwd: place.project.cwd }
      return rest === ''
        ? (await import('../commands/memory/list.ts')).memory(place.io, flags)
        : (await import('../commands/memory/list.ts')).searchMemory(place.io, rest.split(/\s+/), flags)
    },
  },
  config: {
    usage: '/config [KEY [VALUE]]',
    about: 'the settings in force; or look at one, or set it',
    run: (context, rest) => {
      const [, key, value] = /^(\S+)?\s*([\s\S]*)$/.exec(rest) ?? []
      return showConfig(context.place, key, value === '' ? undefined : value, {})
    },
  },
  model: { usage: '/model NAME', about: 'who answers from now on', run: setModel },
  quit: {
    usage: '/quit',
    about: 'leave; pal --continue goes on',
    run: (context) => done(() => context.leave()),
  },
}

async function undo(context: CommandContext, rest: string): Promise<Exit> {
  const { io } = context.place
  const target = placeIn(rest)
  if (target === null) {
    io.err('pal: /undo wants the number of an edit; /edits lists them\n')
    return exits.usage
  }
  return withSession(context, async (session) => {
    await takeBack(io, session, target, false)
    return exits.done
  })
}

async function setModel(context: CommandContext, name: string): Promise<Exit> {
  const { io } = context.place
  if (name === '' || /\s/.test(name)) {
    io.err('pal: /model wants the name of one model\n')
    return exits.usage
  }
  await (await context.session()).setModel(name)
  const known = lookUp(context.preset.models, name) !== null
  io.out(`${safeLine(name)} answers from now on\n`)
  if (!known) io.err('pal: its window and prices are not known here; see models in the settings\n')
  return exits.done
}

export async function runCommand(context: CommandContext, line: string): Promise<Exit> {
  const [, name = '', rest = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? []
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command !== undefined) return command.run(context, rest.trim())
  const own = context.loaded.commands.find((page) => page.name === name)
  if (own !== undefined) return context.turn(commandPrompt(own, rest))
  context.place.io.err(
    `pal: there is no command /${safeLine(name)}; /help lists them. To say it to the model begin with //\n`,
  )
  return exits.usage
}

/** Each with how it is written, for lists and completion. */
export const commandList = (loaded: LoadedExtensions): readonly Pick<Command, 'usage' | 'about'>[] => [
  ...Object.values(commands),
  // A name of ours cannot be taken.
  ...loaded.commands
    .filter(({ name }) => !Object.hasOwn(commands, name))
    .map((page) => ({ usage: `/${page.name}`, about: aboutOf(page) })),
]

const helpText = (loaded: LoadedExtensions): string => {
  const width = Math.max(...commandList(loaded).map(({ usage }) => usage.length))
  const lines = commandList(loaded).map(({ usage, about }) => `  ${usage.padEnd(width)}  ${about}`)
  return `${lines.join('\n')}
A line that ends with \\ goes on in the next. // at the start says a line that begins with a slash.
`
}
