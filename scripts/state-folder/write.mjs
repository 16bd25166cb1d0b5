// Runs inside the earlier build: `node write.mjs DIST HOME PROJECT`. Fills HOME with sessions that hold every kind of
// fact, with checkpoints, memories, rules, settings, agents, mail and spilled results.
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import * as fc from 'fast-check'

const [dist, home, project] = process.argv.slice(2)
const door = (path) => import(pathToFileURL(join(dist, path)).href)
const { createPreset, fileStore, projectOf } = await door('index.js')
const { machineFileSystem } = await door('tools/index.js')
const { call, createSimulator, text } = await door('simulator/index.js')
const testing = await door('testing/index.js')
const { arbitraryMoves, answered, countingIds, fixedClock, fixedSession, Pen, played, result, said, start } =
  testing
const toolCall = testing.call

mkdirSync(home, { recursive: true })
mkdirSync(project, { recursive: true })
const git = (...words) => execFileSync('git', ['-C', project, ...words], { stdio: 'ignore' })
git('init', '--quiet', '--initial-branch=main')
git('config', 'user.email', 'test@example.invalid')
git('config', 'user.name', 'Test')
writeFileSync(join(project, 'AGENTS.md'), '# Rules\n\nRun the tests with `node --test`.\n')
writeFileSync(join(project, 'cart.js'), 'export const total = (items) => items.length\n')
git('add', '--all')
git('commit', '--quiet', '-m', 'first')

// ---- what an ordinary day leaves: through the preset, against the simulator ----

const found = await projectOf(machineFileSystem, project)
if (!found.ok) throw new Error(found.failure.message)
const memory = `---
name: tests
description: how tests are run
type: feedback
---
Run the tests with node --test.
`
const answers = {
  'read it': [call('Read', { file_path: join(project, 'cart.js') })],
  'much output': [call('Bash', { command: 'seq 1 12000' })],
  'write it': [call('Write', { file_path: join(project, 'notes.txt'), content: 'one\ntwo\n' })],
  'start an agent': [call('Agent', { label: 'look around', prompt: 'LOOK AROUND and report' })],
  'begin a teammate': [
    call('Agent', { label: 'mate', prompt: 'SIT AND WAIT', mode: 'teammate', name: 'ida' }),
  ],
  'write to it': [call('SendMessage', { to: 'ida', message: 'count the files', summary: 'count' })],
  'SIT AND WAIT': 'I am here.',
  'LOOK AROUND': 'There is one file.',
}
const answerer = {
  async answer({ request }) {
    const content = request.messages.at(-1)?.content ?? []
    const isResult = typeof content !== 'string' && content.some((block) => block.type === 'tool_result')
    const words = JSON.stringify(content)
    const answer = isResult
      ? 'Noted.'
      : (Object.entries(answers).find(([key]) => words.includes(key))?.[1] ?? 'Nothing to do.')
    const blocks = typeof answer === 'string' ? [text(answer)] : answer
    return { content: blocks, stop_reason: typeof answer === 'string' ? 'end_turn' : 'tool_use' }
  },
}
const simulator = createSimulator({ answerer })
const { url } = await simulator.start()
writeFileSync(
  join(home, 'settings.json'),
  `${JSON.stringify({ thrift: 0.3, allow: ['Bash(npm test)', 'Edit'], deny: ['Read(secrets/**)'] }, null, 2)}\n`,
)
writeFileSync(join(home, 'trusted.json'), `${JSON.stringify({ folders: [project] })}\n`)
const preset = createPreset({
  project: found.project,
  home,
  settings: {
    model: 'claude-sonnet-4-6',
    thrift: 0.3,
    allow: ['Write', 'Edit', 'Bash'],
    deny: ['Read(secrets/**)'],
  },
  environment: { PATH: process.env.PATH, HOME: dirname(home) },
  model: { apiKey: 'test', baseUrl: url },
  trusted: true,
})
const session = await preset.engine.open()
const memories = preset.memory.keepers[1].place.root
answers['Always run the tests'] = [call('Write', { file_path: join(memories, 'tests.md'), content: memory })]
const turn = async (words) => {
  for await (const event of session.send(words))
    if (event.type === 'turn-end' && event.outcome !== 'done')
      throw new Error(`${words}: ${JSON.stringify(event)}`)
}
await turn('read it')
await turn('much output')
await turn('write it')
await turn('Always run the tests with node --test.')
await turn('start an agent')
await turn('begin a teammate')
await turn('write to it')
for (let n = 0; n < 3; n++)
  await turn(`much output, for the ${n + 2}. time, ${'and some words '.repeat(200)}`)
await session.queue('typed while busy')
for await (const _ of session.goOn()) void _
await session.setModel('claude-opus-5-5')
await turn('say a word')
await session.compact()
await turn('and after it')
const rows = await session.edits()
const boundary = rows.findLast((row) => row.layer === 'autocompact') ?? rows.at(-1)
const other = await session.fork?.({ purpose: 'look', directive: 'LOOK AROUND once more' })
void other
if (boundary !== undefined) await session.undo(boundary.seq)
await turn('after the undo')
await session.compact()
await turn('last words')
await session.close()
await preset.close()
await simulator.stop()

// ---- every kind of fact, and random sessions: through the store ----

const root = join(home, 'projects', 'made-by-hand', 'sessions')
const store = fileStore({ root })
async function keep(number, entries) {
  const id = fixedSession(number)
  const leased = await store.lease(id)
  if (!leased.ok) throw new Error(leased.failure.message)
  const own = entries.map((entry) =>
    entry.fact.type === 'session-start' ? { ...entry, fact: { ...entry.fact, session: id } } : entry,
  )
  const kept = await store.append(leased.lease, own, 0, 'now')
  if (!kept.ok) throw new Error(kept.failure.message)
  await store.release(leased.lease)
}
const pen = new Pen({ clock: fixedClock(), ids: countingIds() })
const child = fixedSession(900)
const facts = [
  start(),
  {
    type: 'instructions-set',
    sections: [{ name: 'identity', text: 'You are careful.', side: 'static' }],
    tools: [{ name: 'Read', description: 'reads', input_schema: { type: 'object' } }],
    reminder: 'Be brief.',
  },
  said('Look at the cart.'),
  {
    type: 'request-sent',
    source: 'main',
    model: 'claude-sonnet-4-6',
    upTo: 2,
    hash: 'h',
    tokens: 100,
    marks: ['system'],
    lifetime: '5m',
    estimate: 90,
    declined: [{ layer: 'microcompact', why: 'too little', tokens: 10, price: { kind: 'time' } }],
  },
  answered(
    [
      { type: 'thinking', thinking: 'hm', signature: 'sig:hm' },
      { type: 'text', text: 'I look.' },
      toolCall('c1'),
    ],
    { usage: { input: 10, cacheRead: 80, cacheWrite: 10, cacheWrite1h: 5, output: 20 }, stop: 'tool_use' },
  ),
  { type: 'permission', tool: 'Read', decision: 'allow', by: 'user', rule: 'Read(cart.js)' },
  result('c1', 'export const total = 1'),
  {
    type: 'cache-break',
    source: 'main',
    causes: [{ cause: 'model' }],
    tokens: 100,
    cost: 0.01,
    diff: '-a\n+b',
  },
  { type: 'memory-recall', files: ['tests.md'], text: 'Run the tests with node --test.' },
  { type: 'attachment', kind: 'note', content: [{ type: 'text', text: 'a note' }], source: 'hook', id: 'm1' },
  { type: 'input-queued', content: [{ type: 'text', text: 'one more thing' }] },
  answered('It is one line.'),
  { type: 'turn-end', outcome: 'done' },
  { type: 'user-message', content: [{ type: 'text', text: 'one more thing' }], origin: 'queued', queued: 10 },
  {
    type: 'agent-start',
    child,
    label: 'look',
    agent: 'general',
    mode: 'background',
    name: 'ida',
    worktree: { path: '../w', branch: 'b' },
  },
  {
    type: 'fork-end',
    child,
    purpose: 'agent',
    outcome: 'done',
    text: 'looked',
    spent: { tokens: 5, dollars: 0.001 },
  },
  { type: 'notes-update', blob: 'notes', coversTo: 12, tokens: 40 },
  { type: 'memories-extracted', coversTo: 12, files: ['tests.md'] },
  { type: 'model-set', model: 'claude-opus-5-5', thinking: { type: 'adaptive' }, effort: 'high' },
  answered('Done.', { id: 'msg_x' }),
  { type: 'turn-end', outcome: 'failed', failure: { code: 'overloaded', message: 'try later' } },
  said('And then?'),
  answered('Nothing.', { id: 'msg_y' }),
  { type: 'turn-end', outcome: 'done' },
  { type: 'pin', at: { seq: 2 } },
  {
    type: 'view-edit',
    layer: 'microcompact',
    asked: 'automatic',
    edits: [{ kind: 'stub', at: { seq: 6, block: 0 }, text: '[cleared 6]', ref: '6' }],
    why: 'old',
    tokensFreed: 10,
  },
  { type: 'undo', target: 25 },
  { type: 'release', target: 26 },
  {
    type: 'collapse-stage',
    spans: [{ from: 2, to: 12, text: 'looked at the cart' }],
    armed: false,
    lastSpawnTokens: 0,
  },
  { type: 'compaction-failed', source: 'model', why: 'no answer' },
  { type: 'damage-found', lost: [{ from: 500, to: 501 }], report: ['a line could not be read'] },
  {
    type: 'boundary',
    layer: 'autocompact',
    asked: 'automatic',
    edits: [
      {
        kind: 'summary',
        from: 2,
        to: 12,
        text: 'The cart is one line.',
        ref: '2-12',
        keep: [{ at: { seq: 2, block: 0 } }],
      },
    ],
    why: 'full',
    tokensFreed: 50,
    trigger: 'auto',
    source: 'extractive',
    tokensBefore: 100,
    tokensAfter: 50,
    messagesSummarised: 4,
  },
  { type: 'rewind', to: 21 },
  said('Once more.'),
  answered('Yes.', { id: 'msg_z' }),
  { type: 'turn-end', outcome: 'done' },
]
await keep(
  1,
  facts.map((fact) => pen.write(fact)),
)
const sessions = fc
  .sample(arbitraryMoves(fc), { seed: 20261115, numRuns: 120 })
  .map((moves) => played(moves))
  .filter((entries) => entries.length > 12 && JSON.stringify(entries).length < 24_000)
  .slice(0, 24)
for (const [index, entries] of sessions.entries()) await keep(10 + index, entries)
