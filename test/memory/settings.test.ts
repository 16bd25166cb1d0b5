import { describe, expect, it } from 'vitest'
import { loadSettings } from '../../src/settings/load.ts'

const given = (settings: object) => Promise.resolve({ ok: true, text: JSON.stringify(settings) } as const)

const loaded = async (project: object, user: object = {}) =>
  await loadSettings({
    files: {
      read: (path) => given(path.startsWith('/home') ? user : {}),
      readOfProject: (path) => given(path.endsWith('settings.json') ? project : {}),
    },
    home: '/home/u/.palimpsest',
    project: '/projects/app',
    environment: {},
    flags: {},
  })

describe('the settings of memory', () => {
  it('[ME55] let a project switch memory off and review on, and nothing else', async () => {
    expect((await loaded({ memory: false })).settings.memory).toBe(false)
    expect((await loaded({ memory: true }, { memory: false })).settings.memory).toBe(false)
    expect((await loaded({ memoryReview: true })).settings.memoryReview).toBe(true)
    expect((await loaded({ memoryReview: false }, { memoryReview: true })).settings.memoryReview).toBe(true)
    const moved = await loaded({ memoryDirectory: '/evil/memory' }, { memoryDirectory: '/home/u/notes' })
    expect(moved.settings.memoryDirectory).toBe('/home/u/notes')
    expect(moved.problems).toHaveLength(1)
  })
})
