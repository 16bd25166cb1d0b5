// Rules that shall last: written into the user's settings, or into the local settings of a trusted project. The file
// keeps everything else it holds; one that is no JSON object is left as it is.
import { join } from 'node:path'
import type { FileSystem } from '../../disk/fs.ts'
import { writeUnder } from '../../disk/under-root.ts'
import { localSettingsName, projectFolderName, settingsName } from '../../settings/load.ts'
import type { RuleList } from '../../settings/rule-list.ts'
import type { KeepRules, KeepScope } from '../../tools/permission/question.ts'
import { readText } from './files.ts'

export interface RulePlaces {
  readonly home: string
  /** The project's root; null where its settings do not count. */
  readonly project: string | null
}

const untrusted = '"Yes, always in this project" is not offered: this folder is not trusted (pal trust)'
const ownerOnly = 0o600
const ownerFolder = 0o700

export function keptRules(
  fs: FileSystem,
  { home, project }: RulePlaces,
  unique: () => string,
): { readonly rules: KeepRules; readonly scopes: readonly KeepScope[]; readonly note?: string | undefined } {
  const rules: KeepRules = async (scope, list, texts) => {
    if (scope === 'local' && project === null) return { ok: false, why: 'this folder is not trusted' }
    const [root, name] =
      scope === 'user' ? [home, settingsName] : [project!, join(projectFolderName, localSettingsName)]
    const read = await readText(fs, join(root, name))
    if (!read.ok) return { ok: false, why: `${join(root, name)}: ${read.why}` }
    const text = withRules(read.text ?? '{}', list, texts)
    if (text === null) return { ok: false, why: `${join(root, name)} is no JSON object` }
    const written = await writeUnder(fs, root, name, new TextEncoder().encode(text), {
      mode: ownerOnly,
      keepMode: true,
      makeFolders: ownerFolder,
      unique,
    })
    return written.ok ? { ok: true } : { ok: false, why: written.failure.message }
  }
  return project === null
    ? { rules, scopes: ['user'], note: untrusted }
    : { rules, scopes: ['local', 'user'] }
}

function withRules(text: string, list: RuleList, texts: readonly string[]): string | null {
  try {
    const value: unknown = JSON.parse(text.replace(/^\uFEFF/, ''))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    const before: unknown = Object.entries(value).find(([key]) => key === list)?.[1] ?? []
    if (!Array.isArray(before)) return null
    return `${JSON.stringify({ ...value, [list]: [...new Set<unknown>([...before, ...texts])] }, null, 2)}\n`
  } catch {
    return null
  }
}
