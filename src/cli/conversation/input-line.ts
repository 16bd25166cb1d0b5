// Which lines are for pal, and those of them that are no command: `!command` runs in the shell and the model sees what came of it with the next
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
import { oneLine } from '../commands/messages.ts'
import { exits, fail, refuse, type Exit } from '../exit-codes.ts'
import { safeLine, safeText } from '../terminal/safe-text.ts'
import type { CommandContext } from './context.ts'

/** Whether a line is for pal and not for the model. */
export const isOwnLine = (input: string): boolean =>
  (input.startsWith('/') && !input.startsWith('//')) || /^[!#]\S/.test(input) || input.trim() === '?'

/** What the model gets of a line: two slashes stand for one. */
export const unescaped = (input: string): string => (input.startsWith('//') ? input.slice(1) : input)

/** The line that sends this text to the model. */
export const escaped = (text: string): string => (text.startsWith('/') ? `/${text}` : text)

/** Runs `!command`; the session gets command and output. */
export async function shellLine(context: CommandContext, line: string): Promise<Exit> {
  const { io, project, settings } = context.place
  const command = line.slice(1).trim()
  if (command === '') return fail(io, exits.usage, 'usage: !COMMAND, as in !git status')
  const started = await startGroup(command, {
    shell: 'bash',
    cwd: project.cwd,
    environment: commandEnvironment(withoutKeys(io.environment, settings.providers)),
  })
  if (!started.ok) return fail(io, exits.failed, `the command cannot be started: ${started.why}`)
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
export async function noteLine(context: CommandContext, line: string): Promise<Exit> {
  const { place } = context
  const session = context.begun()?.id ?? null
  const note = line.slice(1).trim()
  if (note === '') return fail(place.io, exits.usage, 'usage: #NOTE, as in #run the linter before committing')
  return withMemories(place.io, { cwd: place.project.cwd, scope: 'project' }, async (room) => {
    const store = room.keepers[0]!
    const title = oneLine(note)
    const file = `note-${randomBytes(4).toString('hex')}.md`
    const text = `---\nname: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(title)}\ntype: feedback\n---\n${note}\n`
    const by = {
      kind: 'user',
      trust: 'user',
      session,
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
