// Finds a person's own sessions of Claude Code, Codex and pi. Only looks: nothing is ever written into those folders.
// What lies there belongs to other programs, so what is passed over is counted with its reason.
import { stat } from 'node:fs/promises'
import { join, sep } from 'node:path'
import { defaults } from '../../settings/defaults.ts'
import { filesUnder } from './tree.ts'

export interface Homes {
  readonly userHome: string
  readonly environment: Readonly<Record<string, string | undefined>>
}

export interface OwnSession {
  readonly program: 'claude-code' | 'codex' | 'pi' | 'gemini-cli'
  readonly path: string
  readonly bytes: number
  readonly modifiedAt: number
}

export interface PassedOver {
  readonly why: string
  readonly count: number
}

export interface OwnSessions {
  /** Newest first. */
  readonly sessions: readonly OwnSession[]
  /** Folders that were looked into, and those of them that are not there. */
  readonly folders: readonly string[]
  readonly missing: readonly string[]
  readonly passedOver: readonly PassedOver[]
}

export interface FindOptions {
  /** Milliseconds since the epoch; what was last written before is passed over. */
  readonly since?: number | undefined
  readonly limit?: number | undefined
  /** For what was used: files of sub-agents too, and those of programs whose sessions cannot be played. */
  readonly forUsage?: boolean | undefined
  /** Files of any size: whoever asks reads them piece by piece. */
  readonly anySize?: boolean | undefined
  /** Asked between files; what was not looked at is counted. */
  readonly isOver?: (() => boolean) | undefined
}

interface Place {
  readonly program: OwnSession['program']
  readonly folder: string
}

/** The folders of the programs; variables that move them come first. */
export function placesIn({ userHome, environment }: Homes): readonly Place[] {
  const given = (name: string): readonly string[] =>
    (environment[name] ?? '')
      .split(',')
      .map((folder) => folder.trim())
      .filter((folder) => folder !== '')
  const or = (moved: readonly string[], ...usual: readonly string[]): readonly string[] =>
    moved.length > 0 ? moved : usual
  const claude = or(
    given('CLAUDE_CONFIG_DIR'),
    join(userHome, '.claude'),
    join(userHome, '.config', 'claude'),
  )
  const codex = or(given('CODEX_HOME'), join(userHome, '.codex'))
  const pi = or(given('PI_CODING_AGENT_DIR'), join(userHome, '.pi', 'agent'))
  return [
    ...claude.map((home) => ({ program: 'claude-code' as const, folder: join(home, 'projects') })),
    ...codex.map((home) => ({ program: 'codex' as const, folder: join(home, 'sessions') })),
    ...pi.map((home) => ({ program: 'pi' as const, folder: join(home, 'sessions') })),
  ]
}

/** Older versions keep a conversation in one file of JSON. */
const isGeminiFile = (name: string): boolean =>
  name.includes(`${sep}chats${sep}`) && /(?:\.jsonl|[/\\]session-[^/\\]*\.json)$/.test(name)

/** The session files of other agents on this machine. */
export async function findOwn(homes: Homes, options: FindOptions): Promise<OwnSessions> {
  const places = placesIn(homes)
  const missing: string[] = []
  const found: OwnSession[] = []
  const reasons = new Map<string, number>()
  const pass = (why: string, count = 1): void => void reasons.set(why, (reasons.get(why) ?? 0) + count)
  const { userHome } = homes
  const gemini = { program: 'gemini-cli', folder: join(userHome, '.gemini', 'tmp') } as const
  for (const { program, folder } of options.forUsage === true ? [...places, gemini] : places) {
    const tree = await filesUnder(folder)
    if (tree === null) missing.push(folder)
    for (const { folder: closed, why } of tree?.unread ?? [])
      pass(`folders that cannot be entered (${why}: ${closed})`)
    for (const name of tree?.names ?? []) {
      if (!(program === 'gemini-cli' ? isGeminiFile(name) : name.endsWith('.jsonl'))) continue
      // Sub-agents are part of the session that started them.
      const isAgent = name.includes(`${sep}subagents${sep}`) || /(?:^|[/\\])agent-[^/\\]*$/.test(name)
      if (isAgent && options.forUsage !== true) {
        pass('transcripts of sub-agents')
        continue
      }
      if (options.isOver?.() === true) {
        pass('not looked at in time')
        continue
      }
      const path = join(folder, name)
      const info = await stat(path).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown')
      if (typeof info === 'string') pass(`files that cannot be read (${info})`)
      else if (!info.isFile()) pass('things that are no files')
      else if (options.anySize !== true && info.size > defaults.lab.ownMaxBytes)
        pass('files that are too large')
      else if (info.mtimeMs < (options.since ?? 0)) pass('older than asked for')
      else found.push({ program, path, bytes: info.size, modifiedAt: info.mtimeMs })
    }
  }
  const newest = found.toSorted((a, b) => b.modifiedAt - a.modifiedAt || (a.path < b.path ? -1 : 1))
  const sessions = newest.slice(0, options.limit)
  if (sessions.length < newest.length) pass('beyond the limit', newest.length - sessions.length)
  return {
    sessions,
    folders: places.map(({ folder }) => folder),
    missing,
    passedOver: [...reasons].map(([why, count]) => ({ why, count })),
  }
}
