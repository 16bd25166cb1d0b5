import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { folder } from '../../../test/memory/folder.ts'
import { from, keeperIn, memoryText } from '../../../test/memory/memories.ts'
import { shaOf } from '../files.ts'
import { applyWrite } from './apply.ts'
import { acceptOutside, rejectOutside, waiting } from './held.ts'
import { versionFile } from './keeper.ts'

it('[ME8] a file in another encoding is not accepted as something it is not, and kept byte for byte when it is rejected', async () => {
  const keeper = keeperIn(await folder())
  const path = join(keeper.place.root, 'a.md')
  await applyWrite(keeper, [{ file: 'a.md', text: memoryText('a') }], from(), { via: 'session' })
  const latin = Buffer.from(memoryText('a', { body: 'Das Caf\u00e9 \u00f6ffnet um neun.' }), 'latin1')
  await writeFile(path, latin)
  expect(await acceptOutside(keeper, 'a.md')).toMatchObject({
    ok: false,
    failure: { code: 'bad-memory', message: expect.stringContaining('UTF-8') as string },
  })
  expect(await waiting(keeper)).toMatchObject({ ok: true, outside: [{ file: 'a.md', kind: 'changed' }] })
  expect(await rejectOutside(keeper, 'a.md')).toEqual({ ok: true, replaced: shaOf(latin) })
  expect(await readFile(path, 'utf8')).toBe(memoryText('a'))
  expect(await readFile(versionFile(keeper, shaOf(latin)))).toEqual(latin)
})
