// Text of others made fit for a terminal, a file and a prompt of system rank: no control sequence, no secret, no tag that
// a client would take for its own, nothing that the companion said itself; and paths and programs as plain names. Pure and
// without dependencies, since hooks load it at every call.
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

/** A path as it stands below the folder of work; others stay as they are. */
export const belowFolder = (path: string, folder: string | null): string =>
  folder !== null && path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path

/** What only leads up to the program of a command line: the first ones have arguments of their own, the others none. */
const leadingCommands = new Set(['cd', 'export', 'source', 'set'])
const leadingWords = new Set(['env', 'sudo', 'time', 'timeout', 'nohup', 'command', 'exec'])
const mostCommandChars = 4000

/** The program that a command line is about, without arguments and variables; empty where none can be told. */
export function programOf(command: string): string {
  for (const part of command.slice(0, mostCommandChars).split(/&&|\|\||[;\n|]/)) {
    for (const word of part.trim().split(/\s+/)) {
      if (word === '' || /^[A-Za-z_]\w*=/.test(word) || word.startsWith('-') || /^\d+[smh]?$/.test(word))
        continue
      if (leadingCommands.has(word)) break
      if (leadingWords.has(word)) continue
      const name = word.slice(word.lastIndexOf('/') + 1)
      return isProgramName(name) ? name : ''
    }
  }
  return ''
}

// ---- what the companion itself once said ----

const opening = /<companion id="[0-9a-f]{12}"[^>\n]*>/
const closing = '</companion>'

/** A text without what the companion said; one that was cut off ends there. Never read back as the user's. */
export function withoutOwnText(text: string): string {
  const parts: string[] = []
  let from = 0
  for (const { index } of text.matchAll(new RegExp(opening, 'g'))) {
    if (index < from) continue
    parts.push(text.slice(from, index))
    const end = text.indexOf(closing, index)
    from = end < 0 ? text.length : end + closing.length
  }
  return parts.length === 0 ? text : [...parts, text.slice(from)].join('').trim()
}
