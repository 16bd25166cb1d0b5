// A state folder that an earlier build wrote (`npm run state-folder` makes it) opens, and what is sent next is what that
// build would have sent, but for what this very request says anew (a year has passed: old results are cleared, large ones
// written out, an agent's late result delivered): that has the words of now. After such a change `GOLDEN=write` writes
// the rows; all others must stay.
import { cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import * as door from '../src/index.ts'
import * as testing from '../src/testing/index.ts'

type Rows = Readonly<Record<string, { readonly bytes: number; readonly sha256: string }>>
type NextRequests = (main: typeof door, testers: typeof testing, home: string) => Promise<Rows>

const fixture = join(import.meta.dirname, 'fixtures', 'state-50d1d98')
const scratch = mkdtempSync(join(tmpdir(), 'pal-earlier-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
const script = join(import.meta.dirname, '..', 'scripts', 'state-folder', 'next-requests.mjs')

const transcripts = (home: string): string[] =>
  readdirSync(join(home, 'projects')).flatMap((slug) => {
    const sessions = join(home, 'projects', slug, 'sessions')
    return readdirSync(sessions).map((id) => join(sessions, id, 'transcript.jsonl'))
  })

describe('a state folder of an earlier build', () => {
  it('[H33] holds every kind of fact that build could write, a checkpoint, a memory, mail and a spilled result', () => {
    const home = join(fixture, 'home')
    const kinds = new Set(
      transcripts(home).flatMap((file) =>
        [...readFileSync(file, 'utf8').matchAll(/"fact":\{"type":"([a-z-]+)"/g)].map((match) => match[1]!),
      ),
    )
    expect([...kinds].toSorted()).toEqual(
      (
        'agent-start assistant-message attachment boundary cache-break collapse-stage compaction-failed damage-found ' +
        'fork-end input-queued instructions-set memories-extracted memory-recall model-set notes-update permission pin ' +
        'release request-sent rewind session-start tool-result turn-end undo user-message view-edit'
      ).split(' '),
    )
    const files = readdirSync(home, { recursive: true }) as string[]
    for (const part of [
      'checkpoint.json',
      'tests.md',
      'ledger.jsonl',
      'mail',
      'tool-results',
      'settings.json',
    ])
      expect(
        files.some((file) => file.endsWith(part)),
        part,
      ).toBe(true)
  })

  it('[H33] opens, and the next request of each of its sessions has the same bytes', async () => {
    expect(existsSync(fixture)).toBe(true)
    cpSync(join(fixture, 'home'), scratch, { recursive: true })
    const { nextRequests } = (await import(pathToFileURL(script).href)) as { nextRequests: NextRequests }
    const expected = JSON.parse(readFileSync(join(fixture, 'next-requests.json'), 'utf8')) as Rows
    expect(Object.keys(expected).length).toBeGreaterThan(30)
    const rows = await nextRequests(door, testing, scratch)
    if (process.env['GOLDEN'] === 'write')
      writeFileSync(join(fixture, 'next-requests.json'), `${JSON.stringify(rows, null, 2)}\n`)
    else expect(rows).toEqual(expected)
  })
})
