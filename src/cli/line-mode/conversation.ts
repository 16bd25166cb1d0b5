// `pal` alone: the agent in plain lines. At a terminal what is typed while a turn runs is queued, durably, and reaches
// the model in that turn; from a pipe each line is a turn of its own. Ctrl-C stops the turn, and leaves where none runs.
// At a terminal what is not allowed is asked about, and the next line is the answer; from a pipe it is refused as with -p.
import type { Emit, LiveEvent } from '../../engine/live.ts'
import type { Session } from '../../engine/session.ts'
import type { Preset } from '../../preset.ts'
import { missingSandbox } from '../../preset/permission.ts'
import type { SessionId } from '../../transcript/ids.ts'
import { showNotice } from '../commands/undo.ts'
import { isExitLine, runOwnLine } from '../conversation/commands.ts'
import type { CommandContext } from '../conversation/context.ts'
import { hearWishes } from '../conversation/wishes.ts'
import { Conversation, attemptWork, reopen } from '../conversation/conversation.ts'
import { askTrust, waitingAtStart } from '../conversation/trust-commands.ts'
import { isOwnLine, unescaped } from '../conversation/input-line.ts'
import { complain, exits, type Exit } from '../exit-codes.ts'
import type { LoadedExtensions } from '../extensions/load.ts'
import { openPreset, type ConversationOptions, type OpenedPreset } from '../headless.ts'
import { createReporter } from '../output.ts'
import { revealed } from '../terminal/approval-text.ts'
import { diffOf } from '../terminal/change.ts'
import { failureText } from '../terminal/event-text.ts'
import { badBytes, withInterrupts, type Io, type Lines } from '../terminal/io.ts'
import { Notifier } from '../terminal/notification.ts'
import { safeLine, safeText } from '../terminal/safe-text.ts'
import type { FolderContent } from '../trust/deciding.ts'
import type { Workplace } from '../workplace/workplace.ts'
import { createLineQuestions, type LineQuestions } from './question.ts'

export async function converseInLines(io: Io, options: ConversationOptions): Promise<Exit> {
  const listen = (event: LiveEvent): void => showNotice(io, event)
  const questions = createLineQuestions(io)
  const more = io.inIsTerminal ? { listen, askUser: questions.ask, interactive: true } : { listen }
  const open: Open = (how) => openPreset(io, how, more)
  const opened = await open(options)
  if (typeof opened === 'number') return opened
  const lines = new LineConversation(opened, options, questions, open)
  try {
    return await lines.run()
  } finally {
    await lines.close()
  }
}
type Open = (options: ConversationOptions) => Promise<OpenedPreset | Exit>

class LineConversation implements CommandContext {
  place: Workplace
  preset: Preset
  loaded: LoadedExtensions
  readonly decide: CommandContext['decide']
  #opened: OpenedPreset
  readonly #open: Open
  /** Lines that came while a command or a question was at work: they wait for its end. */
  readonly #later: string[] = []
  readonly #io: Io
  readonly #options: ConversationOptions
  readonly #questions: LineQuestions
  #lines: Lines | null = null
  #conversation: Conversation
  #running: Promise<void> | null = null
  #worst: Exit = exits.done
  #isLeft = false
  /** Commands at work that an interrupt stops. */
  readonly #stoppable = new Set<() => void>()

  constructor(opened: OpenedPreset, options: ConversationOptions, questions: LineQuestions, open: Open) {
    const { place, preset, loaded } = opened
    this.#opened = opened
    this.#open = open
    this.decide = place.io.inIsTerminal
      ? ({ title, subject, choices }) =>
          questions.choose(`${revealed(title)}\n\n${revealed(subject)}\n\n`, choices)
      : undefined
    this.loaded = loaded
    this.#questions = questions
    this.place = this.#stoppablePlace(place)
    this.preset = preset
    this.#io = place.io
    this.#options = options
    this.#conversation = new Conversation(preset, options, place.io)
  }

  async run(): Promise<Exit> {
    const stopListening = this.#io.onInterrupt(() => this.#interrupt())
    const stopWishes = hearWishes(this.place, () => this.begun())
    try {
      this.#io.err('pal: line mode; /help for commands\n')
      await missingSandbox(this.place, this.#io.environment, (line) => this.#io.err(`pal: ${line}\n`))
      const waiting = await waitingAtStart(this)
      if (waiting !== null) void this.#run(() => this.#trustAtStart(waiting))
      else if (this.#options.continue || this.#options.resume !== undefined) {
        const opened = await this.#act(async () => void (await this.session()))
        if (opened !== exits.done) return opened
      }
      await this.#listen()
      this.#questions.turnAway()
      await this.#running
      await this.#conversation.close()
      const session = this.begun()
      if (session !== null && this.#opened.unsaved === null)
        this.#io.err(`pal: session ${session.id}; continue with pal --continue\n`)
      // A person has seen what went wrong; a script has only the code.
      return this.#io.inIsTerminal && this.#worst !== exits.interrupted ? exits.done : this.#worst
    } finally {
      stopWishes()
      stopListening()
      this.#lines?.close()
    }
  }

  /** The next lines are the answer; the conversation begins behind it. */
  async #trustAtStart(waiting: FolderContent): Promise<void> {
    await this.#act(() => askTrust(this, waiting))
    if (this.#options.continue || this.#options.resume !== undefined) {
      const opened = await this.#act(async () => void (await this.session()))
      if (opened !== exits.done) this.leave()
      this.#worst = opened
    }
  }

  /** Opens everything anew with what is trusted now. The old is kept where that fails, and closed where it works. */
  async reload(): Promise<void> {
    const before = this.#opened
    const next = await reopen(before, this.#conversation, this.#open, this.#options)
    this.#opened = next.opened
    const { place, preset, loaded } = next.opened
    this.place = this.#stoppablePlace(place)
    this.preset = preset
    this.loaded = loaded
    this.#conversation = new Conversation(preset, next.options, place.io)
    await before.close()
    if (next.options.resume !== undefined) await this.session()
  }

  #stoppablePlace(place: Workplace): Workplace {
    return { ...place, io: withInterrupts(place.io, this.#stoppable) }
  }

  close(): Promise<void> {
    return this.#opened.close()
  }

  begun(): Session | null {
    return this.#conversation.begun()
  }

  session(): Promise<Session> {
    return this.#conversation.session()
  }

  change(to: SessionId | null): Promise<void> {
    return this.#conversation.change(to)
  }

  leave(): void {
    this.#isLeft = true
    this.#lines?.close()
  }

  async #listen(): Promise<void> {
    this.#prompt()
    for await (const input of this.#inputs()) {
      if (this.#isLeft) break
      if (this.#questions.take(input)) continue
      if (input.trim() === '') this.#prompt()
      else if (this.#running === null) {
        const running = this.#run(() => this.#take(input))
        // A pipe holds everything at once: each line waits for its turn.
        if (!this.#io.inIsTerminal) await running
      } else if (this.#conversation.isBusy || isExitLine(input)) await this.#whileBusy(input)
      else this.#later.push(input)
      if (this.#isLeft) break
    }
  }

  #run(work: () => Promise<void>): Promise<void> {
    const running = this.#runAll(work).finally(() => {
      this.#running = null
      this.#prompt()
    })
    this.#running = running
    return running
  }

  async #runAll(work: () => Promise<void>): Promise<void> {
    await work()
    for (let input = this.#later.shift(); input !== undefined; input = this.#later.shift())
      await this.#take(input)
  }

  /** Lines, joined where one ends with a backslash. */
  async *#inputs(): AsyncGenerator<string> {
    const begun: string[] = []
    // Read from the very moment they can come: what is read before anybody asks for it would be lost.
    this.#lines = this.#io.lines()
    let isWarned = false
    for await (const line of this.#lines) {
      if (line.includes('\uFFFD') && !isWarned) {
        isWarned = true
        this.#io.err(`pal: ${badBytes}\n`)
      }
      if (line.endsWith('\\')) {
        begun.push(line.slice(0, -1))
        continue
      }
      yield [...begun.splice(0), line].join('\n')
    }
    if (begun.length > 0) yield begun.join('\n')
  }

  async #take(input: string): Promise<void> {
    const exit = await this.#act(() =>
      isOwnLine(input) ? runOwnLine(this, input) : this.turn(unescaped(input)),
    )
    // The codes are in the order of what a script must know first.
    if (exit > this.#worst) this.#worst = exit
  }

  async #whileBusy(input: string): Promise<void> {
    if (isExitLine(input)) {
      this.#conversation.interrupt()
      return this.leave()
    }
    if (isOwnLine(input))
      return this.#io.err('pal: a turn is running; press Ctrl-C to interrupt it, or /quit to exit\n')
    if ((await this.#act(() => this.#conversation.queue(unescaped(input)))) === exits.done)
      this.#io.err('pal: queued\n')
  }

  turn(input: string): Promise<Exit> {
    const shown = this.#shown()
    return this.#conversation.turn(input, shown)
  }

  #shown(): Emit {
    const io = this.#io
    const reporter = createReporter({
      io,
      format: 'text',
      isVerbose: this.#options.isVerbose || io.errIsTerminal,
      session: this.begun()?.id ?? '',
      model: this.preset.modelId,
      scripted: this.place.access === null,
    })
    const notifier = new Notifier(this.place.settings, (text) => {
      if (io.errIsTerminal) io.err(text)
    })
    let answer = ''
    const say = (): void => {
      if (answer.trim() !== '') io.out(`${safeText(answer, { colours: io.outColours }).trimEnd()}\n`)
      answer = ''
    }
    return (event) => {
      if (event.type === 'request-start') answer = ''
      if (event.type === 'text-delta') answer += event.text
      // Whole answers only: a piece cannot be judged for what it does to a terminal.
      if (event.type === 'answer-end' || event.type === 'turn-end') say()
      reporter.event(event)
      notifier.hear(event)
      if (event.type === 'tool-end' && event.change !== undefined)
        io.err(`    ${safeLine(diffOf(event.change).title)}\n`)
      if (event.type === 'turn-end' && event.failure !== null) io.err(`pal: ${failureText(event.failure)}\n`)
    }
  }

  /** What is expected to fail is said and becomes a code. */
  async #act(work: () => Promise<Exit | void>): Promise<Exit> {
    const done = await attemptWork(work)
    return done.ok ? done.exit : complain(this.#io, done)
  }

  #interrupt(): void {
    if (this.#conversation.interrupt()) {
      this.#io.err('pal: interrupting; press Ctrl-C again to exit now\n')
      // Whoever stops a script does not want its next line.
      if (!this.#io.inIsTerminal) this.leave()
      return
    }
    if (this.#stoppable.size > 0) {
      for (const stop of this.#stoppable) stop()
      return
    }
    if (this.#running !== null) this.#io.exitNow(exits.interrupted)
    // Who wants to leave twice does not want to wait for memories.
    if (this.#isLeft) this.preset.memoryJobs.list.stopAll()
    this.#worst = exits.interrupted
    this.leave()
  }

  #prompt(): void {
    if (this.#io.inIsTerminal && !this.#isLeft) this.#io.err('> ')
  }
}
