// Which session file is meant: one named by its path, one of another program by its id, or the newest of a folder. Only looks.
import { stat } from 'node:fs/promises'
import { basename, resolve } from 'node:path'
import { isKnownLine } from '../lab/importers/import-file.ts'
import { fieldsOf, streamLines, stringOrNull } from '../lab/importers/lines.ts'
import { findOwn, type Homes, type OwnSession } from '../lab/own/find.ts'

export type FoundSession =
  | {
      readonly ok: true
      readonly path: string
      /** It was taken although it is not of this folder. */
      readonly isElsewhere: boolean
    }
  | { readonly ok: false; readonly why: string }

const leastId = 4

/** `named` is a path or an id or its beginning; without it the newest session that was held in `cwd`. */
export async function findSessionFile(
  homes: Homes & { readonly cwd: string },
  named: string | undefined,
): Promise<FoundSession> {
  if (named !== undefined) {
    const path = resolve(homes.cwd, named)
    if ((await stat(path).catch(() => null))?.isFile() === true) return { ok: true, path, isElsewhere: false }
  }
  const { sessions, folders } = await findOwn(homes, { forUsage: true, anySize: true })
  const main = sessions.filter(({ path }) => !isAgents(path))
  if (named === undefined) return newest(main, homes.cwd, folders)
  const fits = main.filter(({ path }) => named.length >= leastId && basename(path).includes(named))
  if (fits.length === 1) return { ok: true, path: fits[0]!.path, isElsewhere: false }
  if (fits.length > 1)
    return {
      ok: false,
      why: `${fits.length} sessions have ${named} in their name: ${fits
        .slice(0, 3)
        .map(({ path }) => basename(path))
        .join(', ')}${fits.length > 3 ? ' …' : ''}; give more of it`,
    }
  return {
    ok: false,
    why: `there is no file and no session ${named} of Claude Code, Codex, pi or Gemini CLI in ${folders.join(', ')}. Of opencode, name the file that "opencode export ID" writes`,
  }
}

/** Whether a session file is that of a sub-agent. */
export const isAgents = (path: string): boolean => /(?:^|[/\\])agent-[^/\\]*$|[/\\]subagents[/\\]/.test(path)

async function newest(
  sessions: readonly OwnSession[],
  cwd: string,
  folders: readonly string[],
): Promise<FoundSession> {
  const [first] = sessions
  if (first === undefined)
    return {
      ok: false,
      why: `there is no session of Claude Code, Codex, pi or Gemini CLI in ${folders.join(', ')}. Name a session file`,
    }
  for (const { path } of sessions.slice(0, mostLooked))
    if ((await folderOf(path)) === cwd) return { ok: true, path, isElsewhere: false }
  return { ok: true, path: first.path, isElsewhere: true }
}
const mostLooked = 300

/** The folder that the first lines of a session file name. */
async function folderOf(path: string): Promise<string | null> {
  try {
    let looked = 0
    for await (const { record } of streamLines(path, {
      isWhole: isKnownLine,
      mostLineBytes: headLineBytes,
    })) {
      const value = record?.value ?? {}
      const folder = stringOrNull(value['cwd']) ?? stringOrNull(fieldsOf(value['payload'])['cwd'])
      if (folder !== null || ++looked >= mostLines) return folder
    }
  } catch {
    return null
  }
  return null
}
const mostLines = 40
const headLineBytes = 1024 * 1024
