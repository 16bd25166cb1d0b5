// One write into a folder of memories. A turn that has read what nobody vouches for asks the user first, where there
// is one.
import type { FileSystem } from '../../disk/fs.ts'
import type { Target, WantedWrite } from '../../forks/memory/folder-guard.ts'
import { readBytes, shaOf } from '../../memory/files.ts'
import { datedMemory, withoutDates } from '../../memory/format/dating.ts'
import { applyWrite, type Applied } from '../../memory/keeping/apply.ts'
import { appendDiary } from '../../memory/keeping/diary.ts'
import type { Keeper } from '../../memory/keeping/keeper.ts'
import { diaryFolder, indexName } from '../../memory/memory.ts'
import { derive, type Lineage } from '../../memory/trust/lineage.ts'
import { othersOf } from '../../memory/trust/own-readings.ts'
import type { GuardedWrite } from '../../tools/files/guard.ts'
import type { AskUser } from '../../tools/permission/index.ts'
import type { ToolEnv } from '../../tools/tool.ts'

export interface GuardOptions {
  readonly fs: FileSystem
  readonly keepers: readonly Keeper[]
  readonly askUser?: AskUser | undefined
  readonly diary: boolean
}

export async function guardedWrite(
  options: GuardOptions,
  { keeper, file }: Target,
  change: WantedWrite,
  env: ToolEnv,
  signal: AbortSignal,
): Promise<GuardedWrite> {
  if (file === indexName) return unneeded(change.path)
  if (file.startsWith(`${diaryFolder}/`)) {
    if (!options.diary)
      return { ok: false, why: 'Diaries are switched off; save a memory with a topic instead.' }
    const kept = await appendDiary(keeper, file, change.text)
    return kept.ok
      ? written(keeper, file, change.path, 'Written down.')
      : { ok: false, why: kept.failure.message }
  }
  const { fs, keepers } = options
  const whole = env.lineage?.() ?? unknown
  const lineage = {
    ...whole,
    turn: await othersOf(fs, keepers, whole.turn),
    before: await othersOf(fs, keepers, whole.before),
  }
  const { at, words } = spoken(lineage, env.now())
  const { by, asks } = derive(lineage, withoutDates(change.text, words, at), env.now())
  const old = await readBytes(fs, keeper.place.root, file)
  const { text, dates } = datedMemory(change.text, old.ok ? old.bytes.toString('utf8') : null, at)
  const approved = asks && options.askUser !== undefined
  if (approved) {
    const refused = await asked(options.askUser!, { ...change, text }, by.from, env, signal)
    if (refused !== null) return { ok: false, why: refused }
  }
  const done = await applyWrite(keeper, [{ file, text, expected: change.expected }], by, {
    via: 'session',
    approved,
  })
  if (!done.ok) return { ok: false, why: `${file} was not saved: ${done.failure.message}` }
  const applied = done.applied[0]!
  if (applied.kind === 'refused') return { ok: false, why: applied.why }
  return await written(keeper, file, change.path, wordsFor(applied, done.dropped, dates))
}

/** The moment from which days count, and the words of the user's that were said then. */
function spoken(
  { isMain, typedAt, userWords }: Lineage,
  now: number,
): { readonly at: number; readonly words: readonly string[] } {
  return isMain && typedAt !== undefined
    ? { at: typedAt, words: userWords.slice(-1) }
    : { at: now, words: [] }
}

/** Somebody who cannot say what was read is taken to have read anything. */
const unknown: Lineage = {
  session: 'unknown',
  isMain: true,
  message: null,
  userWords: [],
  turn: [{ tool: 'unknown', source: null, trust: 'data' }],
  before: [],
}

const unneeded = (path: string): GuardedWrite => ({
  ok: true,
  path,
  file: null,
  said: `Nothing was written: ${indexName} is made from the memories themselves. Its line for a memory follows from the name and description in that file.`,
})

async function asked(
  askUser: AskUser,
  change: WantedWrite,
  from: readonly string[],
  env: ToolEnv,
  signal: AbortSignal,
): Promise<string | null> {
  const answer = await askUser(
    {
      tool: 'Write',
      callId: env.callId,
      subject: `${change.path}\n${change.text}`,
      why: `a memory is to be kept for later sessions, and this turn has read ${from.join(', ')}`,
      rules: [],
      scopes: [],
    },
    signal,
  )
  if (signal.aborted) return 'The question was not answered; nothing was saved.'
  if (answer.kind === 'interrupt') return 'The user interrupted; nothing was saved.'
  if (answer.kind !== 'no') return null
  return `The user does not want this remembered${answer.words === undefined ? '' : `: ${answer.words}`}.`
}

function wordsFor(
  { kind, file, version, by, why, notes }: Applied,
  dropped: readonly string[],
  dates: readonly string[],
): string {
  const days = dates.length === 0 ? [] : [`days were written as dates: ${dates.join(', ')}`]
  const more = [...notes, ...days].map((note) => ` ${note}.`).join('')
  if (kind === 'held')
    return `${file} is held until the user has looked at it (pal memory accept ${version}): ${why}.${more}`
  if (kind === 'unchanged') return `${file} says that already.${more}`
  const fenced =
    by.trust === 'data'
      ? ' It comes from what was read, so it is kept as data: searched, never shown by itself.'
      : ''
  const full =
    dropped.length === 0
      ? ''
      : ` The index is full: ${dropped.length} older memories are no longer listed (${dropped.slice(0, shownDropped).join(', ')}${dropped.length > shownDropped ? ', …' : ''}). Merge or remove some.`
  return `Saved ${file} (version ${version}).${more}${fenced}${full}`
}
const shownDropped = 5

async function written(keeper: Keeper, file: string, path: string, said: string): Promise<GuardedWrite> {
  const now = await readBytes(keeper.fs, keeper.place.root, file)
  if (!now.ok) return { ok: true, path, file: null, said }
  return {
    ok: true,
    path,
    file: { sha256: shaOf(now.bytes), mtimeMs: now.stat.modifiedMs, bytes: now.bytes.length },
    said,
  }
}
