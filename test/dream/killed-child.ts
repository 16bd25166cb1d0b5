// A consolidation in a process of its own that is killed before its nth call that changes something on the disk:
// `killed-child.ts <folder> <n>`. It does everything of one but ask a model.
import { changeSetOf } from '../../src/forks/memory/consolidation/change-set.ts'
import {
  releaseConsolidationLock,
  takeConsolidationLock,
} from '../../src/memory/keeping/consolidation-lock.ts'
import { readSnapshot } from '../../src/forks/memory/consolidation/snapshot.ts'
import { applyWrite } from '../../src/memory/keeping/apply.ts'
import { finishSet } from '../../src/memory/keeping/change-sets.ts'
import { hookedFileSystem } from '../faults/hooked-fs.ts'
import { from, keeperIn, memoryText, unsynced } from '../memory/memories.ts'

const [base, nth] = process.argv.slice(2)
let time = Date.UTC(2026, 10, 15, 12)
const clock = { now: () => (time += 1000) }
const rule = (name: string, body: string): string =>
  memoryText(name, { type: 'feedback', description: body, body })
const texts: Readonly<Record<string, string>> = {
  'old.md': rule('old', 'Always run the linter before tests.'),
  'new.md': rule('new', 'Never run the linter before tests.'),
  'joined.md': memoryText('joined', { body: 'The release is tomorrow.' }),
}
const before = keeperIn(base!, { fs: unsynced, clock })
for (const [file, text] of Object.entries(texts)) {
  const done = await applyWrite(before, [{ file, text }], from(), { via: 'session' })
  if (!done.ok) throw new Error(done.failure.message)
}
process.stdout.write('ready\n')

let count = 0
const looking = new Set(['open-read', 'openFolder', 'read', 'stat', 'fstat', 'realPath', 'names'])
const fs = hookedFileSystem(unsynced, {
  before: async (call) => {
    if (looking.has(call.name) || ++count !== Number(nth)) return
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => undefined)
  },
})
const keeper = keeperIn(base!, { fs, clock })
const ready = await finishSet(keeper)
const taken = await takeConsolidationLock(keeper)
const read = await readSnapshot(keeper, keeper)
if (!ready.ok || !taken.ok || taken.lock === null || !read.ok) throw new Error('it could not begin')
const gone = texts['old.md']!.replace(/(---\n[\s\S]*?---\n)[\s\S]*/u, '$1\nSuperseded by new.md.\n')
const outcome = changeSetOf(read.world, new Map([['old.md', gone]]), clock.now())
if (!outcome.ok) throw new Error(outcome.why)
const { changes, report } = outcome
const made = await applyWrite(keeper, changes, from(), { via: 'dream', set: { id: 'dream-1', report } })
if (!made.ok) throw new Error(made.failure.message)
const released = await releaseConsolidationLock(keeper, taken.lock, 'done')
if (!released.ok) throw new Error(released.failure.message)
