// A session file of another program is anybody's text: whatever command prints something of it, the terminal is not steered.
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openWorkspace } from './pal.ts'

const attacks = [
  '\u001B]52;c;ZXZpbA==\u0007clipboard',
  '\u001B[2Jscreen',
  '\u009B31mcolour',
  '\u202Etxt.exe',
  'a\rline',
  '\u0008back',
]
/** What a terminal acts on, and what turns the direction of text. */
// oxlint-disable-next-line no-control-regex
const steering = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/

/** Lines of Claude Code with an attack in every text. */
function recording(cwd: string): string {
  let at = 0
  const text = (): string => `${attacks[at++ % attacks.length]!} ${at}`
  const lines: object[] = []
  const add = (type: string, message: object): void => {
    const uuid = `00000000-0000-4000-8000-${String(lines.length).padStart(12, '0')}`
    const timestamp = new Date(Date.UTC(2026, 10, 1, 10, lines.length)).toISOString()
    const parentUuid = lines.length === 0 ? null : (lines.at(-1) as { uuid: string }).uuid
    lines.push({ type, uuid, parentUuid, timestamp, cwd, sessionId: 'hostile', version: text(), message })
  }
  const usage = { input_tokens: 9, cache_creation_input_tokens: 5000, output_tokens: 30 }
  for (let turn = 0; turn < 4; turn++) {
    const id = `toolu_${turn}`
    const call = { type: 'tool_use', id, name: text(), input: { file_path: text() } }
    const content = [{ type: 'text', text: text() }, call]
    add('user', { role: 'user', content: text() })
    add('assistant', { id: `msg_${turn}`, role: 'assistant', model: text(), content, usage })
    add('user', { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: text() }] })
    const answer = [{ type: 'text', text: text() }]
    add('assistant', { id: `msg_${turn}_2`, role: 'assistant', model: text(), content: answer, usage })
  }
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

it('[TE5] no command lets the texts of a recorded session steer the terminal', async () => {
  const { pal, home, project } = await openWorkspace()
  const folder = join(home, '.claude', 'projects', 'p')
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'hostile.jsonl')
  await writeFile(file, recording(project))
  const commands = [
    ['import', file],
    ['usage'],
    ['usage', '--by', 'model'],
    ['replay', file],
    ['companion', 'audit', file],
    ['sessions'],
    ['messages'],
    ['context'],
    ['cost'],
    ['edits'],
    ['stats'],
    ['--lines', '--offline', '--continue'],
    ['rewind', '2', '--files'],
  ]
  for (const words of commands) {
    const { code, out, err } = await pal(words, { input: words[0] === '--lines' ? '/rewind\n' : '' })
    expect([words[0], /^\s+at /m.test(err), out + err === '']).toEqual([words[0], false, false])
    expect([words[0], steering.exec(out + err)]).toEqual([words[0], null])
    if (words[0] === 'rewind') expect([code, out]).toEqual([0, expect.stringContaining('rewound to before')])
  }
})

it('[TE5] nor does /help the description of a command', async () => {
  const { pal, state } = await openWorkspace()
  await mkdir(join(state, 'commands'), { recursive: true })
  const page = `---\ndescription: "\\e]52;c;ZXZpbA==\\a says hello \\u202E"\n---\nhello\n`
  await writeFile(join(state, 'commands', 'greet.md'), page)
  const { out, err } = await pal(['--lines', '--offline'], { input: '/help\n' })
  expect(out).toContain('says hello')
  expect(steering.exec(out + err)).toBeNull()
})
