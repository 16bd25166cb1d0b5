// What a person types: the files and pictures named in it, a picture from the clipboard, what the editor completes, and
// what was typed before.
import { jsonIn } from '../../transcript/json.ts'
import { execFile } from 'node:child_process'
import { mkdtemp, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import {
  CombinedAutocompleteProvider,
  fuzzyFilter,
  type AutocompleteProvider,
  type SlashCommand,
} from '@earendil-works/pi-tui'
import type { Session } from '../../engine/session.ts'
import { attempt, makeFolders, type FileSystem } from '../../disk/fs.ts'
import { replaceFile } from '../../disk/replace.ts'
import { defaults } from '../../settings/defaults.ts'
import { walkFiles } from '../../tools/search/scan.ts'
import { safeLine } from '../terminal/safe-text.ts'
import { shortPath } from '../terminal/tables.ts'
import { readText } from '../workplace/files.ts'

// ---- files and pictures named in the text ----

/** @path or @"path with blanks". */
const mention = /(?:^|(?<=[\s(]))@(?:"([^"\n]+)"|([^\s"]+))/g
const picture = /\.(?:png|jpe?g|gif|webp)$/i
/** What a dropped file looks like: one path alone in a line, quoted or with its blanks escaped. */
const dropped = /^\s*(?:'([^'\n]+)'|"([^"\n]+)"|(\/(?:\\.|[^\s\\])+))\s*$/gm

export interface Named {
  /** As it was written. */
  readonly written: string
  readonly path: string
  readonly isPicture: boolean
}

/**
 * Each once, in the order they were written; also the bare path of a picture that was dropped on the terminal. The text
 * stays as it was typed, what it names is added to it.
 */
export function namedIn(text: string, cwd: string, userHome: string): readonly Named[] {
  const at = (written: string): Named => {
    // A mark that ends a sentence is no part of a name.
    const plain = written.replace(/[.,;:!?)]+$/, '')
    return { written: plain, path: pathOf(plain, cwd, userHome), isPicture: picture.test(plain) }
  }
  const mentioned = [...text.matchAll(mention)].map((found) => at(found[1] ?? found[2] ?? ''))
  const pictures = [...text.matchAll(dropped)]
    .map((found) => at(found[1] ?? found[2] ?? (found[3] ?? '').replaceAll(/\\(.)/g, '$1')))
    .filter(({ isPicture }) => isPicture)
  const all = [...mentioned, ...pictures].filter(({ written }) => written !== '')
  return all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index)
}

/** Shows the files to the model; a line for each says what became of it. */
export async function attachNamed(
  named: readonly string[],
  userHome: string,
  session: Pick<Session, 'attachFiles'>,
): Promise<readonly string[]> {
  const unread = await session.attachFiles(named)
  return named.map((path) => {
    const shown = shortPath(path, userHome)
    return unread.includes(path)
      ? `${shown} could not be attached; the model sees only its name`
      : `attached: ${shown}`
  })
}

function pathOf(written: string, cwd: string, userHome: string): string {
  if (written.startsWith('~/')) return resolve(userHome, written.slice(2))
  return isAbsolute(written) ? written : resolve(cwd, written)
}

/** Of what looks like a path, what is one. */
export async function existing(named: readonly Named[]): Promise<readonly string[]> {
  const found = await Promise.all(
    named.map(({ path }) =>
      stat(path).then(
        (there) => (there.isFile() ? [path] : []),
        () => [],
      ),
    ),
  )
  return found.flat()
}

// ---- a picture from the clipboard ----

const runProgram = promisify(execFile)
const programs: readonly (readonly [program: string, ...args: string[]])[] = [
  ['wl-paste', '--type', 'image/png'],
  ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out'],
  ['pngpaste', '-'],
  // What every macOS has; it writes the bytes as hexadecimal text.
  ['osascript', '-e', 'the clipboard as «class PNGf»'],
]
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47])
const ownerOnly = 0o600

type Pasted = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly why: string }

/**
 * Through whatever program of the machine can give one. It is written to a file of the user's temporary folder that only
 * they can read, and named in the input like any other.
 */
export async function clipboardPicture(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Pasted> {
  for (const [program, ...args] of programs) {
    const picture = await runProgram(program, args, {
      env: { ...environment },
      encoding: 'buffer',
      timeout: defaults.cli.probeMs,
      maxBuffer: defaults.cli.stdinBytes,
    }).then(
      ({ stdout }) => pictureIn(stdout),
      () => null,
    )
    if (picture === null || !picture.subarray(0, png.length).equals(png)) continue
    const path = join(await mkdtemp(join(tmpdir(), 'pal-picture-')), 'picture.png')
    await writeFile(path, picture, { mode: ownerOnly })
    return { ok: true, path }
  }
  return {
    ok: false,
    why: 'there is no picture in the clipboard, or no program to read it: wl-paste, xclip, pngpaste or osascript. The path of a picture works too: @picture.png',
  }
}

function pictureIn(bytes: Buffer): Buffer {
  const [, hex] =
    /^«data PNGf([0-9A-Fa-f]+)»\s*$/u.exec(bytes.subarray(0, 20).includes('PNGf') ? bytes.toString() : '') ??
    []
  return hex === undefined ? bytes : Buffer.from(hex, 'hex')
}

// ---- completion: commands after a slash, paths, and files of the project after an @ ----

const atWord = /(?:^|[\s(])@("?)([^"\s]*)$/

/** How a command is written, and what it is for. */
interface SlashText {
  readonly usage: string
  readonly about: string
}

export function completionOf(
  commands: readonly SlashText[],
  cwd: string,
  fs: FileSystem,
): AutocompleteProvider {
  const inner = new CombinedAutocompleteProvider(commands.map(slashCommand), cwd, null)
  return {
    triggerCharacters: ['@'],
    getSuggestions: async (lines, line, column, options) => {
      const before = (lines[line] ?? '').slice(0, column)
      const begun = atWord.exec(before)
      if (begun === null) return inner.getSuggestions(lines, line, column, options)
      const [, quote = '', word = ''] = begun
      const found = await filesLike(fs, cwd, word, options.signal)
      return {
        prefix: `@${quote}${word}`,
        items: found.map((path) => ({ value: mentionOf(path), label: safeLine(path) })),
      }
    },
    applyCompletion: (...given) => inner.applyCompletion(...given),
    shouldTriggerFileCompletion: (...given) => inner.shouldTriggerFileCompletion(...given),
  }
}

function slashCommand({ usage, about }: SlashText): SlashCommand {
  const [name = '', ...rest] = usage.slice(1).split(' ')
  return { name, description: about, ...(rest.length === 0 ? {} : { argumentHint: rest.join(' ') }) }
}

const mentionOf = (path: string): string => (/\s/.test(path) ? `@"${path}"` : `@${path}`)

async function filesLike(fs: FileSystem, cwd: string, word: string, signal: AbortSignal): Promise<string[]> {
  const { offeredPaths, lookedPaths } = defaults.screen
  const paths: string[] = []
  for await (const path of walkFiles(fs, cwd, signal)) {
    paths.push(relative(cwd, path))
    if (paths.length >= lookedPaths || signal.aborted) break
  }
  return fuzzyFilter(paths, word, (path) => path).slice(0, offeredPaths)
}

// ---- past inputs, for the up key: one JSON string a line, the newest last, in a file only the user can read ----
// Losing it loses nothing else, so a failure is a notice and never an error.

export interface PastInputsPlace {
  readonly fs: FileSystem
  /** The project's folder in the user's own. */
  readonly folder: string
  readonly unique: () => string
}

const ownerFolder = 0o700
const fileOf = ({ folder }: PastInputsPlace): string => join(folder, 'inputs.jsonl')

/** Oldest first; nothing where there is no file or it cannot be read. */
export async function pastInputs(place: PastInputsPlace): Promise<readonly string[]> {
  const read = await readText(place.fs, fileOf(place), defaults.screen.pastInputBytes)
  if (!read.ok || read.text === null) return []
  return read.text.split('\n').flatMap(inputIn).slice(-defaults.screen.pastInputs)
}

/** Null when it was kept, else why not. Another process may have added its own meanwhile: they stay. */
export async function keepInput(place: PastInputsPlace, input: string): Promise<string | null> {
  const before = (await pastInputs(place)).filter((past) => past !== input)
  const lines = [...before, input].slice(-defaults.screen.pastInputs).map((past) => JSON.stringify(past))
  const made = await attempt('keeping what was typed', async () => ({
    done: await makeFolders(place.fs, place.folder, ownerFolder),
  }))
  if (!made.ok) return made.failure.message
  const bytes = new TextEncoder().encode(`${withinBytes(lines).join('\n')}\n`)
  const kept = await replaceFile(place.fs, fileOf(place), bytes, { mode: ownerOnly, unique: place.unique })
  return kept.ok ? null : kept.failure.message
}

/** A huge paste must not make the file unreadable for the next time: the oldest go. */
function withinBytes(lines: readonly string[]): readonly string[] {
  let bytes = 0
  const from = lines.findLastIndex((line) => {
    bytes += Buffer.byteLength(line) + 1
    return bytes > defaults.screen.pastInputBytes
  })
  return lines.slice(from + 1)
}

function inputIn(line: string): readonly string[] {
  const value = jsonIn(line)
  return typeof value === 'string' && value !== '' ? [value] : []
}
