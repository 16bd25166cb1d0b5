// The screen itself: a log that grows, a place for the editor or a question, and the status line. It knows components
// and keys, and nothing of sessions. The main buffer of the terminal is used, so that the log scrolls like other output.
import {
  Container,
  Editor,
  isKeyRelease,
  Loader,
  matchesKey,
  ProcessTerminal,
  Spacer,
  TuiMainScreen,
  type AutocompleteProvider,
  type Component,
  type Terminal,
} from '@earendil-works/pi-tui'
import { defaults } from '../../settings/defaults.ts'
import type { Question } from '../conversation/context.ts'
import { isDense, isFoldable } from './blocks.ts'
import { busyLine, busyMs, statusLine, type Status } from './status.ts'
import { DecisionBlock, isTyped } from './decision.ts'
import { pendingAnswer, PickerBlock } from './question.ts'
import { segmentInPieces } from './segments.ts'
import type { Theme } from './theme.ts'

export interface ScreenEars {
  readonly submitted: (text: string) => void
  /** Escape, where no question is open. */
  readonly escaped: () => void
  /** Ctrl-C with an empty editor. */
  readonly interrupted: () => void
  /** Ctrl-D with an empty editor. */
  readonly ended: () => void
  /** Shift-Tab. */
  readonly modeWanted: () => void
  /** Ctrl-V: there may be a picture in the clipboard. */
  readonly pictureWanted: () => void
  /** Ctrl-Z. */
  readonly suspended: () => void
}

interface OpenDecision {
  readonly block: Component & Pick<DecisionBlock<unknown>, 'isArmed' | 'arm'>
  /** Somebody types for the prompt: from now on only Tab leads to the question. */
  isTypedPast: boolean
}

export class Screen {
  readonly theme: Theme
  readonly #tui: TuiMainScreen
  readonly #log = new Container()
  readonly #place = new Container()
  readonly #editor: Editor
  readonly #busy: Loader
  readonly #ears: ScreenEars
  #status: Status
  #isOpen = false
  #isStopping = false
  /** Questions that wait for the one that is shown. */
  readonly #waiting: (() => void)[] = []
  #isAsking = false
  /** Ends the question that is shown without an answer. */
  #turnAway: (() => void) | null = null
  #asksNobody = false
  /** The decision that is open. */
  #decision: OpenDecision | null = null
  #busyText: string | null = null
  /** Since when something goes on, and what counts the seconds beside it. */
  #busySince: number | null = null
  #counting: NodeJS.Timeout | null = null
  /** When a key last went to the editor. */
  #typedAt = -Infinity

  constructor(theme: Theme, status: Status, ears: ScreenEars, terminal: Terminal = new ProcessTerminal()) {
    segmentInPieces()
    this.theme = theme
    this.#ears = ears
    this.#status = status
    this.#tui = new TuiMainScreen(terminal)
    this.#editor = new Editor(this.#tui, theme.editor)
    this.#editor.onSubmit = (text) => ears.submitted(text)
    this.#busy = new Loader(this.#tui, theme.accent, theme.faint, '')
    this.#busy.stop()
    this.#place.addChild(this.#editor)
    this.#tui.addChild(this.#log)
    this.#tui.addChild(this.#place)
    this.#tui.addChild({
      render: (width) => (this.#isStopping ? [] : [statusLine(this.#status, this.theme, width)]),
      invalidate: () => undefined,
    })
    this.#tui.addInputListener((data) => (this.#isKey(data) ? { consume: true } : undefined))
  }

  start(): void {
    this.#tui.start()
    this.#tui.setFocus(this.#editor)
  }

  /** Gives the terminal back as it was found. */
  async stop(): Promise<void> {
    this.setBusy(null)
    this.#isStopping = true
    this.#place.clear()
    this.#tui.renderNow()
    await this.#tui.terminal.drainInput()
    // Left to itself the library blanks the cell at the cursor, which is the first one of the last line.
    this.#tui.terminal.write('\r\n\r\n')
    this.#tui.stop({ preserveScreen: true })
  }

  /** For a program of the user's own (an editor) that needs the terminal meanwhile. */
  async lend<T>(work: () => Promise<T>): Promise<T> {
    this.#tui.stop()
    try {
      return await work()
    } finally {
      this.#tui.start()
      this.#tui.requestRender(true)
    }
  }

  /** Apart from what stands above by a blank line, unless both are of one kind and belong together. */
  add(component: Component): void {
    const above = this.#log.children.at(-1)
    const belongs = above !== undefined && above.constructor === component.constructor && isDense(component)
    if (above !== undefined && !belongs) this.#log.addChild(new Spacer(1))
    if (isFoldable(component)) component.setOpen(this.#isOpen)
    this.#log.addChild(component)
    this.draw()
  }

  /** Removes a component and everything below it. */
  removeFrom(component: Component): void {
    const at = this.#log.children.indexOf(component)
    if (at < 0) return
    this.#log.children.splice(at)
    // What kept it apart from what stands above.
    if (this.#log.children.at(-1) instanceof Spacer) this.#log.children.pop()
    this.draw()
  }

  /** The log begins anew, and the terminal's scrollback with it. */
  clear(): void {
    this.#log.clear()
    this.#tui.requestRender(true)
  }

  draw(): void {
    this.#tui.requestRender()
  }

  /** For what is no part of the picture, as the bell. */
  send(sequence: string): void {
    this.#tui.terminal.write(sequence)
  }

  get columns(): number {
    return this.#tui.terminal.columns
  }

  get status(): Status {
    return this.#status
  }

  setStatus(change: Partial<Status>): void {
    this.#status = { ...this.#status, ...change }
    this.draw()
  }

  /** A line that moves while something goes on, with the time since it began; null takes it away. */
  setBusy(message: string | null): void {
    this.#busyText = message
    this.#busySince = message === null ? null : (this.#busySince ?? performance.now())
    if (this.#counting !== null) clearInterval(this.#counting)
    this.#counting = null
    this.#place.removeChild(this.#busy)
    // Nothing moves above a question: a terminal that is scrolled back to read it would jump.
    if (message === null || this.#decision !== null) this.#busy.stop()
    else {
      const line = (): string => busyLine(message, this.#busySince, this.columns)
      this.#busy.setMessage(line())
      this.#counting = setInterval(() => this.#busy.setMessage(line()), busyMs)
      this.#busy.start()
      this.#place.children.unshift(this.#busy)
    }
    this.draw()
  }

  get isAsking(): boolean {
    return this.#isAsking
  }

  setInput(text: string): void {
    this.#editor.setText(text)
    this.draw()
  }

  insert(text: string): void {
    this.#editor.insertTextAtCursor(text)
    this.draw()
  }

  remember(inputs: readonly string[]): void {
    for (const input of inputs) this.#editor.addToHistory(input)
  }

  offer(provider: AutocompleteProvider): void {
    this.#editor.setAutocompleteProvider(provider)
  }

  /** Nothing is asked from now on: what waits for an answer gets none. */
  endQuestions(): void {
    this.#asksNobody = true
    this.#turnAway?.()
  }

  /** One question at a time; the others wait. Null: the person turned away, or the asker gave up. */
  async ask<T>(question: Question<T>, signal?: AbortSignal): Promise<T | null> {
    // A list without rows would only swallow keys.
    if (question.choices.length === 0) return null
    if (this.#isAsking) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    if (signal?.aborted === true || this.#asksNobody) return this.#next(null)
    this.#isAsking = true
    const answer = await (question.subject === ''
      ? this.#pick(question, signal)
      : this.#decide(question, signal))
    this.#tui.setFocus(this.#editor)
    this.setBusy(this.#busyText)
    return this.#next(answer)
  }

  /** A list in place of the editor. */
  async #pick<T>(question: Question<T>, signal?: AbortSignal): Promise<T | null> {
    const { promise, resolve } = pendingAnswer<T>(signal)
    this.#turnAway = () => resolve(null)
    const typed = (data: string): void => this.#editor.handleInput(data)
    const block = new PickerBlock(question, this.theme, { answered: resolve, typed }, this.columns)
    this.#place.removeChild(this.#editor)
    this.#place.addChild(block)
    this.#tui.setFocus(block)
    this.draw()
    const answer = await promise
    this.#place.removeChild(block)
    this.#place.addChild(this.#editor)
    return answer
  }

  /** A question above the editor, which keeps what is typed for something else. */
  async #decide<T>(question: Question<T>, signal?: AbortSignal): Promise<T | null> {
    const { promise, resolve } = pendingAnswer<T>(signal)
    this.#turnAway = () => resolve(null)
    let arming: NodeJS.Timeout | undefined
    const block = new DecisionBlock(question, this.#tui, this.theme, {
      answered: resolve,
      typed: (keys) => {
        this.#typeOn()
        this.#tui.setFocus(this.#editor)
        for (const key of keys) this.#editor.handleInput(key)
      },
      drawn: () => {
        const { inSightMs, quietMs } = defaults.screen
        const wait = Math.max(inSightMs, this.#typedAt + quietMs - performance.now())
        arming = setTimeout(() => setImmediate(() => this.#arm(block)), wait)
      },
      writing: () => this.#place.removeChild(this.#editor),
      hasDraft: () => this.#editor.getText() !== '',
    })
    this.#decision = { block, isTypedPast: false }
    this.#place.children.splice(this.#place.children.indexOf(this.#editor), 0, block)
    this.setBusy(this.#busyText)
    const answer = await promise
    clearTimeout(arming)
    this.#decision = null
    this.#place.children = [this.#editor]
    return answer
  }

  #typeOn(): void {
    this.#typedAt = performance.now()
    if (this.#decision !== null) this.#decision.isTypedPast = true
  }

  /** The keys go to the question, unless something is typed, read after a standstill too: that goes on until Tab. */
  #arm(block: OpenDecision['block']): void {
    if (this.#decision?.block !== block || this.#decision.isTypedPast || this.#editor.getText() !== '') return
    this.#answer(this.#decision)
  }

  #answer({ block }: OpenDecision): void {
    block.arm()
    this.#tui.setFocus(block)
    this.draw()
  }

  #next<T>(answer: T): T {
    this.#isAsking = false
    this.#turnAway = null
    this.#waiting.shift()?.()
    return answer
  }

  #isKey(data: string): boolean {
    if (isKeyRelease(data)) return false
    if (matchesKey(data, 'ctrl+o')) return this.#fold()
    if (matchesKey(data, 'ctrl+z')) return this.#heard(this.#ears.suspended)
    if (this.#decision !== null) return this.#isKeyOfDecision(this.#decision, data)
    if (isTyped(data)) this.#typeOn()
    if (matchesKey(data, 'ctrl+c')) return this.#interrupt()
    if (this.#isAsking) return false
    if (matchesKey(data, 'escape'))
      return !this.#editor.isShowingAutocomplete() && this.#heard(this.#ears.escaped)
    if (matchesKey(data, 'ctrl+d') && this.#editor.getText() === '') return this.#heard(this.#ears.ended)
    if (matchesKey(data, 'shift+tab')) return this.#heard(this.#ears.modeWanted)
    if (matchesKey(data, 'ctrl+v')) return this.#heard(this.#ears.pictureWanted)
    return false
  }

  #isKeyOfDecision(decision: OpenDecision, data: string): boolean {
    const { block } = decision
    const isCompleting = !block.isArmed && this.#editor.isShowingAutocomplete()
    if (matchesKey(data, 'ctrl+c') || (matchesKey(data, 'escape') && !isCompleting))
      return this.#heard(() => this.#turnAway?.())
    if (block.isArmed) return false
    if (matchesKey(data, 'tab') && !isCompleting) return this.#heard(() => this.#answer(decision))
    if (isTyped(data)) this.#typeOn()
    return false
  }

  #heard(ear: () => void): true {
    ear()
    return true
  }

  #fold(): true {
    this.#isOpen = !this.#isOpen
    for (const child of this.#log.children) if (isFoldable(child)) child.setOpen(this.#isOpen)
    this.#tui.requestRender(true)
    return true
  }

  #interrupt(): boolean {
    if (this.#isAsking) return false
    if (this.#editor.getText() === '') return this.#heard(this.#ears.interrupted)
    this.#editor.setText('')
    this.draw()
    return true
  }
}
