// The diary: `logs/YYYY/MM/YYYY-MM-DD.md`, one file a day, only ever appended to. It is neither listed nor
// recalled; consolidation reads it later. It passes the same gate and the same redaction as a memory.
import { dayOf } from '../format/day.ts'
import { refused, type Result } from '../../disk/failure.ts'
import { redact } from '../../disk/redact.ts'
import { writeUnder } from '../../disk/under-root.ts'
import { withoutHidden } from '../format/hidden.ts'
import { diaryFolder } from '../memory.ts'
import { alone } from './alone.ts'
import { fileMode, fileNow, folderMode, type Keeper } from './keeper.ts'

/** The file of a day, by the clock of the world. */
export function diaryFile(ms: number): string {
  const day = dayOf(ms)
  return `${diaryFolder}/${day.slice(0, 4)}/${day.slice(5, 7)}/${day}.md`
}

/** Writes today's page; what stands in it stays. `text` is all of it, as Write gives it, or only what is new. */
export async function appendDiary(
  keeper: Keeper,
  file: string,
  text: string,
): Promise<Result<{ file: string }>> {
  const today = diaryFile(keeper.clock.now())
  if (file !== today) return refused('bad-name', `Only today's page is written: ${today}`)
  return await alone(keeper, async () => {
    const now = await fileNow(keeper, file)
    if (!now.ok) return now
    const before = now.text ?? ''
    const clean = redact(withoutHidden(text).text).text
    const more = clean.startsWith(before) ? clean.slice(before.length) : clean
    const gap = before === '' || before.endsWith('\n') ? '' : '\n'
    const whole = Buffer.from(`${before}${gap}${more}${more.endsWith('\n') ? '' : '\n'}`)
    const done = await writeUnder(keeper.fs, keeper.place.root, file, whole, {
      mode: fileMode(keeper.place),
      makeFolders: folderMode(keeper.place),
      unique: keeper.unique,
      seen: now.mark,
    })
    return done.ok ? { ok: true, file } : done
  })
}
