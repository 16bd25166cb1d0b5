// Files that hold keys, and searches, by the public door of the tools.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { toolsDoor } from '../doors.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-keys-')))
afterAll(() => rmSync(base, { recursive: true }))
let count = 0

/** A project with these files; a text for each, `KEY=x` if none is given. */
function project(files: readonly string[], texts: Readonly<Record<string, string>> = {}): string {
  const root = join(base, `p${++count}`)
  for (const file of [...files, ...Object.keys(texts)]) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), texts[file] ?? 'KEY=x\n')
  }
  return root
}

async function verdict(root: string, name: string, input: Record<string, unknown>): Promise<string> {
  const { createPermission, machineFileSystem } = await toolsDoor()
  const permission = createPermission({
    fs: machineFileSystem,
    root,
    cwd: root,
    home: base,
    rules: [],
    mode: 'default',
  })
  return (await permission.judge({ name, input }, false)).kind
}
const bash = (root: string, command: string) => verdict(root, 'Bash', { command })

describe('a command that reads folders through', () => {
  it('[PM85] is asked about when a file that holds keys lies anywhere below, whatever the folders are called', async () => {
    for (const file of [
      'next.js/.env',
      'a.ts/b.json/.env',
      'node_modules/pkg/.env',
      'node_modules/.npmrc',
      'deploy/server.pem',
      'x/.envrc',
      'x/.env~',
      `${'deep/'.repeat(40)}.env`,
    ]) {
      const root = project(['src/a.ts', file])
      for (const command of ['grep -r KEY .', 'grep -rn KEY', 'rg --hidden KEY', 'rg -uu KEY'])
        expect([file, command, await bash(root, command)]).toEqual([file, command, 'ask'])
    }
  })

  it('[PM85] plain rg is asked about only where it would read one', async () => {
    const plain = 'rg KEY'
    expect(await bash(project(['a.ts', '.env', 'node_modules/x/a.js']), plain)).toBe('allow')
    expect(await bash(project(['a.ts', 'keys/id_rsa']), plain)).toBe('ask')
    for (const [file, text] of [
      ['.ignore', '!.env\n'],
      ['.gitignore', 'dist\n!.env\n'],
      ['.rgignore', '!.e*\n'],
      ['.ignore', '!*\n'],
      ['x/.ignore', '!.env*\n'],
      ['.git/info/exclude', '!.env\n'],
    ] as const)
      expect([file, text, await bash(project(['x/.env', 'a.ts'], { [file]: text }), plain)]).toEqual([
        file,
        text,
        'ask',
      ])
    // What is taken back elsewhere, or is no key, changes nothing.
    const ignore = '.vscode/*\n!.vscode/settings.json\n!.env.example\nnode_modules/\n'
    const root = project(['.env', '.env.example', 'a.ts', 'node_modules/x/secrets.json'], {
      '.gitignore': ignore,
      '.git/HEAD': 'ref: refs/heads/main\n',
    })
    expect(await bash(root, plain)).toBe('allow')
  })

  it('[PM86] certificates that packages ship for their tests ask nobody; those of the project do', async () => {
    expect(await bash(project(['node_modules/x/test/server.pem', 'a.ts']), 'grep -r KEY .')).toBe('allow')
    expect(await bash(project(['certs/server.pem', 'a.ts']), 'grep -r KEY .')).toBe('ask')
  })

  it('[PM86] files that hold keys by custom are asked about by name, templates and public halves are not', async () => {
    const ask =
      '.envrc .npmrc server.pem .env~ .env.local.bak id_rsa_work a.key .pgpass kubeconfig secrets.yml'
    const free = '.env.example .env.sample id_rsa.pub secrets.ts keys.ts .env.d.ts'
    const root = project([...ask.split(' '), ...free.split(' ')])
    for (const [names, kind] of [
      [ask, 'ask'],
      [free, 'allow'],
    ] as const)
      for (const name of names.split(' ')) {
        expect([name, await verdict(root, 'Read', { file_path: name })]).toEqual([name, kind])
        expect([name, await bash(root, `cat ${name}`)]).toEqual([name, kind])
      }
  })
})

describe('a search without ripgrep', () => {
  it('[B31] [B36] lets everything else go on while a pattern takes for ever', async () => {
    const { standardTools, machineFileSystem, createReadFiles } = await toolsDoor()
    const root = project([], { 'a.txt': `${'a'.repeat(60)}!\n` })
    const standard = standardTools({
      fs: machineFileSystem,
      environment: {},
      unique: () => 'x',
      ripgrep: null,
    })
    const grep = standard.tools.find(({ spec }) => spec.name === 'Grep')!
    const parsed = grep.parse({ pattern: '(a+)+$' })
    if (!parsed.ok) throw new Error(parsed.why)
    let ticks = 0
    const timer = setInterval(() => ticks++, 10)
    const env = {
      cwd: root,
      callId: 'x',
      readFiles: createReadFiles(),
      spill: null,
      expand: async () => ({ ok: false, why: '' }) as const,
      isShown: () => false,
      report: () => {},
      now: () => Date.now(),
    }
    try {
      const done = await grep.run(parsed.input, env, new AbortController().signal)
      expect(done.isError).toBe(true)
      expect(JSON.stringify(done.content)).toContain('takes too long')
    } finally {
      clearInterval(timer)
      await standard.close()
    }
    // Held up, the clock ticks only while files are looked for; let go on, for seconds.
    expect(ticks).toBeGreaterThan(20)
  })
})
