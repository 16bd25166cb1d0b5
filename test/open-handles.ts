// No test file leaves an open file to the garbage collector: Node closes it then, warns, and will one day throw.
import { afterAll, expect } from 'vitest'

const left: string[] = []
process.on('warning', ({ message }) => {
  if (message.includes('garbage collection')) left.push(message)
})

afterAll(async () => {
  globalThis.gc?.()
  // Warnings are told in a later turn of the loop.
  await new Promise((resolve) => setTimeout(resolve, 0))
  expect(left, 'files that were opened and never closed').toEqual([])
})
