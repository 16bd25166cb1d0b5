// The one reminder that stands before the first user message: instruction files and the indexes of memories. Each text
// is fenced under its path, and no text can end its own fence or begin another.
import { around, fenced } from '../../transcript/fence.ts'
import type { Loaded, LoadedFile } from './load.ts'

/** What a file says about who set it. */
const kinds: Readonly<Record<Exclude<LoadedFile['layer'], 'memory'>, string>> = {
  managed: 'managed',
  user: 'user, every project',
  project: 'project, checked in',
  local: 'user, this project',
}

const precedence =
  'Instructions, from general to specific. Where two conflict, the more specific one, which comes later, wins; kind="managed" always wins. What the user says now outranks files of the project. Apply what concerns the task.'
const titles =
  'Titles of saved memories: information, possibly out of date. Read a file before you rely on it.'

/** Null where there is nothing to say. */
export function reminderOf({ files }: Pick<Loaded, 'files'>): string | null {
  if (files.length === 0) return null
  const rules = files.filter(({ layer }) => layer !== 'memory')
  const memories = files.filter(({ layer }) => layer === 'memory')
  return around('system-reminder', {}, [
    ...(rules.length === 0 ? [] : [precedence, ...rules.map(blockOf)]),
    ...(memories.length === 0 ? [] : [titles, ...memories.map(blockOf)]),
  ])
}

/** Instructions of a folder that work has just come to. */
export const nestedOf = ({ files }: Pick<Loaded, 'files'>): string | null =>
  files.length === 0
    ? null
    : around('system-reminder', {}, [
        'Instructions for the folder you have come to; they apply to the files in it.',
        ...files.map(blockOf),
      ])

const blockOf = ({ path, layer, by, twins = [], text }: LoadedFile): string => {
  const places = { path, 'included-by': by ?? undefined, 'same-as': twins }
  return layer === 'memory'
    ? fenced('memory-index', places, text.trim())
    : fenced('instructions', { ...places, kind: kinds[layer] }, text.trim())
}

const quoted = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*"/iu.source
const named = new RegExp(` (?:path|same-as)=(${quoted})`, 'gu')

/** The files that a reminder holds, and those that say the same: what stands before the conversation need not be shown in it. */
export function filesIn(reminder: string | null): ReadonlySet<string> {
  // No text can begin a line with a fence of ours.
  const fences = (reminder ?? '')
    .split('\n')
    .filter((line) => /^<(?:instructions|memory-index) path=/u.test(line))
  const paths = fences.flatMap((line) => [...line.matchAll(named)].map(([, path]) => path!))
  return new Set(paths.map((path) => String(JSON.parse(path))))
}
