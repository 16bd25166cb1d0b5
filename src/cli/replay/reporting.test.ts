import { expect, it } from 'vitest'
import { progressOn } from './reporting.ts'

const played = (errIsTerminal: boolean): readonly string[] => {
  const written: string[] = []
  let now = 0
  const progress = progressOn({ errIsTerminal, err: (text) => void written.push(text) }, () => now)
  for (let done = 1; done <= 30; done++) {
    now += 1000
    progress.tell(`${done} of 30 sessions`)
  }
  progress.end()
  return written
}

it('[J36] a long measurement says how far it is, in place on a terminal and by a line now and then in a file', () => {
  expect(played(false)).toEqual(['10 of 30 sessions\n', '20 of 30 sessions\n', '30 of 30 sessions\n'])
  const shown = played(true)
  expect(shown).toHaveLength(31)
  expect(shown.at(-2)).toBe('\r\u001B[K30 of 30 sessions')
  expect(shown.at(-1)).toBe('\r\u001B[K')
})
