// Text of others made fit for a terminal, a file and a prompt of system rank: no control sequence, no secret, no tag that
// a client would take for its own. Pure and without dependencies, since hooks load it at every call.
import { redact } from '../disk/redact.ts'
import { defusedMark } from '../transcript/fence.ts'

// Sequences that steer a terminal: with parameters, as a string up to its end, and of two characters.
// oxlint-disable-next-line no-control-regex
const sequences = /[\u001B\u009B]\[?[0-?]*[ -/]*[@-~]|\u001B[\]PX^_][^\u0007\u001B]*(?:\u0007|\u001B\\)?/gu
/** What is seen by nobody or turns the order of what is: control characters but tab and line end, marks of direction. */
const unseen =
  /(?![\t\n])\p{Cc}|[\u200B\u200E\u200F\u2028\u2029\u202A-\u202E\u2060\u2066-\u2069\uFEFF]|\p{Co}|[\u{E0000}-\u{E007F}]/gu

/** What a terminal shows as it stands. */
const withoutControls = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(sequences, '')
    .replaceAll('\r', '\n')
    .replace(unseen, '')
    .toWellFormed()

/** The same on one line. */
export const plainLine = (text: string): string => withoutControls(text).replaceAll(/\s+/g, ' ').trim()

/** Tags with which clients mark what does not come from the user; none may stand in what we quote. */
const clientTag =
  /<(?=\s*\/?\s*(?:hook_context|local-command-[a-z]+|command-[a-z]+|bash-[a-z]+|user-prompt-[a-z-]+|task-notification|environment_context|user_instructions|instructions|system|developer|assistant|human|function_[a-z]+|invoke|tool_[a-z]+)\b)/giu

/** Words as they may be written and quoted: without secrets, control characters and tags of the clients. */
export const quotable = (text: string): string =>
  redact(withoutControls(text)).text.replace(clientTag, defusedMark)

const plainPath = /^(?!.*(?:^|\/)\.\.(?:\/|$))[\p{L}\p{N}_.@~+/-]+$/u
/** A path that can say nothing but where something lies. */
export const isPlainPath = (path: string, most: number): boolean =>
  path.length > 0 && path.length <= most && plainPath.test(path)

/** The name of a program and nothing behind it. */
export const isProgramName = (name: string): boolean => /^[A-Za-z0-9_.+-]{1,40}$/.test(name)
