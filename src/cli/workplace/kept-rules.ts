// Rules that shall last: written into the user's settings, or into the local settings of a trusted project. The file
// keeps everything else it holds; one that is not a JSON object is left as it is.
import { objectIn } from '../../transcript/json.ts'
import { basename, dirname, join } from 'node:path'
import type { FileSystem } from '../../disk/fs.ts'
import { defaults } from '../../settings/defaults.ts'
import { writeUnder } from '../../disk/under-root.ts'
import { localSettingsName, projectFolderName, settingsName } from '../../settings/load.ts'
import type { RuleList } from '../../settings/rule-list.ts'
import type { KeepRules, KeepScope } from '../../tools/permission/question.ts'
import { actingFile, type Gate } from '../trust/gate.ts'
import { pinOwn, type TrustPlace } from '../trust/pins.ts'
import { behindLink, readWhole } from './files.ts'

export interface RulePlaces {
  readonly home: string
  /** The project's root; null where its settings do not count. */
  readonly project: string | null
  /** What is kept for the project is approved in the same step; what stood there before has to be. */
  readonly trust: { readonly gate: Gate; readonly place: TrustPlace }
}

const untrusted = '"Yes, always in this project" is not offered: this folder is not trusted (/trust)'
const ownerOnly = 0o600
const ownerFolder = 0o700

export function keptRules(
  fs: FileSystem,
  { home, project, trust }: RulePlaces,
  unique: () => string,
): { readonly rules: KeepRules; readonly scopes: readonly KeepScope[]; readonly note?: string | undefined } {
  const rules: KeepRules = async (scope, list, texts) => {
    if (scope === 'local' && project === null) return { ok: false, why: 'this folder is not trusted' }
    const [root, name] =
      scope === 'user' ? [home, settingsName] : [project!, join(projectFolderName, localSettingsName)]
    const isProjects = scope === 'local'
    const path = isProjects ? join(root, name) : await behindLink(fs, join(root, name))
    const read = await readWhole(fs, path, defaults.cli.settingsBytes)
    if (!read.ok) return { ok: false, why: `${path}: ${read.why}` }
    // Writing it anew would approve along with the rule whatever else stands there.
    const refused =
      isProjects && read.bytes !== null ? trust.gate.refusal('settings', path, read.bytes) : null
    if (refused !== null) return { ok: false, why: `${path} ${refused}` }
    const text = withRules(read.bytes === null ? '{}' : new TextDecoder().decode(read.bytes), list, texts)
    if (text === null) return { ok: false, why: `${path} is not a JSON object` }
    const bytes = new TextEncoder().encode(text)
    const place = isProjects ? ([root, name] as const) : ([dirname(path), basename(path)] as const)
    const written = await writeUnder(fs, ...place, bytes, {
      mode: ownerOnly,
      keepMode: true,
      makeFolders: ownerFolder,
      unique,
    })
    if (!written.ok) return { ok: false, why: written.failure.message }
    if (!isProjects) return { ok: true }
    const file = actingFile('settings', path, bytes)
    const pinned = await pinOwn(trust.place, file)
    trust.gate.approve(file)
    return pinned.ok ? { ok: true } : { ok: false, why: pinned.failure.message }
  }
  return project === null
    ? { rules, scopes: ['user'], note: untrusted }
    : { rules, scopes: ['local', 'user'] }
}

function withRules(text: string, list: RuleList, texts: readonly string[]): string | null {
  const value = objectIn(text.replace(/^\uFEFF/, ''))
  const before = value?.[list] ?? []
  if (value === null || !Array.isArray(before)) return null
  return `${JSON.stringify({ ...value, [list]: [...new Set<unknown>([...before, ...texts])] }, null, 2)}\n`
}
