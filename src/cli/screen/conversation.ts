// `pal` at a terminal: the conversation on the screen. Enter says it, or queues it while a turn runs; Escape stops the
// turn; Ctrl-C twice or Ctrl-D leaves. Commands after a slash are those of the line mode, written to the log.
import type { SlashCommand } from '@earendil-works/pi-tui'
import { join } from 'node:path'
import { machineFileSystem } from '../../disk/fs.ts'
import type { LiveEvent } from '../../engine/live.ts'
import type { Session } from '../../engine/session.ts'
import { windowOf } from '../../model/models.ts'
import type { Preset } from '../../preset.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Answer, AskUser } from '../../tools/permission/question.ts'
import { missingSandbox } from '../../preset/permission.ts'
import { exits, type Exit } from '../exit-codes.ts'
import { openPreset, type Opened, type TalkOptions } from '../headless.ts'
import { commandList, runCommand } from '../conversation/commands.ts'
import type { Loaded } from '../extensions/load.ts'
import { uniqueText, type Workplace } from '../workplace/workplace.ts'
import { acted, Conversation } from '../conversation/conversation.ts'
import { reopened } from '../conversation/reopening.ts'
import { askTrust, waitingAtStart } from '../conversation/trust-commands.ts'
import { clipboardPicture } from './clipboard.ts'
import { chooseSession, resumeCommand } from '../conversation/history-commands.ts'
import { existing, namedIn } from './mentions.ts'
import { modeAfter, tellMode } from '../conversation/mode.ts'
import type { Choice, Decision, Scene } from '../conversation/context.ts'
import { coldReturn } from './cold-return.ts'
import type { Io } from '../terminal/io.ts'
import { approvalOf } from './approval.ts'
import { outputBlock } from './blocks.ts'
import { completionOf } from './completion.ts'
import { Log } from './log.ts'
import { keepInput, pastInputs, type PastInputsPlace } from './past-inputs.ts'
import { Screen } from './screen.ts'
import type { Status } from './status.ts'
import { themeOf } from './theme.ts'

export async function talkOnScreen(io: Io, options: TalkOptions, chooses: boolean): Promise<Exit> {
  // Notices outside of a turn come before or while the screen stands: it hears them from the moment it is there.
  const screen: { talk: ScreenTalk | null } = { talk: null }
  const listen = (event: LiveEvent): void => screen.talk?.hear(event)
  const askUser: AskUser = (question, signal) =>
    screen.talk === null ? Promise.resolve({ kind: 'no' }) : screen.talk.asked(question, signal)
  const open: Open = (shown, how) => openPreset(shown, how, { listen, askUser, interactive: true })
  const opened = await open(io, options)
  if (typeof opened === 'number') return opened
  screen.talk = new ScreenTalk(opened, options, open)
  try {
    return await screen.talk.run(chooses)
  } finally {
    await screen.talk.close()
  }
}
type Open = (io: Io, options: TalkOptions) => Promise<Opened | Exit>

class ScreenTalk implements Scene {
  place: Workplace
  preset: Preset
  loaded: Loaded
  #opened: Opened
  readonly #open: Open
  readonly #options: TalkOptions
  readonly #screen: Screen
  readonly #log: Log
  #talk: Conversation
  readonly #past: PastInputsPlace
  readonly #left: Promise<void>
  #leave: () => void = () => undefined
  #running: Promise<void> | null = null
  #warnedAt = -Infinity
  #isLeft = false

  constructor(opened: Opened, options: TalkOptions, open: Open) {
    const { place, preset, loaded } = opened
    this.#opened = opened
    this.#open = open
    this.preset = preset
    this.loaded = loaded
    this.#options = options
    this.#left = new Promise((resolve) => {
      this.#leave = resolve
    })
    const theme = themeOf(place.io.outColours)
    this.#screen = new Screen(theme, statusOf(place, preset), {
      submitted: (text) => void this.#submit(text),
      escaped: () => void this.#talk.interrupt(),
      interrupted: () => this.#interrupt(),
      ended: () => this.leave(),
      modeWanted: () => void this.#nextMode(),
      pictureWanted: () => void this.#paste(),
    })
    this.#log = new Log(this.#screen)
    this.place = { ...place, io: this.#loggingIo(place.io) }
    this.#talk = new Conversation(preset, options, this.place.io)
    this.#past = {
      fs: machineFileSystem,
      folder: join(place.home, 'projects', place.project.slug),
      unique: uniqueText,
    }
  }

  /** `chooses`: the session to go on with is picked from a list. */
  async run(chooses: boolean): Promise<Exit> {
    const stopListening = this.place.io.onInterrupt(() => this.leave())
    this.#screen.start()
    try {
      this.#screen.remember(await pastInputs(this.#past))
      this.#screen.offer(completionOf(slashCommands(this.loaded), this.place.project.cwd, machineFileSystem))
      const waiting = await waitingAtStart(this)
      if (waiting !== null) {
        // What is typed meanwhile waits for the answer.
        this.#running = this.#act(() => askTrust(this, waiting)).finally(() => {
          this.#running = null
        })
        await this.#running
      }
      const opened = chooses ? await this.#choose() : await this.#begin()
      if (opened !== exits.done) return opened
      await this.#left
      this.#talk.interrupt()
      await this.#running
      await this.#talk.close()
      return exits.done
    } finally {
      stopListening()
      await this.#screen.stop()
      const session = this.#talk.begun()
      if (session !== null) process.stdout.write(`session ${session.id}; pal --continue goes on\n`)
    }
  }

  hear(event: LiveEvent): void {
    this.#log.hear(event)
    this.#screen.setStatus({ background: this.preset.memoryJobs.board.running })
    // A plan that was agreed to ends its mode.
    if (event.type === 'tool-end' || event.type === 'turn-end')
      this.#screen.setStatus({ mode: this.preset.permission.mode() })
  }

  /** Turning away stops the turn, also where the question is that of an agent in it. */
  async asked(question: Parameters<AskUser>[0], signal: AbortSignal): Promise<Answer> {
    const answer = await this.#screen.ask(approvalOf(question), signal)
    if (answer === null) this.#talk.interrupt()
    return answer ?? { kind: 'interrupt' }
  }

  begun(): Session | null {
    return this.#talk.begun()
  }

  session(): Promise<Session> {
    return this.#talk.session()
  }

  leave(): void {
    // Who wants to leave twice does not want to wait for memories.
    if (this.#isLeft) this.preset.memoryJobs.board.stopAll()
    this.#isLeft = true
    this.#leave()
  }

  async change(to: SessionId | null): Promise<void> {
    await this.#talk.change(to)
    this.#screen.clear()
    this.#log.show((await this.session()).view())
    this.#refresh()
  }

  /** Opens everything anew with what is trusted now. The old is kept where that fails, and closed where it works. */
  async reload(): Promise<void> {
    const before = this.#opened
    const next = await reopened(before, this.#talk, (how) => this.#open(this.place.io, how), this.#options)
    this.#opened = next.opened
    const { place, preset, loaded } = next.opened
    this.place = { ...place, io: this.place.io }
    this.preset = preset
    this.loaded = loaded
    this.#talk = new Conversation(preset, next.options, this.place.io)
    this.#screen.setStatus(statusOf(place, preset))
    this.#screen.offer(completionOf(slashCommands(loaded), place.project.cwd, machineFileSystem))
    await before.close()
    if (next.options.resume !== undefined) await this.session()
    this.#refresh()
  }

  close(): Promise<void> {
    return this.#opened.close()
  }

  decide<T>(question: Decision<T>): Promise<T | null> {
    return this.#screen.ask(question)
  }

  choose<T>(title: string, choices: readonly Choice<T>[]): Promise<T | null> {
    return this.#screen.ask({ title, subject: '', choices })
  }

  setInput(words: string): void {
    this.#screen.setInput(words)
  }

  /** Shows what a session that is gone on with holds. */
  async #begin(): Promise<Exit> {
    this.#log.notice(`${this.place.project.cwd} · /help lists the commands, esc stops a turn, ctrl+d leaves`)
    await missingSandbox(this.place, this.place.io.environment, (line) => this.#log.notice(line))
    if (!this.#options.continue && this.#options.resume === undefined) return exits.done
    const opened = await acted(async () => {
      this.#log.show((await this.session()).view())
      this.#refresh()
    })
    if (opened.ok) return opened.exit
    // The screen is about to go: the reason must outlast it.
    process.stderr.write(`pal: ${opened.message}\n`)
    return opened.exit
  }

  async #choose(): Promise<Exit> {
    const id = await chooseSession(this)
    if (id === null) return exits.done
    const opened = await acted(() => resumeCommand(this, id))
    if (!opened.ok) this.#log.complain(opened.message)
    return exits.done
  }

  /** The bill and the fill of the session at hand. */
  #refresh(): void {
    const session = this.begun()
    if (session === null) return
    const { input, cacheRead, cacheWrite, dollars, forkDollars, unpriced } = session.spent()
    this.#screen.setStatus({
      tokens: session.view().tokens,
      sent: input + cacheRead + cacheWrite,
      read: cacheRead,
      dollars: unpriced > 0 ? null : dollars + forkDollars,
      queued: 0,
    })
    const price = coldReturn(session, this.preset, this.place.settings.cacheLifetime)
    if (price !== null) this.#log.notice(price)
  }

  async #submit(text: string): Promise<void> {
    const words = text.trim()
    if (words === '') return
    this.#screen.remember([words])
    const unkept = await keepInput(this.#past, words)
    if (unkept !== null) this.#log.notice(`what was typed is not kept for the up key: ${unkept}`)
    const isCommand = words.startsWith('/') && !words.startsWith('//')
    // Nothing begins behind a question that stands before everything else.
    if (this.#screen.isAsking && !this.#talk.isBusy) return this.#screen.setInput(words)
    if (this.#running !== null && this.#talk.isBusy) return this.#whileBusy(words, isCommand)
    // A command that is still at work is waited for.
    while (this.#running !== null) await this.#running
    this.#running = this.#take(words, isCommand).finally(() => {
      this.#running = null
    })
  }

  async #take(words: string, isCommand: boolean): Promise<void> {
    this.#log.said(words)
    await this.#act(() => (isCommand ? runCommand(this, words) : this.turn(unescaped(words))))
    this.#screen.setBusy(null)
  }

  async #act(work: () => Promise<Exit>): Promise<void> {
    const done = await acted(work)
    if (!done.ok) this.#log.complain(done.message)
  }

  /** The words, and before them the files they name. */
  async turn(words: string): Promise<Exit> {
    const { io, project } = this.place
    const named = await existing(namedIn(words, project.cwd, io.userHome))
    if (named.length > 0) {
      const unread = await (await this.session()).attachFiles(named)
      for (const path of named.filter((one) => !unread.includes(one)))
        this.#log.notice(`shown to the model: ${path}`)
      for (const path of unread) this.#log.notice(`${path} cannot be shown; the model gets its name only`)
    }
    return this.#talk.turn(words, (event) => this.hear(event))
  }

  async #nextMode(): Promise<void> {
    const { permission } = this.preset
    const mode = modeAfter(permission.mode())
    // In force at once: the next key goes on from here, and only the words wait for the session.
    permission.setMode(mode)
    this.#screen.setStatus({ mode })
    const told = await acted(async () => {
      await tellMode(await this.session(), mode)
    })
    if (!told.ok) this.#log.complain(told.message)
  }

  /** A picture in the clipboard becomes a file of this session and is named where one types. */
  async #paste(): Promise<void> {
    const pasted = await clipboardPicture(this.place.io.environment)
    if (pasted.ok) this.#screen.insert(`@"${pasted.path}" `)
    else this.#log.notice(pasted.why)
  }

  async #whileBusy(words: string, isCommand: boolean): Promise<void> {
    if (words === '/quit') return this.leave()
    if (isCommand) return this.#log.notice('a turn runs; commands wait for its end. Esc stops it')
    const queued = await acted(() => this.#talk.queue(unescaped(words)))
    if (!queued.ok) return this.#log.complain(queued.message)
    this.#log.said(words)
    this.#log.notice('kept; the model gets it at its next step')
    this.#screen.setStatus({ queued: this.#screen.status.queued + 1 })
  }

  #interrupt(): void {
    if (this.#talk.interrupt()) return
    if (this.#isLeft) return this.leave()
    const now = Date.now()
    if (now - this.#warnedAt < defaults.screen.leaveMs) return this.leave()
    this.#warnedAt = now
    this.#log.notice('ctrl+c again leaves')
  }

  /** What commands write goes to the log. */
  #loggingIo(io: Io): Io {
    const write = (text: string): void => this.#screen.add(outputBlock(text, io.outColours))
    return { ...io, out: write, err: write }
  }
}

const unescaped = (words: string): string => (words.startsWith('//') ? words.slice(1) : words)

const slashCommands = (loaded: Loaded): readonly SlashCommand[] =>
  commandList(loaded).map(({ usage, about }) => {
    const [name = '', ...rest] = usage.slice(1).split(' ')
    return { name, description: about, ...(rest.length === 0 ? {} : { argumentHint: rest.join(' ') }) }
  })

function statusOf(place: Workplace, preset: Preset): Status {
  const window = windowOf({ model: preset.modelId, table: preset.models, override: place.settings.window })
  return {
    model: preset.modelId,
    mode: preset.permission.mode(),
    tokens: 0,
    window: window.tokens,
    sent: 0,
    read: 0,
    dollars: 0,
    scripted: place.access === null,
    queued: 0,
    background: 0,
  }
}
