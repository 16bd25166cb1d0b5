import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { openWorkspace, refused, textOf, type Workspace } from '../../../test/tools/workspace.ts'
import { machineFileSystem, type FileSystem } from '../../disk/fs.ts'
import { isSecretPath, unwritableName } from './protected-names.ts'
import { createReadFiles } from './read-files.ts'
import { until } from '../../../test/until.ts'

const holdKeys =
  '.env .env.local .ENV .env.production.local .envrc .env~ .env.bak ..env.swp #.env# .env-prod prod.env .npmrc .netrc _netrc .pgpass .my.cnf .git-credentials .pypirc .htpasswd .dockercfg .vault-token .secrets secrets.yml secrets.json kubeconfig dev.kubeconfig client_secret_1.json service-account-prod.json id_ed25519 id_rsa id_rsa_work id_rsa.old server.key server.pem app.p8 store.p12 putty.ppk vault.kdbx .ssh/known .aws/credentials .kube/config .docker/config.json .cargo/credentials.toml .config/gh/hosts.yml'.split(
    ' ',
  )
const holdNone =
  '.env.example .env.sample .env.local.example .env.template .env.d.ts .env.md env.ts env id_rsa.pub id_ed25519_work.pub id_utils.ts id_rsa2.ts src/.environment .envelope keys.ts monkey key.ts secrets.ts secrets.md secret.ts docker/config.json pem.go package-lock.json .gitignore .editorconfig kubeconfig.go credentials.ts'.split(
    ' ',
  )

describe('the gate', () => {
  let at: Workspace
  let outside: string
  beforeEach(() => {
    at = openWorkspace()
    outside = join(at.root, '..', 'proj-evil')
    mkdirSync(outside)
    writeFileSync(join(outside, 'secret.txt'), 'outside\n')
  })
  const untouched = () => expect(readFileSync(join(outside, 'secret.txt'), 'utf8')).toBe('outside\n')

  it('[B60] nothing outside the roots is read or written, by any spelling', async () => {
    symlinkSync(outside, join(at.root, 'link'))
    symlinkSync(join(outside, 'secret.txt'), join(at.root, 'file-link'))
    symlinkSync(join(outside, 'new.txt'), join(at.root, 'dangling'))
    const ways = [
      '../proj-evil/secret.txt',
      join(outside, 'secret.txt'),
      'link/secret.txt',
      'file-link',
      'link/../../proj-evil/secret.txt',
      '/etc/passwd',
      'a\0b',
      '',
    ]
    for (const file_path of ways) {
      expect((await at.read({ file_path })).isError, file_path).toBe(true)
      expect((await at.write({ file_path, content: 'x' })).isError, file_path).toBe(true)
      expect((await at.edit({ file_path, old_string: 'outside', new_string: 'x' })).isError, file_path).toBe(
        true,
      )
    }
    expect((await at.write({ file_path: 'dangling', content: 'x' })).isError).toBe(true)
    expect(readdirSync(outside)).toEqual(['secret.txt'])
    untouched()
  })

  it('[B60] a link that stays inside is followed, and stays a link', async () => {
    at.put('real.txt', 'in\n')
    symlinkSync('real.txt', join(at.root, 'alias'))
    expect(textOf(await at.read({ file_path: 'alias' }))).toBe('1\tin')
    expect((await at.edit({ file_path: 'alias', old_string: 'in', new_string: 'out' })).isError).toBe(false)
    expect([at.text('real.txt'), statSync(join(at.root, 'alias')).isFile()]).toEqual(['out\n', true])
  })

  it('[B61] a file with a second name is not written', async () => {
    linkSync(join(outside, 'secret.txt'), join(at.root, 'hard.txt'))
    await at.read({ file_path: 'hard.txt' })
    refused(await at.write({ file_path: 'hard.txt', content: 'x' }), /2 names/)
    untouched()
  })

  it('[B62] protected names are not written, even when absent, in any spelling', async () => {
    for (const file_path of [
      '.palimpsest/settings.json',
      '.PALIMPSEST/x',
      '.git/hooks/pre-commit',
      '.Git/config',
      'sub/.git/config',
      '.g\u200cit/config',
      'GIT~1/config',
      'PALIMP~1/settings.json',
      '.palimpsest./x',
      '.claude/settings.json',
      '.bashrc',
      '.vscode/tasks.json',
      '.ssh/authorized_keys',
      '.git::$DATA/x',
    ]) {
      refused(await at.write({ file_path, content: 'x' }), /protected/)
    }
    mkdirSync(join(at.root, '.git'))
    symlinkSync('.git', join(at.root, 'innocent'))
    refused(await at.write({ file_path: 'innocent/config', content: 'x' }), /protected/)
    expect(existsSync(join(at.root, '.palimpsest'))).toBe(false)
    for (const name of [
      '.github/workflows/x.yml',
      '.gitignore',
      'git/config',
      '.env.example',
      'palimpsest/x',
      '.vscode/extensions.json',
    ])
      expect(unwritableName(name)).toBeNull()
  })

  it('[PM69] a protected name is one in every spelling a file system may take for it', () => {
    for (const name of [
      '.GIT/config',
      'GIT~1/config',
      'git~1/hooks/x',
      '.git./config',
      '.git /config',
      '.git::$INDEX_ALLOCATION/config',
      '.Git:$I30:$INDEX_ALLOCATION/config',
      'sub/.git::$index_allocation/hooks/pre-commit',
      '.mcp.json::$DATA',
      '.PALIMPSEST::$INDEX_ALLOCATION/settings.json',
    ])
      expect([name, unwritableName(name)]).not.toEqual([name, null])
    for (const name of ['a:b/c', 'git::x/config', '.gitx::$INDEX_ALLOCATION/y'])
      expect([name, unwritableName(name)]).toEqual([name, null])
  })

  it('[B62] the folders that are opened may be written, and only those', async () => {
    const memory = join(at.root, '..', '.palimpsest', 'memory')
    mkdirSync(memory, { recursive: true })
    const fork = openWorkspace({ openFolders: [memory] })
    expect((await fork.write({ file_path: join(memory, 'note.md'), content: 'x' })).isError).toBe(false)
    refused(await fork.write({ file_path: join(memory, '..', 'settings.json'), content: 'x' }), /outside/)
  })

  it('[B63] files that hold keys are not shown, unless allowed', async () => {
    for (const file_path of holdKeys) {
      mkdirSync(dirname(join(at.root, file_path)), { recursive: true })
      at.put(file_path, 'x')
      refused(await at.read({ file_path }), /usually holds keys/)
    }
    for (const name of holdNone) expect([name, isSecretPath(name)]).toEqual([name, false])
    const open = openWorkspace({ grants: { mayRead: () => true, mayWrite: () => false } })
    open.put('.env', 'A=1')
    expect(textOf(await open.read({ file_path: '.env' }))).toBe('1\tA=1')
  })

  it('[B63] a folder swapped for one that holds keys shows nothing', async () => {
    let swap = false
    const fs: FileSystem = {
      ...machineFileSystem,
      openFolder: async (path) => {
        if (swap) {
          swap = false
          renameSync(join(own.root, 'sub'), join(own.root, 'aside'))
          symlinkSync('.ssh', join(own.root, 'sub'))
        }
        return await machineFileSystem.openFolder(path.replace(/sub$/, 'sub/.'))
      },
    }
    const own = openWorkspace({}, fs)
    mkdirSync(join(own.root, '.ssh'))
    mkdirSync(join(own.root, 'sub'))
    own.put('.ssh/a.txt', 'private')
    own.put('sub/a.txt', 'public')
    expect(textOf(await own.read({ file_path: 'sub/a.txt' }))).toBe('1\tpublic')
    swap = true
    refused(await own.read({ file_path: 'sub/a.txt' }), /usually holds keys/)
  })

  it('[B64] with reading outside allowed, devices and the environment of processes stay closed', async () => {
    const wide = openWorkspace({ grants: { mayRead: () => true, mayWrite: () => false } })
    expect((await wide.read({ file_path: join(outside, 'secret.txt') })).isError).toBe(false)
    for (const file_path of ['/proc/self/environ', '/dev/zero', '/sys/kernel/notes', '/dev/stdin'])
      expect((await wide.read({ file_path })).isError, file_path).toBe(true)
    refused(await wide.write({ file_path: join(outside, 'new.txt'), content: 'x' }), /outside/)
  })

  it('[B65] swapping a folder for a link while writing never lets a byte out', async () => {
    mkdirSync(join(at.root, 'dir'))
    mkdirSync(join(at.root, '.git'))
    at.put('dir/a.txt', 'one\n')
    let [swaps, done, calls] = [0, 0, 0]
    const isEnough = (): boolean => swaps > 150 && done > 30
    const swapping = (async () => {
      while (!isEnough()) {
        const to = swaps++ % 2 === 0 ? outside : join(at.root, '.git')
        renameSync(join(at.root, 'dir'), join(at.root, 'aside'))
        symlinkSync(to, join(at.root, 'dir'))
        await new Promise((resolve) => setImmediate(resolve))
        unlinkSync(join(at.root, 'dir'))
        renameSync(join(at.root, 'aside'), join(at.root, 'dir'))
        // Now and then whole calls pass.
        const before = calls
        if (swaps % 12 === 0) await until(() => calls >= before + 3 || isEnough(), 'three calls')
        else await new Promise((resolve) => setTimeout(resolve, swaps % 12))
      }
    })()
    while (!isEnough()) {
      for (const outcome of [
        await at.write({ file_path: `dir/new${done}.txt`, content: 'x' }),
        await at.read({ file_path: 'dir/a.txt' }),
        await at.edit({ file_path: 'dir/a.txt', old_string: 'one', new_string: 'one ' }),
      ]) {
        if (!outcome.isError) done++
        calls++
      }
      await at.read({ file_path: 'dir/a.txt' })
      await at.edit({ file_path: 'dir/a.txt', old_string: 'one ', new_string: 'one' })
    }
    await swapping
    expect(readdirSync(outside)).toEqual(['secret.txt'])
    expect(readdirSync(join(at.root, '.git'))).toEqual([])
    untouched()
  })

  it('[B66] the table of files read is bounded and forgets the one touched longest ago', () => {
    const file = { sha256: '', mtimeMs: 0, bytes: 0, part: null, callId: 'c' }
    const files = createReadFiles([], 3)
    for (const name of ['a', 'b', 'c']) files.set(name, file)
    files.get('a')
    files.set('d', file)
    expect(files.entries().map(([name]) => name)).toEqual(['c', 'a', 'd'])
    const copy = files.copy()
    copy.set('e', file)
    expect([files.get('e'), copy.get('a'), copy.get('c')]).toEqual([undefined, file, undefined])
  })
})
