// At the screen: the person is told what was saved, sees what is under way, and finds it in the next session.
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openWorkspace } from '../cli/pal.ts'
import { leave, open, say, shows } from '../screen/seen.ts'

it('[DR23] at the screen the user is told which memories were saved, and sees the job in the list of tasks', async () => {
  const at = await openWorkspace({ PALIMPSEST_EXTRACTION: 'on' })
  const seen = open(at, ['--offline'])
  await shows(seen, '/help')
  await say(seen, 'Remember that we use the blue server.')
  await shows(seen, 'remembered: ')
  await say(seen, '/tasks')
  await shows(seen, /extraction-1: saving memories, completed[\s\S]*calls: Read 1, Write 2/u)
  await leave(seen)
  const projects = await readdir(join(at.state, 'projects'))
  const memories = await readdir(join(at.state, 'projects', projects[0]!, 'memory'))
  expect(memories.filter((name) => name.endsWith('.md'))).toHaveLength(2)
})
