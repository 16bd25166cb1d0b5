// The whole agent in your program, as `pal` has it: tools, permissions, memory, sub-agents.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPreset, machineFileSystem, projectOf } from 'palimpsest'

const folder = mkdtempSync(join(tmpdir(), 'palimpsest-example-'))
const work = join(folder, 'project')
mkdirSync(work)
writeFileSync(join(work, 'notes.txt'), 'the launch is on Friday\n')

const project = await projectOf(machineFileSystem, work)
if (!project.ok) throw new Error(project.failure.message)
const preset = createPreset({
  home: join(folder, 'state'), // sessions and memories of this program
  project: project.project,
  settings: { model: 'claude-sonnet-5', allow: ['Edit', 'Bash(npm test)'] },
  environment: { PATH: process.env['PATH'] ?? '' },
  model: { apiKey: process.env['ANTHROPIC_API_KEY'], baseUrl: process.env['ANTHROPIC_BASE_URL'] },
})
const session = await preset.engine.open()
for await (const event of session.send('Have an agent find out when the launch is.')) {
  if (event.type === 'tool-end') console.log(`${event.name} ${event.isError ? 'failed' : 'done'}`)
  if (event.type === 'text-delta') process.stdout.write(event.text)
  if (event.type === 'turn-end' && event.failure !== null) console.error(event.failure.message)
}
console.log()
for (const { agent, label, state } of session.agents()) console.log(`agent ${agent} (${label}): ${state}`)
await session.close()
await preset.close()
rmSync(folder, { recursive: true })
