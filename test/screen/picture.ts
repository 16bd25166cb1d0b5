// What a person sees, as text to read in review: the window at the moments that matter, kept in test/golden/screens.
// `GOLDEN=write npx vitest run test/screen/flows.test.ts` writes them anew. What differs from run to run has a fixed text.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { until } from '../cli/pal.ts'
import type { SeenTerminal } from './terminal.ts'

const folder = join(import.meta.dirname, '..', 'golden', 'screens')
const isWriting = process.env['GOLDEN'] === 'write'
/** How long the window must stay as it is before it is written down. */
const quietMs = 1500

/** Ids, times and prices differ from run to run, and sizes with the length of the project's path. */
const settled = (text: string): string =>
  text
    .replaceAll(
      /[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[\da-f]{4}-[\da-f]{12}/g,
      '01a2b3c4-d5e6-7f80-9123-456789abcdef',
    )
    .replaceAll(/\b(?=\w*\d)[\da-f]{8}\b(?!-)/g, '89abcdef')
    .replaceAll(/pal-cli-\w{6}/g, 'pal-cli-000000')
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, '2026-01-02 03:04')
    .replaceAll(/\b\d\d:\d\d\b/g, '03:04')
    .replaceAll(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/gu, '⠋')
    .replaceAll(/\(\d+s · /g, '(1s · ')
    .replaceAll(/[\d.]+K of (\S+) \(\d+%\)/g, '5.0K of $1 (1%)')
    .replaceAll(/\b\d{4}(?= tokens)/g, '5000')
    .replaceAll(/cache \d+%/g, 'cache 90%')
    .replaceAll(/\$\d+\.\d{3,4}|\b\d{1,3}(?:,\d{3})+/g, (number) => number.replaceAll(/\d/g, '0'))

const windowOf = (seen: SeenTerminal): string =>
  settled(seen.lines().join('\n'))
    .replaceAll(/[^\S\n]+$/gm, '')
    .replaceAll(/\n+$/g, '')
    .replace(/^\n+/, '')

export interface Album {
  /** The window must be as the page has it; `isThere` tells, when pages are written, that it has come so far. */
  readonly picture: (seen: SeenTerminal, title: string, isThere: string | RegExp) => Promise<void>
  readonly close: () => void
}

export function openAlbum(name: string, columns: number): Album {
  const file = join(folder, `${name}-${columns}.txt`)
  const made: string[] = []
  const kept = isWriting ? '' : readFileSync(file, 'utf8')
  const sections = kept.split(/^={3} /m).slice(1)
  return {
    picture: async (seen, title, isThere) => {
      const isSeen = (): boolean =>
        typeof isThere === 'string' ? windowOf(seen).includes(isThere) : isThere.test(windowOf(seen))
      await until(isSeen, `${name}: ${String(isThere)}, but:\n${windowOf(seen)}\n`)
      const index = made.push(title) - 1
      if (isWriting) made[index] = `${title}\n${await quiet(seen)}\n`
      else {
        const wanted = sections[index] ?? ''
        const isSame = (): boolean => `${title}\n${windowOf(seen)}\n` === wanted
        await until(isSame, '').catch(() => undefined)
        expect(`${title}\n${windowOf(seen)}\n`).toBe(wanted)
      }
    },
    close: () => {
      if (!isWriting) return expect(made).toHaveLength(sections.length)
      mkdirSync(folder, { recursive: true })
      writeFileSync(file, made.map((section) => `=== ${section}`).join(''))
    },
  }
}

async function quiet(seen: SeenTerminal): Promise<string> {
  let [last, since] = [windowOf(seen), performance.now()]
  await until(() => {
    const now = windowOf(seen)
    if (now !== last) [last, since] = [now, performance.now()]
    return performance.now() - since > quietMs
  })
  return last
}
