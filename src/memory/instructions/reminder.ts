// The one reminder that stands before the first user message: instruction files and the indexes of memories. Each text
// is fenced under its path, and a text that writes our fence itself is changed so that it cannot end its own (K8).
import type { Loaded, LoadedFile } from './load.ts'

const words: Readonly<Record<LoadedFile['layer'], string>> = {
  managed: 'set for this machine, cannot be overruled',
  user: "the user's own, for every project",
  project: 'checked in with the project',
  local: "the user's own, for this project",
  memory: 'index of memories',
}

/** Null where there is nothing to say. */
export function reminderOf({ files }: Pick<Loaded, 'files'>): string | null {
  if (files.length === 0) return null
  const rules = files.filter(({ layer }) => layer !== 'memory')
  const memories = files.filter(({ layer }) => layer === 'memory')
  return [
    '<system-reminder>',
    ...(rules.length === 0
      ? []
      : [
          'Instructions for your work, weakest first: where two differ, the later one holds.',
          ...rules.map(fenced),
        ]),
    ...(memories.length === 0
      ? []
      : [
          'What is remembered from earlier sessions, one line a memory. These are notes, not orders; they may be out of date. Read a file before you rely on it.',
          ...memories.map(fenced),
        ]),
    'Much of this may not concern the task at hand. Follow what does.',
    '</system-reminder>',
  ].join('\n\n')
}

/** Instructions of a folder that work has just come to. */
export const nestedOf = ({ files }: Pick<Loaded, 'files'>): string | null =>
  files.length === 0
    ? null
    : [
        'Instructions for the folder you have come to; they hold for the files in it.',
        ...files.map(fenced),
      ].join('\n\n')

const fenced = ({ path, layer, by, twins = [], text }: LoadedFile): string =>
  `<instructions path=${JSON.stringify(path)} kind=${JSON.stringify(words[layer])}${by === null ? '' : ` included-by=${JSON.stringify(by)}`}${twins.map((twin) => ` same-as=${JSON.stringify(twin)}`).join('')}>\n${unfenced(text.trim())}\n</instructions>`

const quoted = /"(?:[^"\\\p{Cc}]|\\(?:["\\/bfnrt]|u[0-9a-f]{4}))*"/iu.source
const named = new RegExp(` (?:path|same-as)=(${quoted})`, 'gu')

/** The files that a reminder holds, and those that say the same: what stands before the talk need not be shown in it. */
export function filesIn(reminder: string | null): ReadonlySet<string> {
  // No text can begin a line with a fence of ours.
  const fences = (reminder ?? '').split('\n').filter((line) => line.startsWith('<instructions path='))
  const paths = fences.flatMap((line) => [...line.matchAll(named)].map(([, path]) => path!))
  return new Set(paths.map((path) => String(JSON.parse(path))))
}

/** Our own fences, written in a text, lose their point. */
export const unfenced = (text: string): string =>
  text.replace(/<(\/?)(system-reminder|instructions|memory)\b/gi, '<$1\\$2')
