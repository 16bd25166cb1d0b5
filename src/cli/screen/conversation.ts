// `pal` at a terminal: the conversation on the screen. Enter says it, or queues it while a turn runs; Escape stops the
// turn; Ctrl-C twice or Ctrl-D exits. Slash commands are those of the line mode, written to the log.
import { join } from 'node:path'
import { machineFileSystem } from '../../disk/fs.ts'
import type { LiveEvent } from '../../engine/live.ts'
import type { Session } from '../../engine/session.ts'
import type { Preset } from '../../preset.ts'
import { missingSandbox } from '../../preset/permission.ts'
import { defaults } from '../../settings/defaults.ts'
import type { Answer, AskUser } from '../../tools/permission/question.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { commandList, isExitLine, runOwnLine } from '../conversation/commands.ts'
import type { Choice, CommandContext, KeyedQuestion } from '../conversation/context.ts'
import { hearWishes } from '../conversation/wishes.ts'
import { Conversation, attemptWork, reopen } from '../conversation/conversation.ts'
import { chooseSession, resumeCommand } from '../conversation/history-commands.ts'
import { isOwnLine, unescaped } from '../conversation/input-line.ts'
import { modeAfter } from '../conversation/mode-commands.ts'
import { askTrust, waitingAtStart } from '../conversation/trust-commands.ts'
import { exits, type Exit } from '../exit-codes.ts'
import type { LoadedExtensions } from '../extensions/load.ts'
import { openPreset, type ConversationOptions, type OpenedPreset } from '../headless.ts'
import { suspend, type Io } from '../terminal/io.ts'
import { Notifier } from '../terminal/notification.ts'
import { uniqueText, type Workplace } from '../workplace/workplace.ts'
import {
  attachNamed,
  clipboardPicture,
  completionOf,
  existing,
  keepInput,
  namedIn,
  pastInputs,
  type PastInputsPlace,
} from './input.ts'
import { Log, loggingIo } from './log.ts'
import { approvalOf } from './question.ts'
import { Screen } from './screen.ts'
import { coldReturn, firstStatus, spentStatus, startLine } from './status.ts'
import { themeOf } from './theme.ts'

export async function converseOnScreen(
  io: Io,
  options: ConversationOptions,
  chooses: boolean,
): Promise<Exit> {
  // Notices outside of a turn come before or while the screen stands: it hears them from the moment it is there.
  const screen: { conversation: ScreenConversation | null } = { conversation: null }
  const listen = (event: LiveEvent): void => screen.conversation?.hear(event)
  const askUser: AskUser = (question, signal) =>
    screen.conversation === null
      ? Promise.resolve({ kind: 'no' })
      : screen.conversation.asked(question, signal)
  const open: Open = (shown, how) => openPreset(shown, how, { listen, askUser, interactive: true })
  const opened = await open(io, options)
  if (typeof opened === 'number') return opened
  screen.conversation = new ScreenConversation(opened, options, open)
  try {
    return await screen.conversation.run(chooses)
  } finally {
    await screen.conversation.close()
  }
}
type Open = (io: Io, options: ConversationOptions) => Promise<OpenedPreset | Exit>

class ScreenConversation implements CommandContext {
  place: Workplace
  preset: Preset
  loaded: LoadedExtensions
  #opened: OpenedPreset
  readonly #open: Open
  readonly #options: ConversationOptions
  readonly #screen: Screen
  readonly #log: Log
  readonly #notifier: Notifier
  #conversation: Conversation
  readonly #past: PastInputsPlace
  readonly #left: Promise<void>
  #leave: () => void = () => undefined
  #running: Promise<void> | null = null
  #warnedAt = -Infinity
  readonly #stoppable = new Set<() => void>()
  #isLeft = false
  /** Said when the screen has gone: it would go with it. */
  #complaint: string | null = null

  constructor(opened: OpenedPreset, options: ConversationOptions, open: Open) {
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
    this.#screen = new Screen(theme, firstStatus(place, preset), {
      submitted: (text) => void this.#submit(text),
      escaped: () => void (this.#conversation.interrupt() || this.#stopCommand()),
      interrupted: () => this.#interrupt(),
      ended: () => this.leave(),
      modeWanted: () => this.#nextMode(),
      pictureWanted: () => void this.#paste(),
      suspended: () => void this.#screen.lend(suspend),
    })
    this.#notifier = new Notifier(place.settings, (text) => this.#screen.send(text))
    this.#log = new Log(this.#screen)
    this.place = { ...place, io: loggingIo(place.io, this.#screen, this.#stoppable) }
    this.#conversation = new Conversation(preset, options, this.place.io)
    this.#past = {
      fs: machineFileSystem,
      folder: join(place.home, 'projects', place.project.slug),
      unique: uniqueText,
    }
  }

  /** `chooses`: the session to go on with is picked from a list. */
  async run(chooses: boolean): Promise<Exit> {
    const stopWishes = hearWishes(this.place, () => this.begun())
    const stopListening = this.#opened.place.io.onInterrupt(() => this.leave())
    this.#screen.start()
    try {
      this.#screen.remember(await pastInputs(this.#past))
      this.#screen.offer(completionOf(commandList(this.loaded), this.place.project.cwd, machineFileSystem))
      const waiting = await waitingAtStart(this)
      if (waiting !== null) {
        this.#running = this.#act(() => askTrust(this, waiting)).finally(() => void (this.#running = null))
        await this.#running
      }
      const opened = chooses ? await this.#choose() : await this.#begin()
      if (opened !== exits.done) return opened
      await this.#left
      this.#conversation.interrupt()
      await this.#running
      await this.#conversation.close()
      return exits.done
    } finally {
      stopWishes()
      stopListening()
      await this.#screen.stop()
      if (this.#complaint !== null) this.#opened.place.io.err(`pal: ${this.#complaint}\n`)
      const session = this.#conversation.begun()
      if (session !== null && this.#opened.unsaved === null)
        process.stdout.write(`session ${session.id}; continue with pal --continue\n`)
    }
  }

  hear(event: LiveEvent): void {
    this.#log.hear(event)
    this.#notifier.hear(event)
    this.#screen.setStatus({ background: this.preset.memoryJobs.list.running })
    // A plan that was agreed to ends its mode.
    if (event.type === 'tool-end' || event.type === 'turn-end')
      this.#screen.setStatus({ mode: this.preset.permission.mode() })
  }

  /** Turning away stops the turn, also where the question is that of an agent in it. */
  async asked(question: Parameters<AskUser>[0], signal: AbortSignal): Promise<Answer> {
    this.#notifier.ask()
    const answer = await this.#screen.ask(approvalOf(question, this.place.io.userHome), signal)
    if (answer === null) this.#conversation.interrupt()
    return answer ?? { kind: 'interrupt' }
  }

  begun(): Session | null {
    return this.#conversation.begun()
  }

  session(): Promise<Session> {
    return this.#conversation.session()
  }

  leave(): void {
    // Who wants to leave twice does not want to wait for memories.
    if (this.#isLeft) this.preset.memoryJobs.list.stopAll()
    this.#isLeft = true
    this.#leave()
    // Nobody may be there any more to stop a command or to answer a question.
    this.#stopCommand()
    this.#screen.endQuestions()
  }

  async change(to: SessionId | null): Promise<void> {
    await this.#conversation.change(to)
    this.#log.showAlone((await this.session()).view())
    this.#showFigures()
  }

  /** Where they are not all in sight (a compaction, another run), what the model sees is shown instead. */
  removeMessages(texts: readonly string[]): void {
    const view = this.begun()?.view()
    if (!this.#log.removeMessages(texts) && view !== undefined) this.#log.showAlone(view)
  }

  /** Opens everything anew with what is trusted now. The old is kept where that fails, and closed where it works. */
  async reload(): Promise<void> {
    const before = this.#opened
    const next = await reopen(
      before,
      this.#conversation,
      (how) => this.#open(this.place.io, how),
      this.#options,
    )
    this.#opened = next.opened
    const { place, preset, loaded } = next.opened
    this.place = { ...place, io: this.place.io }
    this.preset = preset
    this.loaded = loaded
    this.#conversation = new Conversation(preset, next.options, this.place.io)
    this.#screen.setStatus(firstStatus(place, preset))
    this.#screen.offer(completionOf(commandList(loaded), place.project.cwd, machineFileSystem))
    await before.close()
    if (next.options.resume !== undefined) await this.session()
    this.#showFigures()
  }

  close(): Promise<void> {
    return this.#opened.close()
  }

  decide<T>(question: KeyedQuestion<T>): Promise<T | null> {
    return this.#screen.ask(question)
  }

  choose<T>(title: string, choices: readonly Choice<T>[]): Promise<T | null> {
    return this.#screen.ask({ title, subject: '', choices })
  }

  setInput(input: string): void {
    this.#screen.setInput(input)
  }

  /** Shows what a session that is gone on with holds. */
  async #begin(): Promise<Exit> {
    this.#log.notice(startLine(this.place))
    await missingSandbox(this.place, this.place.io.environment, (line) => this.#log.notice(line))
    if (!this.#options.continue && this.#options.resume === undefined) return exits.done
    const opened = await attemptWork(async () => {
      this.#log.show((await this.session()).view())
      this.#showFigures()
    })
    if (opened.ok) return opened.exit
    this.#complaint = opened.message
    return opened.exit
  }

  async #choose(): Promise<Exit> {
    const id = await chooseSession(this)
    if (id === null) return exits.done
    const opened = await attemptWork(() => resumeCommand(this, id))
    if (!opened.ok) this.#log.complain(opened.message)
    return exits.done
  }

  /** The bill and the fill of the session at hand. */
  refresh(): void {
    const session = this.begun()
    if (session !== null) this.#screen.setStatus(spentStatus(session, this.place, this.preset))
  }

  /** Of a session that is gone on with; also what its next request costs where the cache has expired. */
  #showFigures(): void {
    this.refresh()
    const session = this.begun()
    const price = session === null ? null : coldReturn(session, this.preset)
    if (price !== null) this.#log.notice(price)
  }

  async #submit(typed: string): Promise<void> {
    const input = typed.trim()
    if (input === '') return
    this.#screen.remember([input])
    const unkept = await keepInput(this.#past, input)
    if (unkept !== null) this.#log.notice(`this prompt was not saved to the history: ${unkept}`)
    const isCommand = isOwnLine(input)
    // Nothing begins behind a question that stands before everything else.
    if (this.#screen.isAsking && !this.#conversation.isBusy) return this.#screen.setInput(input)
    if (this.#running !== null && this.#conversation.isBusy) return this.#whileBusy(input, isCommand)
    // A command that is still at work is waited for.
    while (this.#running !== null) await this.#running
    this.#running = this.#take(input, isCommand).finally(() => {
      this.#running = null
    })
  }

  async #take(input: string, isCommand: boolean): Promise<void> {
    this.#log.addInput(input, isCommand ? null : unescaped(input))
    await this.#act(() => (isCommand ? runOwnLine(this, input) : this.turn(unescaped(input))))
    this.#screen.setBusy(null)
  }

  async #act(work: () => Promise<Exit>): Promise<void> {
    const done = await attemptWork(work)
    if (!done.ok) this.#log.complain(done.message)
  }

  /** A turn on the input, and before it the files it names. */
  async turn(input: string): Promise<Exit> {
    const { io, project } = this.place
    const named = await existing(namedIn(input, project.cwd, io.userHome))
    if (named.length > 0)
      for (const line of await attachNamed(named, io.userHome, await this.session())) this.#log.notice(line)
    return this.#conversation.turn(input, (event) => this.hear(event))
  }

  #nextMode(): void {
    const { permission } = this.preset
    const mode = modeAfter(permission.mode())
    // In force at once; the model is told before its next request.
    permission.setMode(mode)
    this.#screen.setStatus({ mode })
  }

  /** A picture in the clipboard becomes a file of this session and is named where one types. */
  async #paste(): Promise<void> {
    const pasted = await clipboardPicture(this.place.io.environment)
    if (pasted.ok) this.#screen.insert(`@"${pasted.path}" `)
    else this.#log.notice(pasted.why)
  }

  async #whileBusy(input: string, isCommand: boolean): Promise<void> {
    if (isExitLine(input)) return this.leave()
    if (isCommand)
      return this.#log.notice('A turn is running; press esc to interrupt it, then run the command')
    const queued = await attemptWork(() => this.#conversation.queue(unescaped(input)))
    if (!queued.ok) return this.#log.complain(queued.message)
    this.#log.addInput(input, unescaped(input))
    this.#log.notice('Queued for the next step')
    this.#screen.setStatus({ queued: this.#screen.status.queued + 1 })
  }

  #interrupt(): void {
    if (this.#conversation.interrupt() || this.#stopCommand()) return
    const now = Date.now()
    if (this.#isLeft || now - this.#warnedAt < defaults.screen.leaveMs) return this.leave()
    this.#warnedAt = now
    this.#log.notice('Press ctrl+c again to exit')
  }

  /** Stops a command of ours that can be stopped; false where none runs. */
  #stopCommand(): boolean {
    for (const stop of this.#stoppable) stop()
    return this.#stoppable.size > 0
  }
}
