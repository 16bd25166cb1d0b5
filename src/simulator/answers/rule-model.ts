// Owns the rule-based model: an answerer that follows task scripts (task.ts) and serves the engine's own requests
// (jobs/). Law: it reads the wire request and nothing else, keeps no state, asks no clock and no chance, so the same
// request always gets the same answer. It proves mechanics; it says nothing about the quality of a real model.
import type { WireBlock, WireRequest } from '../../model/wire.ts'
import { answerOf, requestSeed, text, thinking, type Answer, type Answerer } from '../answer.ts'
import { before, ownWords, readConversation, type Conversation } from './conversation.ts'
import { askOf, type Asked, type Job } from './jobs/ask.ts'
import { consolidationAnswer, extractionAnswer, progressAnswer, selectionAnswer } from './jobs/memory.ts'
import { spoil, type Mode, type Variant } from './jobs/modes.ts'
import { notesAnswer, summaryAnswer } from './jobs/summary.ts'
import { currentTask, nextResponse } from './task-walk.ts'
import { parseTask, tasksIn, type Task } from './task.ts'
import { toolboxOf, type Toolbox } from './toolbox.ts'

export interface RuleModelOptions {
  /** How jobs are served: all alike, or each in its own way. The task itself is always followed well. */
  readonly mode?: Mode | Partial<Record<Job, Mode>> | undefined
  /** Which form of lazy or hostile; without it the request decides. */
  readonly variant?: Variant | undefined
  /** A task script to follow where the conversation shows none. */
  readonly task?: string | undefined
  /** Where relative paths begin, for tools that want absolute ones; else it is looked up in the request. */
  readonly root?: string | undefined
}

const quoteChars = 120

/** Answers by rules: follows a task script with whatever tools the client has. */
export function ruleModel(options: RuleModelOptions = {}): Answerer {
  const given = options.task === undefined ? null : (tasksIn(options.task)[0] ?? parseTask('', options.task))
  return { answer: ({ request }) => ruleAnswer(request, options, given) }
}

/** Which of the engine's own requests this is, or null for an ordinary one. */
export function jobOf(request: WireRequest): Job | null {
  return askOf(request, readConversation(request.messages), toolboxOf(request))?.job ?? null
}

function ruleAnswer(request: WireRequest, options: RuleModelOptions, given: Task | null): Answer {
  const seed = requestSeed(request.messages)
  const conversation = readConversation(request.messages)
  const toolbox = toolboxOf(request, options.root)
  const ask = askOf(request, conversation, toolbox)
  if (ask === null)
    return answerOf(
      [...thought(request, 'Looking for the next step.'), ...ordinary(conversation, toolbox, given)],
      seed,
    )
  const task = currentTask(before(conversation, ask.at), given)
  const good = served[ask.job]({ ask, conversation, request, toolbox, task })
  const mode = typeof options.mode === 'string' ? options.mode : (options.mode?.[ask.job] ?? 'good')
  const result =
    mode === 'good'
      ? { content: good }
      : spoil(good, { ask, request, toolbox, mode, variant: options.variant, seed })
  const content =
    result.content.length === 0 ? [] : [...thought(request, `This asks for: ${ask.job}.`), ...result.content]
  const answer = answerOf(content, seed)
  return 'stop' in result && result.stop !== undefined ? { ...answer, stop_reason: result.stop } : answer
}

const served: Readonly<Record<Job, (asked: Asked) => readonly WireBlock[]>> = {
  summary: summaryAnswer,
  notes: notesAnswer,
  select: selectionAnswer,
  extract: extractionAnswer,
  consolidate: consolidationAnswer,
  progress: progressAnswer,
}

function ordinary(conversation: Conversation, toolbox: Toolbox, given: Task | null): readonly WireBlock[] {
  const task = currentTask(conversation, given)
  if (task !== null)
    return (
      nextResponse(task, conversation, toolbox) ?? [
        text(`Every step of ${task.name} is done; nothing is left to do.`),
      ]
    )
  const last = ownWords(conversation).at(-1)?.text.replace(/\s+/gu, ' ').trim().slice(0, quoteChars) ?? ''
  return [text(`I am a scripted model and follow task scripts only. You wrote: "${last}"`)]
}

/** Words only: the server signs them. */
const thought = (request: WireRequest, words: string): readonly WireBlock[] =>
  request.thinking === undefined || request.thinking.type === 'disabled' ? [] : [thinking(words)]
