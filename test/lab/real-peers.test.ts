// Recorded sessions through real programs: ours as a process of its own, and whichever other is installed already.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../clients/agents.ts'
import { knownFolder } from '../../clients/on-demand.ts'
import { createPlayer } from '../../clients/peer-player.ts'
import { commandIn, play, programs, type Ran } from '../../clients/peer-run.ts'
import { tableOf } from '../../clients/peer-table.ts'
import { contentText } from '../../src/lab/measuring/texts.ts'
import { scriptOf } from '../../src/lab/playing/script.ts'
import { sampleSession } from '../../src/lab/sample.ts'
import { noFigures } from '../../src/lab/measures.ts'
import { palFile } from '../one-bundle.ts'

const script = scriptOf(sampleSession(0, { requests: 14, files: 4, lines: 60 }))
const folder = mkdtempSync(join(tmpdir(), 'pal-real-peers-'))
let pal = ''
beforeAll(async () => {
  pal = await palFile()
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const named = (name: string) => programs.find((program) => program.name === name)!
const whole = { answers: script.steps.length, total: script.steps.length, refused: 0, failures: 0, astray: 0 }

/** A program that keeps its conversation as long as it runs, and does in its shell whatever it is told. */
const staysOpen = `
import { appendFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { createInterface } from 'node:readline'
appendFileSync(process.env.STARTS, process.argv.slice(2).join(' ') + '\\n')
const schema = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] }
const tools = [{ name: 'Bash', description: 'Runs a command.', input_schema: schema }]
const messages = []
const work = async (prompt) => {
  messages.push({ role: 'user', content: prompt })
  for (;;) {
    const body = JSON.stringify({ model: 'claude-opus-4-5', max_tokens: 1000, tools, messages })
    const headers = { 'content-type': 'application/json', 'x-api-key': 'none', 'anthropic-version': '2023-06-01' }
    const { content } = await (await fetch(process.env.URL + '/v1/messages', { method: 'POST', headers, body })).json()
    messages.push({ role: 'assistant', content })
    const results = content.filter(({ type }) => type === 'tool_use').map(({ id, input }) => ({
      type: 'tool_result', tool_use_id: id, content: execFileSync('sh', ['-c', input.command], { encoding: 'utf8' }),
    }))
    if (results.length === 0) return
    messages.push({ role: 'user', content: results })
  }
}
createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line)
  if (method === 'session/prompt') await work(params.prompt[0].text)
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: { sessionId: 'one' } }) + '\\n')
})
`

describe('recorded sessions through real programs', () => {
  it('[LB32] pal plays a session to its end, charged for every request, with all that was needed in sight', async () => {
    const ran = await play(
      script,
      named('pal'),
      () => [process.execPath, pal],
      () => undefined,
    )
    expect(ran).toMatchObject({ ...whole, problems: [] })
    expect(ran.requests).toBe(ran.answers + ran.background)
    expect(ran.bill).toBeGreaterThan(ran.inputSide)
    expect(ran.inputSide).toBeGreaterThan(0)
    expect(ran.figures).toMatchObject({ requests: script.steps.length, rounds: 0 })
    expect(ran.figures.atoms).toBeGreaterThan(10)
    expect(ran.figures.remembered).toBe(ran.figures.atoms)
    expect(ran.figures.ready).toBe(ran.figures.replaced)
    expect(ran.figures.wordsKept).toBe(ran.figures.wordsSaid)
  })

  // The quick ones of them; the whole list is what the command is for.
  for (const program of ['pi', 'codex', 'claude', 'deepagents'].map(named)) {
    const where = knownFolder(program.client.packages)
    it.skipIf(where === null)(
      `[LB32] ${program.client.label} plays the same session (skipped where it is not installed: npm run peers installs it)`,
      async () => {
        const command = (client: Client) => commandIn(where!, client)
        const ran = await play(script, program, command, () => undefined)
        expect(ran).toMatchObject({ ...whole, problems: [] })
        expect(ran.figures.remembered).toBe(ran.figures.atoms)
      },
    )
  }

  it('[LB32] a program that can stay open is started once and gets the further prompts over its pipes', async () => {
    const program = join(folder, 'stays-open.mjs')
    writeFileSync(program, staysOpen)
    const client: Client = {
      label: 'stays open',
      packages: [],
      program: 'stays-open',
      path: /^\/v1\/messages$/u,
      staysBy: ['--stay'],
      prepare: ({ url }) => ({ args: ['--once'], env: { URL: url, STARTS: join(folder, 'starts') } }),
    }
    const words = [{ type: 'text' as const, text: 'Thank you. What next?' }]
    const last = script.steps.at(-1)!
    const further = { ...last, results: [], input: words, typed: ['Thank you. What next?'] }
    const two = { ...script, steps: [...script.steps, further] }
    const ran = await play(
      two,
      { ...named('pal'), client },
      () => [process.execPath, program],
      () => undefined,
    )
    const answers = two.steps.length
    expect(ran).toMatchObject({ answers, total: answers, refused: 0, failures: 0, astray: 0, problems: [] })
    expect(readFileSync(join(folder, 'starts'), 'utf8')).toBe('--stay\n')
  })

  it('[LB32] a recorded call is a command of the shell tool on offer that prints what was recorded', async () => {
    const project = mkdtempSync(join(folder, 'project-'))
    const player = createPlayer(script, project)
    expect(player.prompt()).toBe(script.steps[0]!.typed[0])
    const schema = { type: 'object', properties: { cmd: { type: 'string' } } }
    const request = {
      model: 'any',
      max_tokens: 100,
      tools: [{ name: 'shell', input_schema: schema }],
      messages: [{ role: 'user' as const, content: player.prompt()! }],
    }
    const context = { request, headers: {}, turn: 1, now: 0 }
    const answer = await player.answer(context)
    const recorded = script.steps[0]!.answer.content.filter((block) => block.type === 'tool_use')
    const called = answer.content.filter(({ type }) => type === 'tool_use')
    expect(called.map(({ name }) => name)).toEqual(recorded.map(() => 'shell'))
    const { cmd } = called[0]!['input'] as { cmd: string }
    expect(cmd).toMatch(/^\.\/recorded 0 <<'RECORDED'\n/)
    const words = contentText(script.steps[1]!.results[0]!.content)
    expect(readFileSync(join(project, '.recorded', '0'), 'utf8')).toBe(words)
    // A retry of the same request gets the same answer; one without the shell, or for a summary, moves nothing.
    expect(await player.answer(context)).toBe(answer)
    await player.answer({ ...context, request: { ...request, tools: [] } })
    expect([player.position, player.background]).toEqual([1, 1])
    expect(existsSync(join(project, 'recorded'))).toBe(true)
  })

  it('[LB32] a prompt that asks for a summary of the conversation is the person speaking, not the program', async () => {
    const words =
      'Write a summary of this conversation so far, text only, in the tags <summary> and </summary>.'
    const [first] = script.steps
    const input = [{ type: 'text' as const, text: words }]
    const asked = { ...script, steps: [{ ...first!, input, typed: [words] }, ...script.steps.slice(1)] }
    const player = createPlayer(asked, mkdtempSync(join(folder, 'project-')))
    const schema = { type: 'object', properties: { command: { type: 'string' } } }
    const tools = [{ name: 'Bash', input_schema: schema }]
    const request = (content: string) => ({
      request: { model: 'any', max_tokens: 100, tools, messages: [{ role: 'user' as const, content }] },
      headers: {},
      turn: 1,
      now: 0,
    })
    await player.answer(request(player.prompt()!))
    expect([player.position, player.background]).toEqual([1, 0])
    // The same words from the program itself, about what was said, are its own.
    await player.answer(
      request(`${words}\n\nThe conversation:\n${'they spoke of it. '.repeat(60)}\n${words}`),
    )
    expect([player.position, player.background]).toEqual([1, 1])
  })
})

describe('the table', () => {
  const ran = (program: string, session: string, bill: number, more: Partial<Ran> = {}): Ran => ({
    session,
    program,
    label: program,
    answers: 10,
    total: 10,
    requests: 10,
    background: 0,
    astray: 0,
    refused: 0,
    failures: 0,
    read: 0,
    written: 0,
    uncached: 0,
    dollars: 0,
    bill,
    inputSide: bill,
    largest: 0,
    figures: { ...noFigures, requests: 10, atoms: 100, remembered: 99 },
    seconds: 1,
    problems: [],
    ...more,
  })

  it('[LB33] compares over the sessions that every program played to the end, with the spread, and says whether the goal is met', () => {
    const [ours, other] = [named('pal'), named('pi')]
    const runs = [
      ran('pal', 'a', 6e6),
      ran('pal', 'b', 9e6),
      ran('pal', 'c', 1e6),
      ran('pi', 'a', 10e6),
      ran('pi', 'b', 10e6),
      ran('pi', 'c', 99e6, { answers: 3, failures: 3 }),
    ]
    const table = tableOf(runs, [], [ours, other])
    expect(table).toContain('2 of 3 sessions')
    expect(table).toContain('left out: c, pi gave up at 3 of 10')
    expect(table).toContain('0.75 (0.60–0.90)')
    expect(table).toMatch(/^a +6\.00 \/ 99\.0 +10\.00 \/ 99\.0$/m)
    expect(table).toMatch(/^c +1\.00 \/ 99\.0 +ended at 3 of 10$/m)
    expect(table).toMatch(/pal: 0\.75 of the bill of pi.*is met/)
    const less = runs.map((run) =>
      run.program === 'pal' ? { ...run, figures: { ...run.figures, remembered: 98 } } : run,
    )
    expect(tableOf(less, [], [ours, other])).toMatch(/is missed/)
  })
})
