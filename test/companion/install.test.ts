// Installing the companion into the files of other agents, with the command as it is shipped.
import { execFile, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { palFile } from '../one-bundle.ts'
import { asked, contextIn, runProgram } from './hook-process.ts'

const base = mkdtempSync(join(tmpdir(), 'pal-install-'))
const home = join(base, "home with 'quotes'")
let pal = ''
beforeAll(async () => {
  pal = await palFile()
})
beforeEach(() => {
  rmSync(home, { recursive: true, force: true })
  mkdirSync(home)
})
afterAll(() => rmSync(base, { recursive: true, force: true }))

interface Ended {
  readonly code: number
  readonly out: string
  readonly err: string
}
const companion = (...args: readonly string[]): Promise<Ended> => companionWith({}, ...args)
const companionWith = (
  faults: Readonly<Record<string, string>>,
  ...args: readonly string[]
): Promise<Ended> =>
  new Promise((resolve) => {
    const env = { PATH: process.env['PATH'], HOME: home, ...faults }
    execFile(process.execPath, [pal, 'companion', ...args], { cwd: home, env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    )
  })

/** At a terminal: what happens while the question stands, and then yes. */
const answered = (meanwhile: () => void, ...args: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const words = [process.execPath, pal, 'companion', ...args].map((word) => `'${word}'`)
    const child = spawn('script', ['-qfec', words.join(' '), '/dev/null'], {
      cwd: home,
      env: { PATH: process.env['PATH'], HOME: home },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    let out = ''
    let isAsked = false
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
      if (isAsked || !out.includes('[y/N]')) return
      isAsked = true
      meanwhile()
      child.stdin.write('y\n')
    })
    child.once('close', () => resolve(out.replaceAll(/\s+/g, ' ')))
  })

/** Every file and link below the home with its mode. */
function picture(folder = home): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(folder)) {
    const path = join(folder, name)
    const stat = lstatSync(path)
    const mode = (stat.mode & 0o777).toString(8)
    if (stat.isDirectory()) Object.assign(found, picture(path))
    found[relative(home, path)] = stat.isDirectory()
      ? `folder ${mode}`
      : stat.isSymbolicLink()
        ? 'link'
        : `${mode} ${readFileSync(path, 'base64')}`
  }
  return found
}
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(home, path)), { recursive: true })
  writeFileSync(join(home, path), text)
}
const read = (path: string): string => readFileSync(join(home, path), 'utf8')
const plugin = '.config/opencode/plugins/palimpsest-companion.js'
const count = join(base, 'operations')
const faultyDisk = {
  NODE_OPTIONS: `--require ${join(import.meta.dirname, '..', 'faults', 'faulty-disk.cjs')}`,
  PAL_FAULT_UNDER: home,
  PAL_FAULT_COUNT: count,
}
/** A home with settings of Claude Code alone. */
function settled(): Record<string, string> {
  rmSync(home, { recursive: true, force: true })
  write('.claude/settings.json', '{ "statusLine": { "type": "command", "command": "echo line" } }')
  return picture()
}
/** What an install or uninstall does with files when nothing fails. */
async function operationsOf(verb: string): Promise<readonly string[]> {
  settled()
  if (verb === 'uninstall') await companion('install', 'claude', '--yes')
  rmSync(count, { force: true })
  await companionWith(faultyDisk, verb, 'claude', '--yes')
  return readFileSync(count, 'utf8').split('\n')
}
const ownHook = { matcher: '*', hooks: [{ type: 'command', command: 'echo mine' }] }

describe('install', () => {
  it('[CI1] shows the diff and changes nothing on a dry run, or where nobody can be asked', async () => {
    write('.claude/settings.json', '{"model":"x"}')
    const before = picture()
    for (const client of ['claude', 'codex', 'opencode']) {
      const dry = await companion('install', client, '--dry-run')
      expect(dry.code).toBe(0)
      expect(dry.out).toContain('new: ')
      const unasked = await companion('install', client)
      expect([unasked.code, unasked.err]).toEqual([2, expect.stringContaining('Use --yes')])
    }
    const { out } = await companion('install', 'claude', '--dry-run')
    expect(out).toContain('+  "statusLine": {')
    expect(out).toContain('-{"model":"x"}')
    expect(picture()).toEqual(before)
  })

  it('[CI2] leaves every file as it was after an uninstall, with entries of others and odd formats', async () => {
    write('.claude/settings.json', '{\n\t"model": "x",   "hooks": {"Stop":[]}}')
    write('.claude/skills/other/SKILL.md', 'mine')
    write('.codex/hooks.json', JSON.stringify({ hooks: { SessionStart: [ownHook] }, more: 1 }))
    chmodSync(join(home, '.codex/hooks.json'), 0o640)
    const before = picture()
    for (const client of ['claude', 'codex', 'opencode'])
      expect((await companion('install', client, '--yes')).code, client).toBe(0)
    expect(JSON.parse(read('.codex/hooks.json'))).toMatchObject({
      hooks: { SessionStart: [ownHook, {}], PreCompact: [{}], UserPromptSubmit: [{}], PostCompact: [{}] },
      more: 1,
    })
    expect(statSync(join(home, '.codex/hooks.json')).mode & 0o777).toBe(0o640)
    expect(read(plugin)).toContain(join(home, '.palimpsest', 'companion'))
    for (const client of ['claude', 'codex', 'opencode']) {
      const ended = await companion('uninstall', client, '--yes', '--json')
      expect(ended.code, ended.err).toBe(0)
    }
    expect(picture()).toEqual(before)
  })

  it('[CI2] the installed commands run, quotes in paths included, and their state goes with the uninstall', async () => {
    await companion('install', 'claude', '--yes')
    writeFileSync(join(home, '.palimpsest/companion/options.json'), '{"clockMs":60000}')
    const hooks = (
      JSON.parse(read('.claude/skills/pal/hooks/hooks.json')) as {
        hooks: Record<string, [{ hooks: [{ command: string }] }]>
      }
    ).hooks
    const transcript = join(home, 's.jsonl')
    writeFileSync(transcript, `${JSON.stringify(asked('x'))}\n`)
    const fire = (event: string, more: object) =>
      runProgram(
        ['sh', '-c', hooks[event]![0].hooks[0].command],
        JSON.stringify({
          session_id: 's',
          transcript_path: transcript,
          cwd: home,
          hook_event_name: event,
          ...more,
        }),
        { cwd: home },
      )
    await fire('UserPromptSubmit', { prompt: 'Never touch the lexer.' })
    await fire('PreCompact', {})
    const said = await fire('SessionStart', { source: 'compact' })
    expect(contextIn(said)).toContain('Never touch the lexer.')
    expect(await fire('PostToolUse', { tool_name: 'Read' })).toEqual({ code: 0, out: '', err: '' })
    expect(existsSync(join(home, '.palimpsest/companion/sessions/claude-s'))).toBe(true)
    await companion('uninstall', 'claude', '--yes')
    expect(readdirSync(join(home, '.palimpsest/companion'))).toEqual(['options.json'])
  })

  it('[CI2] writes through a link and leaves it a link', async () => {
    write('dotfiles/settings.json', '{}')
    mkdirSync(join(home, '.claude'))
    symlinkSync(join(home, 'dotfiles/settings.json'), join(home, '.claude/settings.json'))
    const before = picture()
    await companion('install', 'claude', '--yes')
    expect(lstatSync(join(home, '.claude/settings.json')).isSymbolicLink()).toBe(true)
    expect(read('dotfiles/settings.json')).toContain('statusLine')
    await companion('uninstall', 'claude', '--yes')
    expect(picture()).toEqual(before)
  })

  it('[CI2] a link to a file that is still to come stays one', async () => {
    mkdirSync(join(home, 'dotfiles'))
    mkdirSync(join(home, '.claude'))
    symlinkSync('../dotfiles/settings.json', join(home, '.claude/settings.json'))
    const before = picture()
    await companion('install', 'claude', '--yes')
    expect(existsSync(join(home, 'dotfiles/settings.json'))).toBe(true)
    await companion('uninstall', 'claude', '--yes')
    expect(picture()).toEqual(before)
  })

  it('[CI3] a file that cannot be read any more is left, and the others are put back', async () => {
    await companion('install', 'claude', '--yes')
    writeFileSync(join(home, '.claude/settings.json'), Buffer.from([0xff, 0xfe, 0x7b]))
    const { code, out, err } = await companion('uninstall', 'claude', '--yes')
    expect([code, out]).toEqual([1, expect.stringMatching(/leave .*settings\.json: it cannot be read/)])
    expect(err).toMatch(/not out of Claude Code: .*settings\.json cannot be read.* uninstall claude again/)
    expect(existsSync(join(home, '.claude/skills'))).toBe(false)
    expect(readFileSync(join(home, '.claude/settings.json'))).toEqual(Buffer.from([0xff, 0xfe, 0x7b]))
  })

  it('[CI3] the record of a file that could not be read is kept, and the next uninstall puts it back', async () => {
    const own = `{ "model": "opus" }\n`
    write('.claude/settings.json', own)
    const before = picture()
    await companion('install', 'claude', '--yes')
    const settings = join(home, '.claude/settings.json')
    const installed = readFileSync(settings)
    writeFileSync(settings, Buffer.from([0xff, 0xfe, 0x7b]))
    await companion('uninstall', 'claude', '--yes')
    writeFileSync(settings, installed)
    const { code, out } = await companion('uninstall', 'claude', '--yes')
    expect([code, out]).toEqual([0, expect.stringContaining('The companion is out of Claude Code')])
    expect(picture()).toEqual(before)
  })

  it('[CI3] names what somebody changed since and takes out its own entries alone', async () => {
    write('.codex/hooks.json', JSON.stringify({ hooks: {} }))
    await companion('install', 'codex', '--yes')
    await companion('install', 'claude', '--yes')
    const changed = JSON.parse(read('.codex/hooks.json')) as { hooks: Record<string, unknown[]> }
    changed.hooks['Stop'] = [ownHook]
    changed.hooks['SessionStart']!.unshift(ownHook)
    write('.codex/hooks.json', JSON.stringify(changed))
    const codex = await companion('uninstall', 'codex', '--yes')
    expect(codex.out).toContain('was changed since: only the entries of the companion were removed')
    expect(JSON.parse(read('.codex/hooks.json'))).toEqual({
      hooks: { SessionStart: [ownHook], Stop: [ownHook] },
    })
    write('.claude/skills/pal/commands/audit.md', 'mine now')
    const claude = await companion('uninstall', 'claude', '--yes')
    expect(claude.out).toMatch(/leave .*audit\.md: it was changed since/)
    expect(read('.claude/skills/pal/commands/audit.md')).toBe('mine now')
    expect(existsSync(join(home, '.claude/settings.json'))).toBe(false)
  })

  it('[CI8] what another program writes while the question stands is not overwritten, and nothing else is written', async () => {
    write('.claude/settings.json', '{"model":"opus"}')
    const late = '{"model":"opus","permissions":{"allow":["Bash(ls)"]}}'
    const installed = await answered(() => write('.claude/settings.json', late), 'install', 'claude')
    expect(installed).toMatch(/nothing was changed: .*settings\.json was changed by something else/)
    expect(read('.claude/settings.json')).toBe(late)
    expect(existsSync(join(home, '.claude/skills'))).toBe(false)
    expect(existsSync(join(home, '.palimpsest'))).toBe(false)

    await companion('install', 'claude', '--yes')
    const later = read('.claude/settings.json').replace('opus', 'haiku')
    const removed = await answered(() => write('.claude/settings.json', later), 'uninstall', 'claude')
    expect(removed).toMatch(/nothing was changed: .*settings\.json was changed by something else/)
    expect(read('.claude/settings.json')).toBe(later)
    expect((await companion('uninstall', 'claude', '--yes')).code).toBe(0)
    expect(JSON.parse(read('.claude/settings.json'))).toEqual(JSON.parse(late.replace('opus', 'haiku')))
  })

  it('[CI8] a pipe, a folder or no folder where a file should be is said, and waited for by nobody', async () => {
    mkdirSync(join(home, '.claude'))
    execFileSync('mkfifo', [join(home, '.claude/settings.json')])
    const piped = await companion('install', 'claude', '--yes')
    expect([piped.code, piped.err]).toEqual([
      1,
      expect.stringMatching(/nothing was changed: .*settings\.json/),
    ])
    rmSync(join(home, '.claude'), { recursive: true })
    mkdirSync(join(home, '.palimpsest/companion/installed-claude.json'), { recursive: true })
    for (const what of ['install', 'uninstall']) {
      const { code, err } = await companion(what, 'claude', '--yes')
      expect([code, err]).toEqual([1, expect.stringMatching(/^pal: nothing was changed: .*installed-claude/)])
    }
    rmSync(join(home, '.palimpsest'), { recursive: true })
    write('.palimpsest', 'a file')
    const { code, err } = await companion('install', 'codex', '--yes')
    expect([code, err]).toEqual([1, expect.stringMatching(/^pal: [^\n]*\n$/)])
  })

  it('[CI4] a second install adds nothing, and an uninstall goes back behind the first', async () => {
    write('.codex/hooks.json', '{"hooks":{}}')
    write('.claude/settings.json', '{ }')
    const before = picture()
    for (let times = 0; times < 2; times++)
      for (const client of ['codex', 'claude']) await companion('install', client, '--yes')
    const { out } = await companion('install', 'codex', '--yes')
    expect(out).toContain('Codex has this companion already.')
    const { hooks } = JSON.parse(read('.codex/hooks.json')) as { hooks: Record<string, unknown[]> }
    expect(Object.values(hooks).map((entries) => entries.length)).toEqual([1, 1, 1, 1])
    for (const client of ['codex', 'claude']) await companion('uninstall', client, '--yes')
    expect(picture()).toEqual(before)
  })

  it('[CI4] an install over one that somebody changed since is taken out whole', async () => {
    for (const client of ['codex', 'claude']) await companion('install', client, '--yes')
    const changed = JSON.parse(read('.codex/hooks.json')) as { hooks: Record<string, unknown[]> }
    changed.hooks['SessionStart']!.push(ownHook)
    write('.codex/hooks.json', JSON.stringify(changed))
    const settings = JSON.parse(read('.claude/settings.json')) as object
    write('.claude/settings.json', JSON.stringify({ ...settings, model: 'x' }))
    const hooks = '.claude/skills/pal/hooks/hooks.json'
    write(hooks, read(hooks).replaceAll('"timeout": 2', '"timeout": 5'))
    for (const client of ['codex', 'claude']) await companion('install', client, '--yes')
    for (const client of ['codex', 'claude']) await companion('uninstall', client, '--yes')
    expect(JSON.parse(read('.codex/hooks.json'))).toEqual({ hooks: { SessionStart: [ownHook] } })
    expect(JSON.parse(read('.claude/settings.json'))).toEqual({ model: 'x' })
    expect(existsSync(join(home, '.claude/skills'))).toBe(false)
  })

  it('[CI4] an install whose record is gone adds nothing twice and is taken out whole', async () => {
    write('.codex/hooks.json', JSON.stringify({ hooks: { SessionStart: [ownHook] } }))
    for (const client of ['codex', 'claude']) await companion('install', client, '--yes')
    rmSync(join(home, '.palimpsest'), { recursive: true })
    for (const client of ['codex', 'claude']) await companion('install', client, '--yes')
    const { hooks } = JSON.parse(read('.codex/hooks.json')) as { hooks: Record<string, unknown[]> }
    expect(Object.values(hooks).map((entries) => entries.length)).toEqual([2, 1, 1, 1])
    for (const client of ['codex', 'claude']) await companion('uninstall', client, '--yes')
    expect(JSON.parse(read('.codex/hooks.json'))).toEqual({ hooks: { SessionStart: [ownHook] } })
    expect(existsSync(join(home, '.claude/skills/pal/hooks/hooks.json'))).toBe(false)
    expect(read('.claude/settings.json')).not.toContain('hook.cjs')
  })

  it('[CI9] killed or refused by the disk at any step, the next uninstall takes everything out', async () => {
    const before = settled()
    // Where a file takes its name, and where one goes; every third of them.
    for (const [verb, step] of [
      ['install', 'rename'],
      ['uninstall', 'rm'],
    ] as const) {
      const operations = [...(await operationsOf(verb)).entries()].filter(([, name]) => name === step)
      for (const [at] of operations.filter((_, nth) => nth % 3 === 0))
        for (const fault of ['kill', 'EIO']) {
          settled()
          if (verb === 'uninstall') await companion('install', 'claude', '--yes')
          const faulty = { ...faultyDisk, PAL_FAULT: fault, PAL_FAULT_AT: String(at + 1) }
          const { err } = await companionWith(faulty, verb, 'claude', '--yes')
          expect(err).toMatch(fault === 'kill' ? /^$/ : /^pal: [^\n]*failed: EIO[^\n]*\n$/)
          const { code } = await companion('uninstall', 'claude', '--yes')
          if (verb === 'uninstall' || err.includes('removes what was written')) expect(code).toBe(0)
          expect(picture()['.claude/skills']).toBeUndefined()
          // Killed before there was a record: what is left in our own folder goes with the next one.
          if (code !== 0) await companion('install', 'claude', '--yes')
          if (code !== 0) await companion('uninstall', 'claude', '--yes')
          expect(picture(), `${verb}, ${fault} at ${at + 1}`).toEqual(before)
        }
    }
  })

  it('[CI5] a status line that is set stays, and a file that is no JSON is left alone', async () => {
    write('.claude/settings.json', '{"statusLine":{"type":"command","command":"mine"}}')
    const claude = await companion('install', 'claude', '--yes')
    expect(claude.out).toContain('has a status line')
    expect(read('.claude/settings.json')).toBe('{"statusLine":{"type":"command","command":"mine"}}')
    write('.codex/hooks.json', '// comment\n{}')
    const codex = await companion('install', 'codex', '--yes')
    expect([codex.code, codex.out]).toEqual([1, expect.stringContaining('cannot be read as JSON')])
    expect(read('.codex/hooks.json')).toBe('// comment\n{}')
    expect(existsSync(join(home, '.palimpsest/companion/installed-codex.json'))).toBe(false)
  })

  it('[CI5] ours stands below a status line of the user when asked for, and goes alone', async () => {
    const mine = 'printf \'%s!\' "$(cat | tr a-z A-Z | head -c 7)" # mine'
    const text = `${JSON.stringify({ statusLine: { type: 'command', command: mine, padding: 2 } })}\n`
    write('.claude/settings.json', text)
    await companion('install', 'claude', '--yes', '--status-line')
    const { statusLine } = JSON.parse(read('.claude/settings.json')) as {
      statusLine: { command: string; padding: number }
    }
    expect(statusLine.padding).toBe(2)
    const shown = execFileSync('sh', ['-c', statusLine.command], {
      input: '{"cost":{"total_cost_usd":1.5},"session_id":"s"}',
      env: { PATH: process.env['PATH'], HOME: home },
      encoding: 'utf8',
    })
    expect(shown).toBe('{"COST"!\n$1.50\n')
    // Changed by hand since: only ours goes.
    write('.claude/settings.json', read('.claude/settings.json').replace('"padding": 2', '"padding": 3'))
    await companion('uninstall', 'claude', '--yes')
    expect(JSON.parse(read('.claude/settings.json'))).toEqual({
      statusLine: { type: 'command', command: mine, padding: 3 },
    })
    write('.claude/settings.json', text)
    await companion('install', 'claude', '--yes', '--status-line')
    await companion('uninstall', 'claude', '--yes')
    expect(read('.claude/settings.json')).toBe(text)
  })

  it('[CI6] Qwen and Gemini are refused in words, an unknown agent as a usage error', async () => {
    for (const client of ['qwen', 'gemini']) {
      const { code, err } = await companion('install', client)
      expect([code, err]).toEqual([2, expect.stringContaining('gets the audit alone for now')])
    }
    expect((await companion('install', 'nobody')).code).toBe(2)
    expect((await companion('uninstall', 'claude', '--yes')).err).toContain(
      'there is no record of an install',
    )
  })

  it('[CI7] the doctor names a client that is missing or cannot be run, and switches nothing off for that', async () => {
    await companion('install', 'claude', '--yes')
    const missing = await companion('doctor', 'claude', '--program', join(home, 'none'))
    expect([missing.code, missing.err]).toEqual([1, expect.stringContaining('does not answer')])
    const fake = join(home, 'fake')
    writeFileSync(
      fake,
      '#!/bin/sh\n[ "$1" = --version ] && { echo 9.9.9; exit 0; }\necho no network >&2; exit 1\n',
      {
        mode: 0o755,
      },
    )
    const broken = await companion('doctor', 'claude', '--program', fake, '--json')
    expect(broken.code).toBe(1)
    expect(JSON.parse(broken.out)).toMatchObject({
      version: '9.9.9',
      points: [],
      why: expect.stringContaining('no network'),
      off: [],
    })
  })

  it('[CI7] a client whose hooks never run has its points switched off, one by one', async () => {
    await companion('install', 'claude', '--yes')
    const deaf = join(home, 'deaf')
    writeFileSync(deaf, '#!/bin/sh\n[ "$1" = --version ] && echo 9.9.9\nexit 0\n', { mode: 0o755 })
    const tried = await companion('doctor', 'claude', '--program', deaf)
    expect(tried.code).toBe(1)
    expect(tried.out).toContain('fails')
    expect(JSON.parse(read('.palimpsest/companion/options.json'))).toEqual({
      off: ['claude:UserPromptSubmit', 'claude:PreCompact', 'claude:SessionStart', 'claude:PostCompact'],
    })
  })
})
