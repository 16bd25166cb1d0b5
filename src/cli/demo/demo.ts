// `pal demo` and `npm start`: the embedded default. A simulator on this machine answers over HTTP from task scripts; the
// engine, the store, the layers and the tools are the real ones, at work on a little repository in a temporary folder
// with a small window. Nothing is left behind.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { attempt, machineFileSystem } from '../../disk/fs.ts'
import { findProgram } from '../../disk/programs.ts'
import type { Session } from '../../engine/session.ts'
import { createPreset } from '../../preset.ts'
import { projectOf } from '../../preset/project.ts'
import { createTags } from '../../projection/layers/snip.ts'
import { defaults } from '../../settings/defaults.ts'
import { noBash } from '../../tools/shell/bash.ts'
import { exits, fail, type Exit } from '../exit-codes.ts'
import { progressLine } from '../terminal/event-text.ts'
import type { Io } from '../terminal/io.ts'
import { safeStream } from '../terminal/safe-text.ts'
import { startEmbedded } from '../workplace/access.ts'
import { openWorkplace } from '../workplace/workplace.ts'
import { prose, whole } from '../terminal/tables.ts'
import { figuresOf, reportOf } from './figures.ts'
import { makeProject, prompts, spoken } from './project.ts'

export async function demo(io: Io): Promise<Exit> {
  const place = await openWorkplace(io, {})
  if (place.ok && place.access !== null)
    io.err(
      `pal: a model can be reached (${place.accessFrom}); pal -p "…" works with it. This demo stays offline.\n`,
    )
  if (findProgram('bash', io.environment['PATH'], []) === null)
    return fail(io, exits.failed, `the demo runs real commands: ${noBash}`)
  const made = await attempt(`making a folder in ${tmpdir()}`, async () => ({
    folder: await mkdtemp(join(tmpdir(), 'pal-demo-')),
  }))
  if (!made.ok)
    return fail(io, exits.failed, `${made.failure.message}. Set TMPDIR to a folder you can write to`)
  const { folder } = made
  try {
    await makeProject(join(folder, 'till'))
    return await play(io, folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function play(io: Io, folder: string): Promise<Exit> {
  const found = await projectOf(machineFileSystem, join(folder, 'till'))
  if (!found.ok) return fail(io, exits.failed, found.failure.message)
  const { windowTokens, maxOutputTokens, model, messageChars, keep } = defaults.demo
  const embedded = await startEmbedded()
  const preset = createPreset({
    project: found.project,
    home: join(folder, 'home'),
    // A small window, so that what makes room has to; what would take a good part of it is left out. The dial stands
    // at fidelity and pressure clears results, so that each layer is seen at work and not only the last.
    settings: {
      model,
      window: windowTokens,
      maxOutputTokens,
      allow: ['Edit', 'Write', 'Bash'],
      memory: false,
      agents: false,
      notes: false,
      thrift: 'fidelity',
      pressureClearing: true,
    },
    environment: io.environment,
    userHome: io.userHome,
    model: embedded.access,
    layers: { messageChars, keepResults: keep },
  })
  const abort = new AbortController()
  const stopListening = io.onInterrupt(() =>
    abort.signal.aborted ? io.exitNow(exits.interrupted) : abort.abort(),
  )
  try {
    io.out(
      prose(
        `A coding task, offline. The model is SCRIPTED: it follows steps written in the prompts and understands nothing.
Engine, tools, store, cache accounting and prices are real; the window is made small (${whole(windowTokens)} tokens).\n`,
        io.columns,
      ),
    )
    const session = await preset.engine.open()
    for (const prompt of prompts) {
      const exit = await turn(io, session, prompt(firstId(session)), abort.signal)
      if (exit !== exits.done) return exit
    }
    await session.close()
    const figures = await figuresOf(preset.store, session.id, preset.models, preset.modelId)
    io.out(`\n${prose(reportOf(figures, windowTokens, io.columns), io.columns)}`)
    io.out(
      '\nNext: set ANTHROPIC_API_KEY (or run pal login), then pal (or pal -p "…") in a folder of yours.\n',
    )
    return exits.done
  } finally {
    stopListening()
    await preset.close()
    await embedded.close()
  }
}

/** The id under which Snip knows the first message; none before it has been said. */
function firstId(session: Session): string {
  for (const message of session.view().messages)
    for (const part of message.parts) if (part.kind === 'input') return createTags().of(part.uuid)
  return ''
}

/** One turn on the screen: what was asked, what is said and done. */
async function turn(io: Io, session: Session, prompt: string, signal: AbortSignal): Promise<Exit> {
  io.out(`\n> ${spoken(prompt)}\n`)
  let stream = safeStream()
  let isOpen = false
  const close = (): void => {
    const rest = stream.end()
    if (isOpen) io.out(`${rest}\n`)
    isOpen = false
    stream = safeStream()
  }
  for await (const event of session.send(prompt, signal)) {
    if (event.type === 'text-delta') {
      if (!isOpen) io.out('  ')
      isOpen = true
      io.out(stream.push(event.text))
      continue
    }
    if (event.type === 'answer-end') close()
    const line = event.type === 'notice' ? `  ! ${event.message}` : progressLine(event)
    if (line !== null) io.out(prose(`  ${line}\n`, io.columns))
    if (event.type === 'turn-end' && event.outcome !== 'done') {
      if (event.outcome === 'aborted') return exits.interrupted
      return fail(io, exits.failed, event.failure?.message ?? 'the demo failed')
    }
  }
  return exits.done
}

/** `npm start`: with a key or a server the agent itself, with neither the demo. */
export async function start(io: Io): Promise<Exit> {
  const place = await openWorkplace(io, {})
  if (!place.ok || place.access === null) return demo(io)
  const { converseInLines } = await import('../line-mode/conversation.ts')
  return converseInLines(io, { isVerbose: false, continue: false, forkSession: false, settings: {} })
}
