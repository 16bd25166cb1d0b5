import { expect, it } from 'vitest'
import { machineFileSystem } from '../disk/fs.ts'
import type { Settings } from '../settings/schema.ts'
import { jobsOf } from './jobs.ts'

const keepsNotes = (settings: Settings, compactsByItself = true): boolean =>
  jobsOf({
    settings,
    home: '/home',
    files: { folder: '/sessions', isStores: true },
    hasModel: true,
    compactsByItself,
    fs: machineFileSystem,
    unique: () => 'x',
  }).notes !== undefined

it('[SN48] notes are kept only where they are asked for', () => {
  expect(keepsNotes({})).toBe(false)
  expect(keepsNotes({ notes: true })).toBe(true)
  expect(keepsNotes({ notesAsSummary: true })).toBe(true)
  expect(keepsNotes({ notesAsSummary: false })).toBe(false)
  expect(keepsNotes({ notesAsSummary: false, notes: true })).toBe(true)
  expect(keepsNotes({ notes: false })).toBe(false)
  expect(keepsNotes({ notes: true }, false)).toBe(false)
})
