// What the tests of the screen do: open it, say something, wait until something is shown.
import { afterEach, expect } from 'vitest'
import { until, type Workspace } from '../cli/pal.ts'
import { endAll, keys, runInTerminal, type SeenTerminal } from './terminal.ts'

afterEach(endAll)

export function open(at: Workspace, words: readonly string[] = [], columns = 100): SeenTerminal {
  return runInTerminal(process.execPath, [at.file, ...words], {
    cwd: at.project,
    // What works beside the talk would take answers that the script means for it.
    environment: { PALIMPSEST_EXTRACTION: 'off', PALIMPSEST_NOTES: 'off', ...at.environment },
    columns,
  })
}

export async function shows(seen: SeenTerminal, what: string | RegExp): Promise<void> {
  const isSeen = (): boolean => (typeof what === 'string' ? seen.all().includes(what) : what.test(seen.all()))
  await until(isSeen, String(what)).catch(() => {
    throw new Error(`${String(what)} was never shown, but:\n${seen.all()}`)
  })
}

/** Types the words, waits until they stand in the editor, and sends them. */
export async function say(seen: SeenTerminal, words: string): Promise<void> {
  seen.type(words)
  await until(() => seen.lines().some((line) => line.trim().startsWith(words.slice(0, 40))), words)
  seen.type(keys.enter)
}

/** Says it once the turn before has ended: an answer is shown before that, and what is said then waits in the queue. */
export async function sayNext(seen: SeenTerminal, words: string): Promise<void> {
  await turnEnded(seen)
  await say(seen, words)
}

const turnEnded = (seen: SeenTerminal): Promise<void> =>
  until(() => !/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/u.test(seen.lines().join('\n')), 'the turn to end')

export async function leave(seen: SeenTerminal): Promise<void> {
  await turnEnded(seen)
  seen.type(keys.ctrlD)
  expect(await seen.ended).toBe(0)
}

/** Whether it is in sight within the time; for expectations that name what did not come. */
export const sees = (seen: SeenTerminal, what: string | RegExp | (() => boolean)): Promise<boolean> =>
  until(() => {
    const window = seen.lines().join('\n')
    if (typeof what === 'function') return what()
    return typeof what === 'string' ? window.includes(what) : what.test(window)
  }, '').then(
    () => true,
    () => false,
  )

export const isShown = (seen: SeenTerminal, what: string): boolean => seen.lines().join('\n').includes(what)

/** Answers the question in sight as a person does: goes to it, selects by a letter, sees it selected, and confirms. */
export async function answer(seen: SeenTerminal, key: string, label: string): Promise<void> {
  seen.type(keys.tab)
  await until(() => isShown(seen, 'or a letter'), 'the question takes keys')
  seen.type(key)
  await until(() => isShown(seen, `→ ${label}`), `${label} is selected`)
  seen.type(keys.enter)
}
