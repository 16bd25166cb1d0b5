// From live events to what is shown: which block an event begins, grows or ends. A session that is gone on with shows its
// view the same way, so that a person sees what the model sees.
import type { Component } from '@earendil-works/pi-tui'
import type { LiveEvent } from '../../engine/live.ts'
import type { Message, View, ViewBlock } from '../../projection/view.ts'
import { defaults } from '../../settings/defaults.ts'
import type { FenceTag } from '../../transcript/fence.ts'
import { describeCall, failureText, memoryLine, replacement } from '../terminal/event-text.ts'
import { withInterrupts, type Io } from '../terminal/io.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { short } from '../terminal/tables.ts'
import { AnswerBlock, CallBlock, MessageBlock, NoticeBlock, outputBlock, outputIndent } from './blocks.ts'
import type { Screen } from './screen.ts'
import { afterEvent } from './status.ts'

export class Log {
  readonly #screen: Screen
  readonly #calls = new Map<string, CallBlock>()
  /** Messages in sight, oldest first, each with where it begins. */
  #messages: { readonly text: string; readonly block: Component }[] = []
  #answer: AnswerBlock | null = null
  #countdown: NodeJS.Timeout | null = null

  constructor(screen: Screen) {
    this.#screen = screen
  }

  hear(event: LiveEvent): void {
    const { theme } = this.#screen
    this.#stopCountdown()
    switch (event.type) {
      case 'request-start':
        this.#answer = null
        this.#screen.setBusy('thinking')
        break
      case 'text-delta':
        this.#said().say(event.text)
        break
      case 'thinking-delta':
        this.#said().think(event.text)
        break
      case 'answer-end':
        this.#answer?.end()
        break
      case 'tool-start':
        this.#begin(event.id, event.name, event.input)
        break
      case 'tool-progress':
        this.#calls.get(event.id)?.report(event.text)
        break
      case 'tool-end':
        this.#calls.get(event.id)?.end(event.text, event.isError, event.change)
        this.#calls.delete(event.id)
        break
      case 'view-edit':
        this.notice(
          `~ ${event.layer}: ${event.why} (${short(event.tokensFreed)} tokens freed; /undo ${event.seq})`,
        )
        break
      case 'compaction':
        // One that was asked for is told by whoever asked.
        if (event.trigger !== 'manual') this.notice(compactionLine(event))
        break
      case 'retry-wait':
        this.#count(event.attempt, event.waitMs, event.failure.message)
        break
      case 'memory':
        this.notice(memoryLine(event))
        break
      case 'notice':
        this.notice(event.message)
        break
      case 'turn-end':
        this.#end(event)
    }
    this.#screen.setStatus(afterEvent(this.#screen.status, event))
    if (event.type === 'turn-end' && event.failure !== null)
      this.#screen.add(new NoticeBlock(failureText(event.failure), theme.bad))
  }

  /** What was typed, and what the model gets of it; null for a line that is for pal. */
  addInput(typed: string, message: string | null = typed): void {
    this.#answer = null
    const block = new MessageBlock(typed, this.#screen.theme)
    if (message !== null) this.#messages.push({ text: withoutBlanks(message), block })
    this.#screen.add(block)
  }

  /** Removes the newest messages, which must be these, with all that followed them; false where others are in sight. */
  removeMessages(texts: readonly string[]): boolean {
    const from = this.#messages.length - texts.length
    const left = this.#messages.slice(Math.max(0, from))
    const [first] = left
    if (from < 0 || first === undefined || left.some(({ text }, at) => text !== withoutBlanks(texts[at]!)))
      return false
    this.#messages = this.#messages.slice(0, from)
    this.#screen.removeFrom(first.block)
    return true
  }

  notice(message: string): void {
    this.#screen.add(new NoticeBlock(safeLine(message), this.#screen.theme.faint))
  }

  complain(message: string): void {
    this.#screen.add(new NoticeBlock(message, this.#screen.theme.bad))
  }

  /** Nothing of before, and then what the model sees. */
  showAlone(view: View): void {
    this.#screen.clear()
    this.#messages = []
    this.show(view)
  }

  /** What the model sees of the part before, newest last. */
  show(view: View): void {
    for (const message of view.messages) this.#message(message)
    for (const call of this.#calls.values()) call.end('', false)
    this.#calls.clear()
    this.#answer = null
  }

  #message(message: Message): void {
    for (const part of message.parts) {
      if (part.kind === 'input') this.addInput(textOf(part.blocks))
      else if (part.kind === 'edit') this.notice(firstLine(textOf(part.blocks), '~ summary: '))
      else if (part.kind === 'injected') {
        const line = injectedLine(textOf(part.blocks))
        if (line !== null) this.notice(line)
      } else for (const block of part.blocks) this.#block(block)
    }
  }

  #block(block: ViewBlock): void {
    if (block.type === 'tool_result' && 'tool_use_id' in block) {
      this.#calls.get(block.tool_use_id)?.end(textOf(block.content), block.is_error)
      this.#calls.delete(block.tool_use_id)
    } else if (block.type === 'tool_use' && 'input' in block && 'name' in block && 'id' in block)
      this.#add(block.id, block.name, block.input)
    else if (block.type === 'text' && 'text' in block) {
      this.#answer = null
      this.#said().say(block.text)
    }
  }

  #said(): AnswerBlock {
    if (this.#answer !== null) {
      this.#screen.draw()
      return this.#answer
    }
    this.#answer = new AnswerBlock(this.#screen.theme)
    this.#screen.add(this.#answer)
    return this.#answer
  }

  /** A call that runs now. */
  #begin(id: string, name: string, input: unknown): void {
    this.#screen.setBusy(safeLine(describeCall(name, input)).slice(0, defaults.cli.columns))
    this.#add(id, name, input)
  }

  #add(id: string, name: string, input: unknown): void {
    const call = new CallBlock(name, input, this.#screen.theme)
    this.#calls.set(id, call)
    this.#answer = null
    this.#screen.add(call)
  }

  #end(event: LiveEvent & { type: 'turn-end' }): void {
    this.#screen.setBusy(null)
    this.#answer?.end()
    this.#answer = null
    for (const call of this.#calls.values()) call.end('stopped', true)
    this.#calls.clear()
    if (event.outcome === 'aborted') this.notice('Interrupted. What should I do instead?')
  }

  #count(attempt: number, waitMs: number, why: string): void {
    const second = 1000
    let left = Math.ceil(waitMs / second)
    const say = (): void => this.#screen.setBusy(`${safeLine(why)}; attempt ${attempt} in ${left} s`)
    say()
    this.#countdown = setInterval(() => {
      left = Math.max(0, left - 1)
      say()
    }, second)
  }

  #stopCountdown(): void {
    if (this.#countdown !== null) clearInterval(this.#countdown)
    this.#countdown = null
  }
}

function compactionLine(event: LiveEvent & { type: 'compaction' }): string {
  const { source, tokensBefore, tokensAfter, retention, seq } = event
  const kept = retention === null ? '' : `, ${Math.round(retention * 100)}% of checked details retained`
  return `~ compacted: ${short(tokensBefore)} tokens became ${short(tokensAfter)} (${replacement(source)}${kept}); /undo ${seq} restores it`
}

/** Pieces of a message are joined in more than one way. */
const withoutBlanks = (text: string): string => text.replaceAll(/\s+/g, '')

const textOf = (blocks: readonly ViewBlock[]): string =>
  blocks
    .flatMap((block) =>
      block.type === 'text' && 'text' in block
        ? [block.text]
        : block.type === 'image' || block.type === 'document'
          ? [`[${block.type}]`]
          : [],
    )
    .join('\n')

/** Blocks for the model alone: nobody was shown them when they came. */
const silentTags = new Set<string>([
  'mode',
  'instructions',
  'memory-index',
  'git-state',
  'agent-list',
  'mcp-server',
  'system-reminder',
] satisfies FenceTag[])

/** What the program put before the model, by its kind and name; null where a person has no use for it. */
function injectedLine(text: string): string | null {
  const [, tag, attributes = ''] = /^\s*<([a-z-]+)([^>]*)>/.exec(text) ?? []
  if (tag === undefined) return firstLine(text, '~ ')
  if (silentTags.has(tag)) return null
  const name = /\b(?:path|name|label|from)="([^"]*)"/.exec(attributes)?.[1]
  return `~ ${tag.replaceAll('-', ' ')}${name === undefined ? '' : `: ${name}`}`
}

const firstLine = (text: string, mark: string): string => {
  const line = text.trim().split('\n')[0] ?? ''
  return `${mark}${line.slice(0, defaults.cli.columns * 2).toWellFormed()}`
}

// ---- the `Io` of a command on the screen: it writes to the log, has the room of the log, and hears the keys that interrupt ----

/** A window may be made as small as one likes. */
const leastColumns = 12

export function loggingIo(io: Io, screen: Screen, stoppable: Set<() => void>): Io {
  const write = (text: string): void => screen.add(outputBlock(text, io.outColours))
  return {
    ...withInterrupts(io, stoppable),
    out: write,
    err: write,
    get columns() {
      return Math.max(leastColumns, screen.columns - outputIndent * 2)
    },
  }
}
