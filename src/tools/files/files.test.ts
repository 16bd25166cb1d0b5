import { unchangedNote } from '../../transcript/markers.ts'
import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { openWorkspace, refused, textOf } from '../../../test/tools/workspace.ts'
import { machineFileSystem, type FileSystem } from '../../disk/fs.ts'
import { changed } from './edit.ts'

describe('Read', () => {
  it('[B50] shows numbered lines and pages through a file', async () => {
    const at = openWorkspace()
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
    const at = openWorkspace()
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
    const at = openWorkspace()
    at.put('wide.txt', `${'😀'.repeat(3000)}\n${'é'.repeat(200_000)}\nend\n`)
    const shown = textOf(await at.read({ file_path: 'wide.txt' }))
    expect(shown).toBe(`1\t${'😀'.repeat(1000)}… [line cut]\n2\t${'é'.repeat(2000)}… [line cut]\n3\tend`)
  })

  it('[B52] tells images, binary files, folders, pipes and missing files apart', async () => {
    const at = openWorkspace()
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
    refused(await at.read({ file_path: 'config.yaml' }), /config\.yaml was not found.*Config\.json/)
    execFileSync('mkfifo', [join(at.root, 'pipe')])
    refused(await at.read({ file_path: 'pipe' }), /not a file/)
  })

  it('[B53] what has not changed and still stands in the view is not shown again', async () => {
    const at = openWorkspace()
    at.put('a.txt', 'one\ntwo\n')
    await at.read({ file_path: 'a.txt' })
    const first = at.env.readFiles.entries()[0]![1].callId
    expect(textOf(await at.read({ file_path: 'a.txt' }))).toMatch(/^1\tone/)
    const second = at.env.readFiles.entries()[0]![1].callId
    at.shown.add(second)
    expect(textOf(await at.read({ file_path: './a.txt' }))).toBe(unchangedNote('./a.txt', second))
    expect(textOf(await at.read({ file_path: 'a.txt', offset: 2 }))).toMatch(/^2\ttwo/)
    at.shown.add(at.env.readFiles.entries()[0]![1].callId)
    at.put('a.txt', 'one\nTWO\n')
    expect(textOf(await at.read({ file_path: 'a.txt', offset: 2 }))).toMatch(/^2\tTWO/)
    expect(first).not.toBe(second)
  })
})

describe('Write', () => {
  it('[B54] makes a new file with its folders, and replaces one that was read', async () => {
    const at = openWorkspace()
    expect(textOf(await at.write({ file_path: 'x/y/z.txt', content: 'hi\n' }))).toBe(
      'Created x/y/z.txt (1 line, 3 bytes).',
    )
    expect(at.text('x/y/z.txt')).toBe('hi\n')
    at.put('old.sh', '#!/bin/sh\n')
    chmodSync(join(at.root, 'old.sh'), 0o755)
    refused(await at.write({ file_path: 'old.sh', content: 'new' }), /was not read/)
    // Looking behind its end shows nothing of it.
    expect((await at.read({ file_path: 'old.sh', offset: 900 })).isError).toBe(false)
    refused(await at.write({ file_path: 'old.sh', content: 'new' }), /was not read/)
    await at.read({ file_path: 'old.sh' })
    expect(textOf(await at.write({ file_path: 'old.sh', content: 'new' }))).toMatch(/^Replaced/)
    expect([at.text('old.sh'), statSync(join(at.root, 'old.sh')).mode & 0o777]).toEqual(['new', 0o755])
    expect(textOf(await at.write({ file_path: 'old.sh', content: 'newer' }))).toMatch(/^Replaced/)
    expect(readdirSync(at.root).sort()).toEqual(['old.sh', 'x'])
  })

  it('[B55] refuses a file that changed since, and says so', async () => {
    const at = openWorkspace()
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
    const at = openWorkspace({}, fs)
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
    const at = openWorkspace()
    at.put('win.txt', '\uFEFFa\r\nb\r\n')
    await at.read({ file_path: 'win.txt' })
    await at.write({ file_path: 'win.txt', content: 'c\nd\n' })
    expect(at.text('win.txt')).toBe('\uFEFFc\r\nd\r\n')
  })

  it('[B57] a tag that stands for a secret is never written over it', async () => {
    const at = openWorkspace()
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
    const at = openWorkspace()
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
    refused(
      await at.edit({ file_path: 'none.ts', old_string: 'a', new_string: 'b' }),
      /none\.ts was not found\. Use Write/,
    )
  })

  it('[B58] names what the model probably meant', async () => {
    const at = openWorkspace()
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

  it('[B73] finds a text that was shown with its tags made harmless, and writes them as the file has them', async () => {
    const at = openWorkspace()
    const edit = (old_string: string, new_string: string) =>
      at.edit({ file_path: 'a.ts', old_string, new_string })
    at.put(
      'a.ts',
      'const a = "<kept id=\\"1\\">" + (b - c)\r\nconst d = `&lt;/plan> ${e}`\r\nconst f = "‹mode>"\r\n',
    )
    await at.read({ file_path: 'a.ts' })
    await edit('const a = "‹kept id=\\"1\\">" + (b - c)', 'const a = "‹kept id=\\"2\\">" + "‹ x" + "‹/kept>"')
    await edit('d = `‹/plan> ${e}`', 'd = `‹plan>${e}‹/plan>`')
    await edit('f = "‹mode>"', 'f = "‹mode name>"')
    expect(at.text('a.ts')).toBe(
      'const a = "<kept id=\\"2\\">" + "‹ x" + "</kept>"\r\nconst d = `&lt;plan>${e}&lt;/plan>`\r\nconst f = "‹mode name>"\r\n',
    )
    // Two that differ are not guessed between, and what is not there is not found.
    at.put('a.ts', '<plan> and &lt;plan>\n')
    await at.read({ file_path: 'a.ts' })
    refused(await edit('‹plan>', 'x'), /not found/)
    refused(await edit('‹other>', 'x'), /not found/)
  })

  it('[B56] keeps byte order mark, line ends, mode and everything else', async () => {
    const at = openWorkspace()
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
    const at = openWorkspace()
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
