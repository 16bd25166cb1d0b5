// One of many processes that change memories of one folder: `writer.ts <folder> <name> <updates>`. Every tenth update is
// made to a memory that all of them change, the others to one of its own.
import { machineFileSystem } from '../../src/disk/fs.ts'
import { readBytes, shaOf } from '../../src/memory/files.ts'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import { openKeeper } from '../../src/memory/keeping/keeper.ts'
import { from, keeperOptions, memoryText, placeIn, unsynced } from './memories.ts'

const [base, name, updates] = process.argv.slice(2)
const keeper = openKeeper(placeIn(base!), keeperOptions({ fs: unsynced }))
for (let i = 0; i < Number(updates); i++) {
  const file = i % 10 === 0 ? 'shared.md' : `${name}.md`
  for (;;) {
    const now = await readBytes(machineFileSystem, keeper.place.root, file)
    const text = now.ok ? now.bytes.toString('utf8') : memoryText('lines')
    const change = {
      file,
      text: `${text}- ${name} ${i}\n`,
      expected: now.ok ? shaOf(now.bytes) : null,
    }
    const done = await applyWrite(keeper, [change], from({ session: name! }), { via: 'session' })
    if (!done.ok) throw new Error(done.failure.message)
    const { kind, code, why } = done.applied[0]!
    if (kind === 'written') break
    if (code !== 'changed') throw new Error(`${kind} ${code}: ${why}`)
  }
}
