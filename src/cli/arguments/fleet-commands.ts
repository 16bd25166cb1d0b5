// Commands of a team that shares one database.
import { Argument, InvalidArgumentError, type Command } from 'commander'
import type { BudgetScope } from '../../postgres/budgets.ts'
import { port, subcommand, wholeNumber, type RunCommand } from './flags.ts'

const scopes: readonly BudgetScope[] = ['tenant', 'team', 'project', 'tree']

export function addFleetCommands(program: Command, run: RunCommand): void {
  const fleet = subcommand(
    program,
    'fleet',
    'sessions of a team in one Postgres database: workers, input, budgets (docs/fleet.md)',
  )
  addWork(fleet, run)
  addSessions(fleet, run)
  addUpkeep(fleet, run)
}

const fleetCommand = (fleet: Command, name: string, about: string): Command =>
  subcommand(fleet, name, about)
    .option('--tenant <name>', 'whose sessions; default: PAL_TENANT, or "default"')
    .option('--json', 'as JSON')

function addWork(fleet: Command, run: RunCommand): void {
  fleetCommand(fleet, 'worker', 'work on sessions that wait, until it is stopped')
    .option('--sessions <n>', 'how many at once; default: 8', wholeNumber)
    .option('--cwd <folder>', 'where tools work')
    .action(run(async () => (await import('../commands/fleet/worker.ts')).fleetWorker))
  fleetCommand(fleet, 'send', 'send input to a session; "new" begins one and prints its id')
    .argument('<session>', 'its id, or new')
    .argument('<text...>', 'the prompt')
    .option('--id <id>', 'a key: the same id sent again changes nothing')
    .option('--team <name>', 'of a new session: which budget of a team covers it')
    .option('--project <name>', 'of a new session: which budget of a project covers it')
    .action(run(async () => (await import('../commands/fleet/sessions.ts')).fleetSend))
  fleetCommand(fleet, 'serve', 'serve HTTP: send input, follow entries, answer questions')
    .option('--port <n>', 'the port; default: any free one', port)
    .option('--listen <host>', 'the address to listen on; default: this machine alone')
    .action(run(async () => (await import('../commands/fleet/upkeep.ts')).fleetServe))
}

function addSessions(fleet: Command, run: RunCommand): void {
  fleetCommand(fleet, 'list', 'sessions with who works on them and what waits').action(
    run(async () => (await import('../commands/fleet/sessions.ts')).fleetList),
  )
  fleetCommand(fleet, 'show', 'one session: state, questions, last entries')
    .argument('<session>', 'its id')
    .action(run(async () => (await import('../commands/fleet/sessions.ts')).fleetShow))
  fleetCommand(fleet, 'park', 'no worker takes a session until it is unparked')
    .argument('<session>', 'its id')
    .argument('[why...]', 'the reason, shown to others')
    .action(run(async () => (await import('../commands/fleet/sessions.ts')).fleetPark))
  fleetCommand(fleet, 'unpark', 'let workers take a session again')
    .argument('<session>', 'its id')
    .action(run(async () => (await import('../commands/fleet/sessions.ts')).fleetUnpark))
  fleetCommand(fleet, 'answer', 'answer a question of a session')
    .argument('<session>', 'its id')
    .argument('<question>', 'the id of the question, as pal fleet show prints it')
    .addArgument(new Argument('<answer>', 'whether the call may run').choices(['allow', 'deny']))
    .option('--why <text>', 'with deny: told to the model')
    .action(run(async () => (await import('../commands/fleet/sessions.ts')).fleetAnswer))
  fleetCommand(fleet, 'prune', 'sessions that nothing was written to for so long, with their agents')
    .requiredOption('--days <n>', 'how long', wholeNumber)
    .option('--delete', 'remove them for good; without it they are only counted')
    .action(run(async () => (await import('../commands/fleet/sessions.ts')).fleetPrune))
  fleetCommand(fleet, 'drain', 'wait until nothing is left to do')
    .option('--seconds <n>', 'give up after so long', wholeNumber)
    .action(run(async () => (await import('../commands/fleet/sessions.ts')).fleetDrain))
}

function addUpkeep(fleet: Command, run: RunCommand): void {
  fleetCommand(fleet, 'budget', 'list budgets, or set one: pal fleet budget team core --cap 50')
    .addArgument(new Argument('[scope]', 'whose; tree is a session with its agents').choices(scopes))
    .argument('[name]', 'of the team, project or session')
    .option('--cap <dollars>', 'what may be spent in the period', amount)
    .option('--from <day>', 'first day; default: the first of this month')
    .option('--to <day>', 'first day after it; default: the first of the next month')
    .option('--remove', "remove today's budget")
    .action(run(async () => (await import('../commands/fleet/upkeep.ts')).fleetBudget))
  fleetCommand(fleet, 'token', 'make a token for pal fleet serve; it is shown once')
    .argument('<label>', 'what it is for')
    .option('--remove', 'tokens of this label are no longer accepted')
    .action(run(async () => (await import('../commands/fleet/upkeep.ts')).fleetToken))
  fleetCommand(fleet, 'migrate', 'prepare the database for this version, and make the tenant').action(
    run(async () => (await import('../commands/fleet/upkeep.ts')).fleetMigrate),
  )
  fleetCommand(fleet, 'doctor', 'check the database, and what waits').action(
    run(async () => (await import('../commands/fleet/upkeep.ts')).fleetDoctor),
  )
}

function amount(text: string): number {
  const value = Number(text)
  if (Number.isFinite(value) && value >= 0 && text.trim() !== '') return value
  throw new InvalidArgumentError('It must be a number of dollars, 0 or more.')
}
