// The numbers of agents and of the messages between them.
import { KB, minute, second } from './units.ts'

export const agentDefaults = {
  agents: {
    /** Agents a session remembers, those whose result was handed on first forgotten; and messages, by their ids. */
    rememberedAgents: 100,
    rememberedMessages: 512,
    /** What of a result stands in the parent's view: this much of its head and of its tail. */
    /** What an agent is asked to keep its report to. */
    reportChars: 3500,
    reportHeadChars: 3000,
    reportTailChars: 1000,
    /** What is kept of the words of one that did not finish, the newest. */
    saidChars: 20_000,
    /** Results handed on with one request; the others wait for the next. */
    resultsAtOnce: 8,
    /** Agents of one session that run at the same time. */
    running: 16,
    /** What one agent may take where its type says nothing else: requests, time, tokens with cache reads. */
    rounds: 100,
    ms: 60 * minute,
    tokens: 5_000_000,
    /** Longest label, name and task. */
    labelChars: 80,
    nameChars: 40,
    taskChars: 64 * KB,
    /** Longest file that declares a type, and how many of them are read. */
    typeBytes: 64 * KB,
    types: 100,
    /** What of an agent's memory is loaded. */
    memoryLines: 200,
    memoryBytes: 25_000,
    /** How often a running agent is asked what it is at, what the phrase may be, and what of its work is shown. */
    progressMs: 30 * second,
    progressLeastWords: 3,
    progressWords: 5,
    progressTokens: 40,
    progressCalls: 6,
    progressCallChars: 200,
    /** A git command is given up after this time. */
    gitMs: 60 * second,
    /** What a screen is shown of what an agent said and did. */
    followedEvents: 200,
  },
  mailbox: {
    /** Longest message, and how many may wait in one box. */
    messageBytes: 64 * KB,
    waiting: 1000,
    /** Longest one-line summary. */
    summaryChars: 120,
    /** Messages taken together. */
    batch: 32,
    /** Times a message is tried before it is set aside. */
    tries: 3,
    /** Messages that were acted on and are kept, so that one sent twice is known. */
    kept: 1000,
    /** A file that was begun and not finished for this long is nobody's any more. */
    unfinishedMs: 60 * minute,
    /** How often a box is looked at while its owner waits. */
    pollMs: second / 4,
  },
} as const
