import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { machineFileSystem, type FileSystem } from '../../disk/fs.ts'
import type { Tool, ToolEnv, ToolOutcome } from '../tool.ts'
import { changed, editTool } from './edit.ts'
import { createPathGate, type PathGateOptions } from './path-gate.ts'
import { isSecretPath, unwritableName } from './protected-names.ts'
import { createReadFiles } from './read-files.ts'
import { readTool } from './read.ts'
import { writeTool } from './write.ts'

const base = mkdtempSync(join(tmpdir(), 'pal-files-'))
afterAll(() => rmSync(base, { recursive: true }))
const never = new AbortController().signal
let count = 0

interface Desk {
  readonly root: string
  readonly env: ToolEnv
  readonly shown: Set<string>
  readonly read: (input: Record<string, unknown>) => Promise<ToolOutcome>
  readonly write: (input: Record<string, unknown>) => Promise<ToolOutcome>
  readonly edit: (input: Record<string, unknown>) => Promise<ToolOutcome>
  readonly put: (name: string, bytes: string | Uint8Array) => string
  readonly text: (name: string) => string
}

function desk(more: Partial<PathGateOptions> = {}, fs: FileSystem = machineFileSystem): Desk {
  const root = join(base, `w${++count}`, 'proj')
  mkdirSync(root, { recursive: true })
  const gate = createPathGate({ fs, unique: () => `t${++count}`, ...more })
  const shown = new Set<string>()
  const env: ToolEnv = {
    cwd: root,
    callId: 'x',
    readFiles: createReadFiles(),
    spill: null,
    expand: async () => ({ ok: false, why: '' }),
    isShown: (id) => shown.has(id),
    report: () => {},
    now: () => 0,
  }
  const use = (tool: Tool) => async (input: Record<string, unknown>) => {
    const parsed = tool.parse(input)
    if (!parsed.ok) throw new Error(parsed.why)
    return await tool.run(parsed.input, { ...env, callId: `call_${++count}` }, never)
  }
  const put = (name: string, bytes: string | Uint8Array) => {
    writeFileSync(join(root, name), bytes)
    return name
  }
  return {
    root,
    env,
    shown,
    read: use(readTool(gate)),
    write: use(writeTool(gate)),
    edit: use(editTool(gate)),
    put,
    text: (name) => readFileSync(join(root, name), 'utf8'),
  }
}
const textOf = (outcome: ToolOutcome) =>
  outcome.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
const refused = (outcome: ToolOutcome, like: RegExp) => {
  expect(textOf(outcome)).toMatch(like)
  expect(outcome.isError).toBe(true)
}

describe('Read', () => {
  it('[B50] shows numbered lines and pages through a file', async () => {
    const at = desk()
    at.put('a.txt', 'one\r\ntwo\n\nfour')
    expect(textOf(await at.read({ file_path: 'a.txt' }))).toBe('1\tone\n2\ttwo\n3\t\n4\tfour')
    expect(textOf(await at.read({ file_path: 'a.txt', offset: 2, limit: 2 }))).toBe(
      '2\ttwo\n3\t\n[lines 2 to 3 of 4; go on with offset 4]',
    )
    expect(textOf(await at.read({ file_path: 'a.txt', offset: 9 }))).toBe(
      '[the file has 4 lines; there is no line 9]',
    )
    at.put('empty', '')
    expect(textOf(await at.read({ file_path: 'empty' }))).toBe('[the file is empty]')
    at.put('bom.txt', '\uFEFFfirst\n')
    expect(textOf(await at.read({ file_path: 'bom.txt' }))).toBe('1\tfirst')
  })

  it('[B50] the pages together are the file, each within its budget', async () => {
    const at = desk()
    const lines = Array.from({ length: 9000 }, (_, line) => `line ${line} ${'word '.repeat(line % 40)}`)
    at.put('big.txt', lines.join('\n') + '\n')
    const seen: string[] = []
    for (let offset = 1; offset > 0;) {
      const page = textOf(await at.read({ file_path: 'big.txt', offset }))
      expect(page.length).toBeLessThan(150_000)
      seen.push(
        ...page
          .split('\n')
          .filter((line) => /^\d+\t/.test(line))
          .map((line) => line.slice(line.indexOf('\t') + 1)),
      )
      offset = Number(/go on with offset (\d+)/.exec(page)?.[1] ?? 0)
    }
    expect(seen).toEqual(lines)
  })

  it('[B51] a long line is cut at a whole character, whatever the block borders', async () => {
    const at = desk()
    at.put('wide.txt', `${'😀'.repeat(3000)}\n${'é'.repeat(200_000)}\nend\n`)
    const shown = textOf(await at.read({ file_path: 'wide.txt' }))
    expect(shown).toBe(`1\t${'😀'.repeat(1000)}… [line cut]\n2\t${'é'.repeat(2000)}… [line cut]\n3\tend`)
  })

  it('[B52] tells images, binary files, folders, pipes and missing files apart', async () => {
    const at = desk()
    at.put('x.png', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0]))
    expect((await at.read({ file_path: 'x.png' })).content[0]).toEqual({
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoA' },
    })
    at.put('huge.png', Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), Buffer.alloc(4 * 1024 * 1024)]))
    refused(await at.read({ file_path: 'huge.png' }), /Make it smaller/)
    at.put('b.bin', 'a\0b')
    refused(await at.read({ file_path: 'b.bin' }), /binary/)
    refused(await at.read({ file_path: '.' }), /is a folder/)
    at.put('Config.json', '{}')
    refused(await at.read({ file_path: 'config.yaml' }), /no file config\.yaml.*Config\.json/)
    execFileSync('mkfifo', [join(at.root, 'pipe')])
    refused(await at.read({ file_path: 'pipe' }), /not a file/)
  })

  it('[B53] what has not changed and still stands in the view is not shown again', async () => {
    const at = desk()
    at.put('a.txt', 'one\ntwo\n')
    await at.read({ file_path: 'a.txt' })
    const first = at.env.readFiles.entries()[0]![1].callId
    expect(textOf(await at.read({ file_path: 'a.txt' }))).toMatch(/^1\tone/)
    const second = at.env.readFiles.entries()[0]![1].callId
    at.shown.add(second)
    expect(textOf(await at.read({ file_path: './a.txt' }))).toBe(
      `[unchanged: ./a.txt is as it was shown before (${second})]`,
    )
    expect(textOf(await at.read({ file_path: 'a.txt', offset: 2 }))).toMatch(/^2\ttwo/)
    at.shown.add(at.env.readFiles.entries()[0]![1].callId)
    at.put('a.txt', 'one\nTWO\n')
    expect(textOf(await at.read({ file_path: 'a.txt', offset: 2 }))).toMatch(/^2\tTWO/)
    expect(first).not.toBe(second)
  })
})

describe('Write', () => {
  it('[B54] makes a new file with its folders, and replaces one that was read', async () => {
    const at = desk()
    expect(textOf(await at.write({ file_path: 'x/y/z.txt', content: 'hi\n' }))).toBe(
      'Created x/y/z.txt (1 lines, 3 bytes).',
    )
    expect(at.text('x/y/z.txt')).toBe('hi\n')
    at.put('old.sh', '#!/bin/sh\n')
    chmodSync(join(at.root, 'old.sh'), 0o755)
    refused(await at.write({ file_path: 'old.sh', content: 'new' }), /was not read/)
    await at.read({ file_path: 'old.sh' })
    expect(textOf(await at.write({ file_path: 'old.sh', content: 'new' }))).toMatch(/^Replaced/)
    expect([at.text('old.sh'), statSync(join(at.root, 'old.sh')).mode & 0o777]).toEqual(['new', 0o755])
    expect(textOf(await at.write({ file_path: 'old.sh', content: 'newer' }))).toMatch(/^Replaced/)
    expect(readdirSync(at.root).sort()).toEqual(['old.sh', 'x'])
  })

  it('[B55] refuses a file that changed since, and says so', async () => {
    const at = desk()
    at.put('a.txt', 'one\n')
    await at.read({ file_path: 'a.txt' })
    at.put('a.txt', 'two\n')
    refused(await at.write({ file_path: 'a.txt', content: 'x' }), /changed since it was read/)
    refused(
      await at.edit({ file_path: 'a.txt', old_string: 'two', new_string: 'x' }),
      /changed since it was read/,
    )
    expect(at.text('a.txt')).toBe('two\n')
  })

  it('[B55] a change between look and write is caught too', async () => {
    let openings = 0
    const fs: FileSystem = {
      ...machineFileSystem,
      openFolder: async (path) => {
        // The look opens the folder once; the second opening is the one to write in.
        if (++openings === 2) writeFileSync(join(at.root, 'a.txt'), 'other\n')
        return await machineFileSystem.openFolder(path)
      },
    }
    const at = desk({}, fs)
    for (const act of [
      () => at.edit({ file_path: 'a.txt', old_string: 'one', new_string: 'x' }),
      () => at.write({ file_path: 'a.txt', content: 'x' }),
    ]) {
      at.put('a.txt', 'one\n')
      await at.read({ file_path: 'a.txt' })
      openings = 0
      refused(await act(), /changed meanwhile/)
      expect([at.text('a.txt'), openings]).toEqual(['other\n', 2])
    }
  })

  it('[B56] keeps line ends and byte order mark of what it replaces', async () => {
    const at = desk()
    at.put('win.txt', '\uFEFFa\r\nb\r\n')
    await at.read({ file_path: 'win.txt' })
    await at.write({ file_path: 'win.txt', content: 'c\nd\n' })
    expect(at.text('win.txt')).toBe('\uFEFFc\r\nd\r\n')
  })

  it('[B57] a tag that stands for a secret is never written over it', async () => {
    const at = desk()
    at.put('conf', 'key = abc\nport = 1\n')
    await at.read({ file_path: 'conf' })
    refused(await at.write({ file_path: 'conf', content: 'key = [secret:key:3]\nport = 2\n' }), /tag/)
    refused(
      await at.edit({ file_path: 'conf', old_string: 'port = 1', new_string: 'x [secret:key:3]' }),
      /tag/,
    )
    refused(
      await at.edit({ file_path: 'conf', old_string: 'key = [secret:key:3]', new_string: 'x' }),
      /the file has the secret there/,
    )
    expect(at.text('conf')).toBe('key = abc\nport = 1\n')
  })
})

describe('Edit', () => {
  it('[B58] needs a prior read and a text that is there once', async () => {
    const at = desk()
    at.put('a.ts', 'let a = 1\nlet b = 1\nlet a2 = $1\n')
    refused(await at.edit({ file_path: 'a.ts', old_string: 'let a', new_string: 'x' }), /not read/)
    await at.read({ file_path: 'a.ts' })
    refused(
      await at.edit({ file_path: 'a.ts', old_string: ' = 1', new_string: 'x' }),
      /occurs 2 times \(line 1, 2\)/,
    )
    refused(await at.edit({ file_path: 'a.ts', old_string: '', new_string: 'x' }), /empty/)
    refused(await at.edit({ file_path: 'a.ts', old_string: 'a', new_string: 'a' }), /same/)
    expect(
      textOf(await at.edit({ file_path: 'a.ts', old_string: 'let b = 1', new_string: 'let b = $&' })),
    ).toBe('Edited a.ts: one place, line 2.')
    expect(
      textOf(await at.edit({ file_path: 'a.ts', old_string: 'let', new_string: 'var', replace_all: true })),
    ).toBe('Edited a.ts: 3 places, line 1, 2, 3.')
    expect(at.text('a.ts')).toBe('var a = 1\nvar b = $&\nvar a2 = $1\n')
    refused(await at.edit({ file_path: 'none.ts', old_string: 'a', new_string: 'b' }), /no file none\.ts/)
  })

  it('[B58] names what the model probably meant', async () => {
    const at = desk()
    at.put('a.ts', 'function first() {\n\treturn 1\n}\nfunction second(value) {\n  return value * 2\n}\n')
    await at.read({ file_path: 'a.ts' })
    refused(
      await at.edit({
        file_path: 'a.ts',
        old_string: 'function first() {\n    return 1\n}',
        new_string: 'x',
      }),
      /Lines 1 to 3 differ from it in white space only[\s\S]*\treturn 1/,
    )
    refused(
      await at.edit({ file_path: 'a.ts', old_string: '  return values * 3', new_string: 'x' }),
      /nearest is at line 5:\n {2}return value \* 2/,
    )
  })

  it('[B56] keeps byte order mark, line ends, mode and everything else', async () => {
    const at = desk()
    at.put('w.txt', '\uFEFFone\r\ntwo\r\nthree\r\n')
    chmodSync(join(at.root, 'w.txt'), 0o640)
    await at.read({ file_path: 'w.txt' })
    await at.edit({ file_path: 'w.txt', old_string: 'one\ntwo', new_string: 'eins\nzwei\ndrei' })
    expect([at.text('w.txt'), statSync(join(at.root, 'w.txt')).mode & 0o777]).toEqual([
      '\uFEFFeins\r\nzwei\r\ndrei\r\nthree\r\n',
      0o640,
    ])
    at.put('latin', Buffer.from([0xe9, 0x0a]))
    refused(await at.edit({ file_path: 'latin', old_string: 'x', new_string: 'y' }), /not UTF-8/)
  })

  it('[B59] half a character is neither matched nor written', async () => {
    const at = desk()
    at.put('e.txt', 'a😀b\n')
    await at.read({ file_path: 'e.txt' })
    refused(
      await at.edit({ file_path: 'e.txt', old_string: '\uD83D', new_string: 'x' }),
      /half of a character/,
    )
    refused(await at.write({ file_path: 'n.txt', content: 'x\uDE00' }), /half of a character/)
    await at.edit({ file_path: 'e.txt', old_string: '😀', new_string: '👩‍🚀' })
    expect(at.text('e.txt')).toBe('a👩‍🚀b\n')
  })

  it('[B59] an edit and its reverse give back the same text', () => {
    const piece = fc.constantFrom('a', 'b', '😀', '\n', '\r\n', ' ', '$&', '日')
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 12 }),
        fc.array(piece, { maxLength: 12 }),
        fc.constantFrom('OLD', 'OLD\nline'),
        fc.constantFrom('NEW', 'NEW\nx\ny', ''),
        (before, after, old, next) => {
          const returns = before.concat(after).includes('\r\n') && !before.concat(after).includes('\n')
          fc.pre(returns || !before.concat(after).includes('\r\n'))
          const inFile = (text: string) => (returns ? text.replaceAll('\n', '\r\n') : text)
          const text = before.join('') + inFile(old) + after.join('')
          const change = changed(text, {
            file_path: '',
            old_string: old,
            new_string: next,
            replace_all: undefined,
          })
          expect(change).toMatchObject({ ok: true, text: before.join('') + inFile(next) + after.join('') })
        },
      ),
    )
  })
})

describe('the gate', () => {
  let at: Desk
  let outside: string
  beforeEach(() => {
    at = desk()
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

  it('[B62] the folders that are opened may be written, and only those', async () => {
    const memory = join(at.root, '..', '.palimpsest', 'memory')
    mkdirSync(memory, { recursive: true })
    const fork = desk({ openFolders: [memory] })
    expect((await fork.write({ file_path: join(memory, 'note.md'), content: 'x' })).isError).toBe(false)
    refused(await fork.write({ file_path: join(memory, '..', 'settings.json'), content: 'x' }), /outside/)
  })

  it('[B63] files that hold keys are not shown, unless allowed', async () => {
    mkdirSync(join(at.root, '.ssh'))
    for (const name of ['.env', '.env.local', '.ENV', 'id_ed25519', 'store.p12', '.ssh/known'])
      at.put(name, 'x')
    for (const file_path of ['.env', '.env.local', '.ENV', 'id_ed25519', 'store.p12', '.ssh/known'])
      refused(await at.read({ file_path }), /usually holds keys/)
    for (const name of ['.env.example', 'env.ts', 'id_rsa.pub', 'src/.environment', 'keys.ts', '.npmrc'])
      expect(isSecretPath(name)).toBe(false)
    const open = desk({ readSecrets: true })
    open.put('.env', 'A=1')
    expect(textOf(await open.read({ file_path: '.env' }))).toBe('1\tA=1')
  })

  it('[B64] with reading outside allowed, devices and the environment of processes stay closed', async () => {
    const wide = desk({ readOutside: true })
    expect((await wide.read({ file_path: join(outside, 'secret.txt') })).isError).toBe(false)
    for (const file_path of ['/proc/self/environ', '/dev/zero', '/sys/kernel/notes', '/dev/stdin'])
      expect((await wide.read({ file_path })).isError, file_path).toBe(true)
    refused(await wide.write({ file_path: join(outside, 'new.txt'), content: 'x' }), /outside/)
  })

  it('[B65] swapping a folder for a link while writing never lets a byte out', async () => {
    mkdirSync(join(at.root, 'dir'))
    mkdirSync(join(at.root, '.git'))
    at.put('dir/a.txt', 'one\n')
    const until = Date.now() + 1500
    let [swaps, done] = [0, 0]
    const swapping = (async () => {
      while (Date.now() < until) {
        const to = swaps++ % 2 === 0 ? outside : join(at.root, '.git')
        renameSync(join(at.root, 'dir'), join(at.root, 'aside'))
        symlinkSync(to, join(at.root, 'dir'))
        await new Promise((resolve) => setImmediate(resolve))
        unlinkSync(join(at.root, 'dir'))
        renameSync(join(at.root, 'aside'), join(at.root, 'dir'))
        // Long enough now and then for a whole call to pass.
        await new Promise((resolve) => setTimeout(resolve, swaps % 12))
      }
    })()
    while (Date.now() < until) {
      for (const outcome of [
        await at.write({ file_path: `dir/new${done}.txt`, content: 'x' }),
        await at.read({ file_path: 'dir/a.txt' }),
        await at.edit({ file_path: 'dir/a.txt', old_string: 'one', new_string: 'one ' }),
      ]) {
        if (!outcome.isError) done++
      }
      await at.read({ file_path: 'dir/a.txt' })
      await at.edit({ file_path: 'dir/a.txt', old_string: 'one ', new_string: 'one' })
    }
    await swapping
    expect(readdirSync(outside)).toEqual(['secret.txt'])
    expect(readdirSync(join(at.root, '.git'))).toEqual([])
    untouched()
    expect(swaps).toBeGreaterThan(20)
    expect(done).toBeGreaterThan(5)
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
