// Trust is given to contents: what comes to lie in a trusted folder later, or changes there, does not act until somebody
// has looked at it. Each test goes through the command as it is shipped.
import { existsSync } from 'node:fs'
import { chmod, chown, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { call } from '../../src/simulator/index.ts'
import { openWorkspace, server, until, type Workspace } from './pal.ts'

const written = async (at: Workspace, path: string, text: string): Promise<void> => {
  await mkdir(join(at.project, path, '..'), { recursive: true })
  await writeFile(join(at.project, path), text)
}
const bodies = (simulator: Awaited<ReturnType<typeof server>>['simulator']): string[] =>
  simulator.log.requests.map(({ body }) => JSON.stringify(body))

describe('content that comes after trust', () => {
  it('[PM70] a new .mcp.json starts no server, and is named', async () => {
    const { access } = await server(['one', 'two', 'three'])
    const at = await openWorkspace(access)
    await at.pal(['trust'])
    const ran = join(at.home, 'ran')
    const mcp = { mcpServers: { planted: { command: 'touch', args: [ran] } } }
    await written(at, '.mcp.json', JSON.stringify(mcp))
    const first = await at.pal(['-p', 'hi'])
    expect(first.code).toBe(0)
    expect(existsSync(ran)).toBe(false)
    expect(first.err).toMatch(/\.mcp\.json \(MCP servers\) was not read: it is new since you trusted/)
    // Exactly this content may start it.
    const trusted = await at.pal(['trust'])
    expect(trusted.out).toContain(`planted: starts touch ${ran}`)
    await at.pal(['-p', 'hi'])
    await until(() => existsSync(ran), 'the server that was approved')
  })

  it('[PM70] settings added later allow nothing, and are named', async () => {
    const made = (at: Workspace) => join(at.project, 'made')
    const { access } = await server([
      [call('Bash', { command: 'touch made' })],
      'done',
      [call('Bash', { command: 'touch made' })],
      'done',
    ])
    const at = await openWorkspace({ ...access, PALIMPSEST_SANDBOX: 'off' })
    await at.pal(['trust'])
    await written(at, '.palimpsest/settings.json', JSON.stringify({ allow: ['Bash'] }))
    const first = await at.pal(['-p', 'hi'])
    expect(existsSync(made(at))).toBe(false)
    expect(first.err).toMatch(
      /settings\.json \(settings\) counts only where it denies or asks: it is new since you trusted/,
    )
    expect((await at.pal(['trust'])).out).toContain('allow Bash')
    await at.pal(['-p', 'hi'])
    expect(existsSync(made(at))).toBe(true)
  })

  it('[PM70] new instruction files and rules are not told to the model, and are named', async () => {
    const { access, simulator } = await server(['one', 'two', 'three'])
    const at = await openWorkspace(access)
    await written(at, 'AGENTS.md', 'Speak of herons.')
    await at.pal(['trust'])
    await written(at, 'CLAUDE.md', 'Speak of cormorants.')
    await written(at, '.palimpsest/rules/z.md', 'Speak of grebes.')
    const { err } = await at.pal(['-p', 'hi'])
    const [first = ''] = bodies(simulator)
    expect(first).not.toContain('cormorants')
    expect(first).not.toContain('grebes')
    expect(first).toContain('herons')
    expect(err).toMatch(/CLAUDE\.md was not read: it is new since you trusted/)
    expect(err).toMatch(/z\.md was not read: it is new since you trusted/)
    // A changed one is left out too, whole.
    await written(at, 'AGENTS.md', 'Speak of herons. And of egrets.')
    const second = await at.pal(['-p', 'hi', '--output-format', 'json'])
    expect(bodies(simulator)[1]).not.toMatch(/herons|egrets/)
    expect(second.err).toMatch(/AGENTS\.md was not read: it has changed since you trusted it/)
    const { leftOut } = JSON.parse(second.out) as { leftOut: { path: string; why: string }[] }
    expect(leftOut.map(({ path, why }) => [path.slice(at.project.length + 1), why])).toEqual(
      expect.arrayContaining([
        ['AGENTS.md', 'changed'],
        ['CLAUDE.md', 'new'],
      ]),
    )
    const diff = await at.pal(['trust', '--diff'])
    expect(diff.out).toContain('-Speak of herons.')
    expect(diff.out).toContain('+Speak of herons. And of egrets.')
    await at.pal(['trust'])
    await at.pal(['-p', 'hi'])
    expect(bodies(simulator)[2]).toMatch(/egrets[\s\S]*cormorants[\s\S]*grebes/)
  })

  it('[PM71] rules for some files alone are listed with all that they include, and told once they are approved', async () => {
    const { access, simulator } = await server([
      'one',
      [call('Read', { file_path: 'src/a.ts' })],
      'two',
      [call('Read', { file_path: 'src/a.ts' })],
      'three',
    ])
    const at = await openWorkspace(access)
    await at.pal(['trust'])
    await written(at, 'src/a.ts', 'plain text')
    await written(at, 'part.md', 'Speak of terns.')
    await written(
      at,
      '.palimpsest/rules/ts.md',
      '---\npaths: "src/*.ts"\n---\nSpeak of herons, see @../../part.md',
    )
    const strict = await at.pal(['-p', 'hi', '--require-trust'])
    expect(strict.code).not.toBe(0)
    expect(strict.err).toContain('ts.md (new)')
    const early = await at.pal(['-p', 'hi'])
    expect(early.err).toMatch(/ts\.md was not read: it is new since you trusted/)
    const { out } = await at.pal(['trust', '--list'])
    expect(out).toMatch(/new +\.palimpsest\/rules\/ts\.md +instructions/)
    expect(out).toMatch(/new +part\.md +instructions/)
    await at.pal(['-p', 'hi'])
    await at.pal(['trust'])
    await at.pal(['-p', 'hi'])
    const told = bodies(simulator).map((body) => /herons[\s\S]*terns/.test(body))
    expect(told).toEqual([false, false, false, false, true])
  })

  it('[PM71] skills, commands, styles, agent types, includes and folders below are content too', async () => {
    const { access, simulator } = await server([
      [call('Read', { file_path: 'sub/a.txt' })],
      'one',
      [call('Read', { file_path: 'sub/a.txt' })],
      'two',
    ])
    const at = await openWorkspace(access)
    await at.pal(['trust'])
    const outside = join(at.home, 'outside.md')
    await writeFile(outside, 'Speak of rails.')
    await written(at, 'AGENTS.md', `Speak of herons, see @part.md and @${outside}`)
    await written(at, 'part.md', 'Speak of terns.')
    await written(at, 'sub/AGENTS.md', 'Speak of petrels.')
    await written(at, 'sub/a.txt', 'plain text')
    await written(at, '.palimpsest/skills/fly/SKILL.md', '---\ndescription: how to skim\n---\nflap')
    await written(at, '.palimpsest/commands/nest.md', 'build a nest')
    await written(at, '.palimpsest/output-styles/avian.md', 'Chirp.')
    await written(
      at,
      '.palimpsest/agents/scout.md',
      '---\nname: scout\ndescription: scouts the marsh\n---\nlook',
    )
    const before = await at.pal(['-p', 'hi'])
    const unseen = /herons|terns|rails|petrels|how to skim|scouts the marsh/
    for (const body of bodies(simulator)) expect(body).not.toMatch(unseen)
    for (const kind of ['skill', 'command', 'output style', 'agent type'])
      expect(before.err).toContain(`(${kind}) was not read`)
    expect(before.err).toMatch(/sub\/AGENTS\.md was not read/)
    const listed = JSON.parse((await at.pal(['trust', '--list', '--json'])).out) as {
      files: { kind: string; path: string; state: string; sha256: string }[]
    }
    expect(listed.files.map(({ kind, state }) => `${kind} ${state}`).toSorted()).toEqual([
      'agent type new',
      'command new',
      'include new',
      'instructions new',
      'instructions new',
      'instructions new',
      'output style new',
      'skill new',
    ])
    await at.pal(['trust'])
    await at.pal(['-p', 'hi'])
    const [, , third = '', fourth = ''] = bodies(simulator)
    for (const word of ['herons', 'terns', 'rails', 'how to skim', 'scouts the marsh'])
      expect(third).toContain(word)
    expect(fourth).toContain('petrels')
  })

  it('[PM72] the program in the project that a server names is approved by its content', async () => {
    const { access } = await server(['one', 'two', 'three'])
    const at = await openWorkspace(access)
    const ran = join(at.home, 'ran')
    await written(at, 'tools/server.sh', '#!/bin/sh\nexit 0\n')
    await chmod(join(at.project, 'tools/server.sh'), 0o755)
    const servers = {
      mine: { command: './tools/server.sh' },
      other: { command: 'sh', args: ['tools/server.sh'] },
    }
    await written(at, '.mcp.json', JSON.stringify({ mcpServers: servers }))
    const { out } = await at.pal(['trust'])
    expect(out).toContain('tools/server.sh  MCP program')
    await written(at, 'tools/server.sh', `#!/bin/sh\ntouch ${ran}\n`)
    const changed = await at.pal(['-p', 'hi'])
    expect(existsSync(ran)).toBe(false)
    expect(changed.err).toMatch(/server\.sh \(MCP program\) was not read: it has changed/)
    await at.pal(['trust'])
    await at.pal(['-p', 'hi'])
    await until(() => existsSync(ran), 'the program that was approved')
  })

  it('[PM72] a program is approved by its content however the command names it', async () => {
    const { access } = await server(['one', 'two'])
    const at = await openWorkspace(access)
    const files = ['tools/bare.js', 'tools/short.cjs', 'tools/by url.mjs', 'own/main.js', 'tools/script.sh']
    for (const file of [...files, 'mod.py', 'data/index.js']) await written(at, file, '')
    await written(at, 'own/package.json', '{"main": "./main"}')
    const url = pathToFileURL(join(at.project, 'tools/by url.mjs')).href
    const servers = {
      bare: { command: 'node', args: ['./tools/bare'] },
      short: { command: 'node', args: ['-r./tools/short.cjs', '-e', '0'] },
      url: { command: 'node', args: ['--import', url, '-e', '0'] },
      folder: { command: 'node', args: ['own'] },
      script: { command: 'sh', args: ['-c', 'exec tools/script.sh'] },
      mod: { command: 'python3', args: ['-m', 'mod'] },
      data: { command: 'true', args: ['data'] },
    }
    await written(at, '.mcp.json', JSON.stringify({ mcpServers: servers }))
    const listed = JSON.parse((await at.pal(['trust', '--list', '--json'])).out) as {
      files: { kind: string; path: string }[]
    }
    const programs = listed.files.filter(({ kind }) => kind === 'MCP program').map(({ path }) => path)
    const own = ['mod.py', 'own/package.json', ...files].map((name) => join(at.project, name))
    expect(programs.toSorted()).toEqual(own.toSorted())
    await at.pal(['trust'])
    await written(at, 'tools/bare.js', 'process.exit(1)')
    const { err } = await at.pal(['-p', 'hi'])
    expect(err).toMatch(/bare\.js \(MCP program\) was not read: it has changed/)
  })

  it('[PM72] the question shows which variables of yours go where', async () => {
    const at = await openWorkspace()
    const github = {
      url: 'https://mcp.example/${REGION:-eu}',
      headers: { Authorization: 'Bearer ${GH_TOKEN}' },
    }
    const local = { command: 'node', args: ['x', '--key=${API_KEY}'], env: { PASS: '${DB_PASS}' } }
    await written(at, '.mcp.json', JSON.stringify({ mcpServers: { github, local } }))
    const { out } = await at.pal(['trust', '--list'])
    for (const line of [
      'github: connects to https://mcp.example/',
      'github: gets your variable REGION in its address',
      'github: gets your variable GH_TOKEN in its header Authorization',
      'local: gets your variable API_KEY in argument 2',
      'local: gets your variable DB_PASS in its variable PASS',
    ])
      expect(out).toContain(line)
  })

  it('[PM72] a program that a variable of the server names is approved by its content too, and the variable is shown', async () => {
    const { access } = await server(['one', 'two', 'three'])
    const at = await openWorkspace(access)
    const ran = join(at.home, 'ran')
    const env = { NODE_OPTIONS: '--require ./tools/hook.cjs' }
    await written(at, 'tools/hook.cjs', '')
    const mcp = { mcpServers: { local: { command: 'node', args: ['-e', '0'], env } } }
    await written(at, '.mcp.json', JSON.stringify(mcp))
    const { out } = await at.pal(['trust'])
    expect(out).toContain('local: its NODE_OPTIONS is set to "--require ./tools/hook.cjs"')
    await written(at, 'tools/hook.cjs', `require('node:fs').writeFileSync(${JSON.stringify(ran)}, '')`)
    const changed = await at.pal(['-p', 'hi'])
    expect(changed.err).toMatch(/hook\.cjs \(MCP program\) was not read: it has changed/)
    expect(existsSync(ran)).toBe(false)
    await at.pal(['trust'])
    await at.pal(['-p', 'hi'])
    await until(() => existsSync(ran), 'the program that was approved')
  })

  it('[PM77] however much there is, what runs or allows something is named in the question, one line each', async () => {
    const at = await openWorkspace()
    const allow = [...Array(60).keys()].map((nr) => `Bash(echo ${nr})`)
    await written(
      at,
      '.palimpsest/settings.json',
      JSON.stringify({ allow: [...allow, 'Bash\nnew  AGENTS.md'] }),
    )
    for (const nr of Array(60).keys()) await written(at, `.palimpsest/commands/c${nr}.md`, 'Say so.')
    await written(at, '.mcp.json', JSON.stringify({ mcpServers: { last: { command: 'curl', args: ['x'] } } }))
    const { err } = await at
      .pal(['trust'], { inTerminal: true, input: 'n\n' })
      .then(({ out, err: rest }) => ({
        err: `${out}${rest}`,
      }))
    expect(err).toContain('last: starts curl x')
    expect(err).toContain('allow Bash(echo 59)')
    expect(err).toContain('allow Bash\u240Anew  AGENTS.md')
    expect(err).toMatch(/… \d+ more lines/)
  })

  it('[PM73] a folder trusted by its path alone is asked about once more, with the reason', async () => {
    const { access, simulator } = await server(['one', 'two'])
    const at = await openWorkspace(access)
    await written(at, 'AGENTS.md', 'Speak of herons.')
    await mkdir(at.state)
    await writeFile(join(at.state, 'trusted.json'), JSON.stringify({ folders: [at.project] }))
    const { err } = await at.pal(['-p', 'hi'])
    expect(bodies(simulator)[0]).not.toContain('herons')
    expect(err).toContain('trust now covers contents')
    await at.pal(['trust'])
    await at.pal(['-p', 'hi'])
    expect(bodies(simulator)[1]).toContain('herons')
    await at.pal(['untrust'])
    expect((await at.pal(['trust', '--list', '--json'])).out).toContain('"trusted": false')
    expect(await readFile(join(at.state, 'trusted.json'), 'utf8')).not.toContain(at.project)
  })

  it('[PM74] --require-trust ends with a failure and the reason before anything is sent', async () => {
    const { access, simulator } = await server(['one', 'two', 'three'])
    const at = await openWorkspace(access)
    expect((await at.pal(['-p', '--require-trust', 'hi'])).code).toBe(0)
    await written(at, 'AGENTS.md', 'Speak of herons.')
    const refused = await at.pal(['-p', '--require-trust', 'hi'])
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('--require-trust: AGENTS.md (new) would be left out')
    await at.pal(['trust'])
    expect((await at.pal(['-p', '--require-trust', 'hi'])).code).toBe(0)
    await written(at, 'AGENTS.md', 'Speak of egrets.')
    expect((await at.pal(['-p', '--require-trust', 'hi'])).err).toContain('AGENTS.md (changed)')
    expect(simulator.log.requests).toHaveLength(2)
  })

  it('[PM75] what is kept of approved contents is for its owner only, and counts only with its hash', async () => {
    const { access, simulator } = await server(['one', 'two'])
    const at = await openWorkspace(access)
    await written(at, 'AGENTS.md', 'Speak of herons.')
    await at.pal(['trust'])
    const { files } = JSON.parse((await at.pal(['trust', '--list', '--json'])).out) as {
      files: { state: string }[]
    }
    expect(files.map(({ state }) => state)).toEqual(['approved'])
    const slug = (await import('node:fs')).readdirSync(join(at.state, 'projects'))[0]!
    const file = join(at.state, 'projects', slug, 'trust.json')
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const kept = await readFile(file, 'utf8')
    await writeFile(file, kept.replace('herons', 'egrets'))
    const { err } = await at.pal(['-p', 'hi'])
    expect(err).toContain('does not match its hash')
    expect(bodies(simulator)[0]).not.toMatch(/herons|egrets/)
    await writeFile(file, kept.slice(0, 40))
    expect((await at.pal(['-p', 'hi'])).err).toMatch(/trust\.json is damaged, so this folder is not trusted/)
  })
})

describe('the folders that everything is kept in', () => {
  it('[PM79] a state folder of another user is refused, and one that others may write to is said', async () => {
    const { access, simulator } = await server(['one', 'two'])
    const at = await openWorkspace(access)
    await mkdir(at.state)
    await chmod(at.state, 0o777)
    const open = await at.pal(['-p', 'hi'])
    expect(open.code).toBe(0)
    expect(open.err).toContain(`${at.state} can be written to by others`)
    // Only root can give a folder away; everybody else finds one of root's.
    const isRoot = process.getuid?.() === 0
    if (isRoot) await chown(at.state, 65_534, 65_534)
    const foreign = isRoot ? at.state : '/usr'
    const refused = await at.pal(['-p', 'hi'], { environment: { PALIMPSEST_HOME: foreign } })
    expect(refused.code).toBe(1)
    expect(refused.err).toContain('belongs to another user')
    expect(simulator.log.requests).toHaveLength(1)
  })

  it('[PM79] a memory folder that is refused is said, and one behind a link is judged by where it leads', async () => {
    const { access } = await server(['1', '2', '3', '4', '5'])
    const at = await openWorkspace(access)
    await symlink('/', join(at.home, 'to-root'))
    await symlink(join(at.home, '..'), join(at.home, 'up'))
    await symlink(at.project, join(at.home, 'fine'))
    const said = async (path: string) =>
      (await at.pal(['-p', 'hi'], { environment: { PALIMPSEST_MEMORY_DIRECTORY: path } })).err
    for (const path of ['/', '~/', join(at.home, 'to-root', 'memory'), join(at.home, 'up', 'home')])
      expect(await said(path), path).toContain('memory is off')
    expect(await said(join(at.home, 'fine', 'memory'))).not.toContain('memory is off')
  })
})
