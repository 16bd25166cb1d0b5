// One write of the conversation into a store of memories. A turn that has read what nobody vouches for asks the user
// first, where there is one.
import type { Result } from '../../disk/fs.ts'
import type { Target, WantedWrite } from '../../forks/memory/folder-guard.ts'
import { readMemoryText } from '../../memory/format/frontmatter.ts'
import { indexName, isOpen, type MemoryScope } from '../../memory/memory.ts'
import type { Applied, MemoryStore } from '../../memory/memory-store.ts'
import { keptAt, saveMemory, type Checked, type Draft } from '../../memory/save.ts'
import { untyped, type Lineage } from '../../memory/trust/lineage.ts'
import type { GuardedWrite } from '../../tools/files/guard.ts'
import type { AskUser } from '../../tools/permission/question.ts'
import type { ToolEnv, ToolOutcome } from '../../tools/tool.ts'

export interface GuardOptions {
  readonly stores: readonly MemoryStore[]
  readonly askUser?: AskUser | undefined
  /** Whether what the conversation calls the user's was typed by somebody. */
  readonly isTyped?: boolean | undefined
  /** Writes a page of the diary; null where diaries are off. */
  readonly diary: ((store: MemoryStore, file: string, text: string) => Promise<Result<object>>) | null
}

export async function guardedWrite(
  options: GuardOptions,
  { store, file }: Target,
  change: WantedWrite,
  env: ToolEnv,
  signal: AbortSignal,
): Promise<GuardedWrite> {
  const { path, text, expected } = change
  const seen = env.lineage?.() ?? unknown
  const lineage = options.isTyped === false ? untyped(seen) : seen
  const saved = await saveMemory(options.stores, {
    store,
    change: { file, text, expected },
    via: 'session',
    lineage,
    said: saidBefore(lineage, env.now()),
    now: env.now(),
    check: (draft) => approval(options.askUser, path, draft, env, signal),
  })
  switch (saved.kind) {
    case 'index':
      return { ok: true, path, file: null, said: `${indexName} is generated.` }
    case 'diary':
      return await diaryPage(options, { store, file }, change)
    case 'refused':
      return { ok: false, why: saved.why }
    case 'applied':
      return {
        ok: true,
        path,
        file: saved.file,
        said: outcomeText(saved.applied, saved.dropped, saved.dates, store.scope),
        memory: shownAs(saved.applied),
      }
  }
}

function shownAs({ kind, file }: Applied): ToolOutcome['memory'] {
  if (kind === 'unchanged') return undefined
  return { did: kind === 'held' ? 'held' : 'saved', file }
}

async function diaryPage(
  { diary }: GuardOptions,
  { store, file }: Target,
  { path, text }: WantedWrite,
): Promise<GuardedWrite> {
  if (diary === null)
    return { ok: false, why: 'Diaries are switched off; save a memory with a topic instead.' }
  const written = await diary(store, file, text)
  return written.ok
    ? { ok: true, path, file: await keptAt(store, file), said: 'Written down.' }
    : { ok: false, why: written.failure.message }
}

/** The moment from which days count, and what the user said then. */
function saidBefore(
  { isMain, typedAt, userWords }: Lineage,
  now: number,
): { readonly at: number; readonly texts: readonly string[] } {
  return isMain && typedAt !== undefined
    ? { at: typedAt, texts: userWords.slice(-1) }
    : { at: now, texts: [] }
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

async function approval(
  askUser: AskUser | undefined,
  path: string,
  { text, by, asks }: Draft,
  env: ToolEnv,
  signal: AbortSignal,
): Promise<Checked> {
  if (!asks || askUser === undefined) return { ok: true, approved: false }
  const answer = await askUser(
    {
      tool: 'Write',
      callId: env.callId,
      subject: `${path}\n${text}`,
      why: `a memory is to be kept for later sessions, and this turn has read ${by.from.join(', ')}`,
      rules: [],
      scopes: [],
    },
    signal,
  )
  const no = (why: string): Checked => ({ ok: false, why })
  if (signal.aborted) return no('The question was not answered; nothing was saved.')
  if (answer.kind === 'interrupt') return no('The user interrupted; nothing was saved.')
  if (answer.kind !== 'no') return { ok: true, approved: true }
  return no(`The user does not want this remembered${answer.words === undefined ? '' : `: ${answer.words}`}.`)
}

function outcomeText(
  applied: Applied,
  dropped: readonly string[],
  dates: readonly string[],
  scope: MemoryScope,
): string {
  const { kind, file, version, why, notes } = applied
  const days = dates.length === 0 ? [] : [`days were written as dates: ${dates.join(', ')}`]
  const more = [...notes, ...days].map((note) => ` ${note}.`).join('')
  if (kind === 'held')
    return `${file} is held until the user has looked at it (pal memory accept ${version}): ${why}.${more}`
  if (kind === 'unchanged') return `${file} says that already.${more}`
  const full =
    dropped.length === 0
      ? ''
      : ` The index is full: ${dropped.length} older memories are no longer listed (${dropped.slice(0, shownDropped).join(', ')}${dropped.length > shownDropped ? ', …' : ''}). Merge or remove some.`
  return `Saved ${file} (version ${version}).${more}${keptAs(applied, scope)}${full}`
}
const shownDropped = 5

/** What a memory that is not shown as a rule or fact of its own counts as. */
function keptAs({ text, by }: Applied, scope: MemoryScope): string {
  const { head } = readMemoryText(text ?? '')
  if (isOpen(by.trust, head)) return ''
  if (by.trust === 'model')
    return ` It does not follow from what the user typed, so it is kept as an observation and counts as no ${head.type === 'user' ? 'preference' : 'rule'}: searched, never shown unasked. Where the user did say it, write the user's own sentence.`
  // An agent is told its own facts again.
  return scope === 'agent'
    ? ' It comes from what was read, so it is kept as data: listed for agents of this type, not to be followed.'
    : ' It comes from what was read, so it is kept as data: searched, never shown unasked.'
}
