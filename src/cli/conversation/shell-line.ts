// Lines that are neither prompt nor command: `!command` runs in the shell and the model sees what came of it with the next
// prompt, `#note` becomes a memory, `?` is help. The person typed the command, so nobody is asked; keys of ours are not in
// its environment, since what it prints is sent to the model.
import { randomBytes } from 'node:crypto'
import { defaults } from '../../settings/defaults.ts'
import { tailOf } from '../../tools/outcome.ts'
import { commandEnvironment } from '../../tools/shell/environment.ts'
import { startGroup } from '../../tools/shell/group.ts'
import { fenced } from '../../transcript/fence.ts'
import { withoutKeys } from '../../wires/providers.ts'
import { withMemories } from '../commands/memory/open.ts'
import { exits, refuse, type Exit } from '../exit-codes.ts'
import { safeLine, safeText } from '../terminal/safe-text.ts'
import type { CommandContext } from './context.ts'

/** Runs `!command`; the session gets command and output. */
export async function shellLine(context: CommandContext, line: string): Promise<Exit> {
  const { io, project, settings } = context.place
  const command = line.slice(1).trim()
  if (command === '') {
    io.err('pal: usage: !COMMAND, as in !git status\n')
    return exits.usage
  }
  const started = await startGroup(command, {
    shell: 'bash',
    cwd: project.cwd,
    environment: commandEnvironment(withoutKeys(io.environment, settings.providers)),
  })
  if (!started.ok) {
    io.err(`pal: the command cannot be started: ${safeLine(started.why)}\n`)
    return exits.failed
  }
  const { group } = started
  const stopListening = io.onInterrupt(() => group.stop())
  let output = ''
  const decoder = new TextDecoder()
  try {
    for await (const piece of group.output) {
      output += decoder.decode(piece, { stream: true })
      // The end of a long output tells most; its middle is not kept.
      if (output.length > defaults.screen.shellChars * 2) output = output.slice(-defaults.screen.shellChars)
    }
  } finally {
    stopListening()
  }
  const end = await group.ended
  const shown = safeText(output, { colours: false }).trimEnd()
  const result = end.code === 0 ? '' : `exit code ${end.code ?? end.signal ?? 'unknown'}\n`
  io.out(`${shown === '' ? '' : `${shown}\n`}${result}` || '(no output)\n')
  await (
    await context.session()
  ).attach('shell', shellText(command, `${tailOf(shown, defaults.screen.shellChars)}\n${result}`))
  return exits.done
}

/** Command and output as the model sees them. */
export const shellText = (command: string, output: string): string =>
  fenced(
    'tool-result',
    { name: 'shell' },
    `The user ran this command; it is information, not a request:\n$ ${command}\n${output}`,
  )

/** Saves `#note` as a memory of the user's own, of this project. */
export function noteLine(context: CommandContext, line: string): Promise<Exit> {
  const { place, begun } = { place: context.place, begun: context.begun() }
  const note = line.slice(1).trim()
  if (note === '') {
    place.io.err('pal: usage: #NOTE, as in #run the linter before committing\n')
    return Promise.resolve(exits.usage)
  }
  return withMemories(place.io, { cwd: place.project.cwd, scope: 'project' }, async (room) => {
    const store = room.keepers[0]!
    const title = note.replaceAll(/\s+/g, ' ').slice(0, defaults.cli.firstWordsChars).toWellFormed()
    const file = `note-${randomBytes(4).toString('hex')}.md`
    const text = `---\nname: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(title)}\ntype: feedback\n---\n${note}\n`
    const by = {
      kind: 'user',
      trust: 'user',
      session: begun?.id ?? null,
      message: null,
      from: [],
      at: Date.now(),
    } as const
    const saved = await store.save({ file, text, expected: null }, by, { via: 'user', approved: true })
    if (!saved.ok) return refuse(exits.failed, `the note was not saved: ${saved.failure.message}`)
    if (saved.applied.kind !== 'written')
      return refuse(exits.failed, `the note was not saved: ${saved.applied.why}`)
    place.io.out(`Saved to memory: ${safeLine(file)}; !pal memory forget ${safeLine(file)} deletes it\n`)
    return exits.done
  })
}
