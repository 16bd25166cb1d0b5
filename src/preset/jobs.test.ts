import { expect, it } from 'vitest'
import { machineFileSystem } from '../disk/fs.ts'
import type { Settings } from '../settings/schema.ts'
import { jobsOf } from './jobs.ts'

const jobs = (settings: Settings, compactsByItself = true) =>
  jobsOf({
    settings,
    home: '/home',
    files: { folder: '/sessions', isStores: true },
    hasModel: true,
    compactsByItself,
    fs: machineFileSystem,
    unique: () => 'x',
  })
const keepsNotes = (...given: Parameters<typeof jobs>): boolean => jobs(...given).notes !== undefined

it('[SN48] notes are kept only where they are asked for', () => {
  expect(keepsNotes({})).toBe(false)
  expect(keepsNotes({ notes: true })).toBe(true)
  expect(keepsNotes({ notesAsSummary: true })).toBe(true)
  expect(keepsNotes({ notesAsSummary: false })).toBe(false)
  expect(keepsNotes({ notesAsSummary: false, notes: true })).toBe(true)
  expect(keepsNotes({ notes: false })).toBe(false)
  expect(keepsNotes({ notes: true }, false)).toBe(false)
})

it('[SN50] a model writes summaries only where it is asked for, or where instructions need one', () => {
  const only = (settings: Settings) => jobs(settings).summariser?.onlyWithInstructions
  expect(only({})).toBe(true)
  expect(only({ modelSummary: true })).toBe(false)
  expect(only({ summaryModel: 'claude-haiku-4-5' })).toBe(false)
  expect(jobs({ modelSummary: false }).summariser).toBeUndefined()
})
