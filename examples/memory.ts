// What one session learns, the next one knows: memories are files under `home`, and whoever said something is kept with it.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPreset, machineFileSystem, projectOf } from 'palimpsest'

const folder = mkdtempSync(join(tmpdir(), 'palimpsest-example-'))
const work = join(folder, 'project')
mkdirSync(work)
const project = await projectOf(machineFileSystem, work)
if (!project.ok) throw new Error(project.failure.message)
const preset = createPreset({
  home: join(folder, 'state'),
  project: project.project,
  settings: { model: 'claude-sonnet-5', agents: false },
  environment: { PATH: process.env['PATH'] ?? '' },
  model: { apiKey: process.env['ANTHROPIC_API_KEY'], baseUrl: process.env['ANTHROPIC_BASE_URL'] },
})

const [store] = preset.memory.stores
if (store === undefined) throw new Error(preset.memory.why ?? 'memory is off')
const saved = await store.save(
  {
    file: 'deploys.md',
    text: '---\nname: deploys\ndescription: when we deploy\ntype: project\n---\nWe deploy on Tuesdays only.\n',
  },
  // Who says so. What is not the user's own counts as data and is never followed as a rule.
  { kind: 'user', trust: 'user', session: 'example', message: 'm1', from: [], at: Date.now() },
  { via: 'session' },
)
console.log(saved.ok ? `saved: ${saved.applied.kind}` : saved.failure.message)

const found = await store.search('which day do we deploy?', 3, new AbortController().signal)
if (found.ok) for (const { memory } of found.hits) console.log(`found: ${memory.file}`)

// A new session has it in its first request.
const session = await preset.engine.open()
for await (const event of session.send('May I deploy today, a Friday?')) {
  if (event.type === 'text-delta') process.stdout.write(event.text)
  if (event.type === 'turn-end' && event.failure !== null) throw new Error(event.failure.message)
}
console.log()
await session.close()
await preset.close()
rmSync(folder, { recursive: true })
