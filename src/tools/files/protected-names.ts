// The names that no file tool writes, and the files that none shows. Both lists are by name, so they also hold for what
// does not exist yet: a settings file that is missing today must not be planted. Names are compared the
// way the most careless file system would: composed, without case, without invisible characters, short forms included.
//
// A list of names is a fence for accidents and planted instructions, not a sandbox: a shell command is not bound by it.
import { foldName } from '../../disk/safe-name.ts'

/** Folders (and files) that are out of bounds for writing wherever they stand below a root. */
const unwritable = [
  '.palimpsest',
  '.git',
  '.claude',
  '.cursor',
  '.codex',
  '.gemini',
  '.ssh',
  '.gnupg',
  '.aws',
  '.azure',
  '.kube',
  '.bashrc',
  '.bash_profile',
  '.bash_login',
  '.bash_logout',
  '.profile',
  '.zshrc',
  '.zshenv',
  '.zprofile',
  '.zlogin',
  '.gitconfig',
  '.gitmodules',
  '.mcp.json',
  '.netrc',
  '.pgpass',
  '.git-credentials',
] as const
/** Pairs: a file of this name in a folder of that name. */
const unwritableIn: readonly (readonly [folder: string, name: string])[] = [
  ['.vscode', 'settings.json'],
  ['.vscode', 'tasks.json'],
  ['.vscode', 'launch.json'],
  ['.config', 'git'],
  ['.config', 'fish'],
  ['.config', 'autostart'],
]

/** What holds keys by custom: never shown unless the user says so. Our own login lies in `.palimpsest`. */
const secretFolders = new Set(['.ssh', '.gnupg', '.aws', '.azure', '.kube'])
const secretIn: readonly (readonly [folder: string, name: RegExp])[] = [
  ['.palimpsest', /^(?:credentials|login)/],
  ['.docker', /^config\.json$/],
  ['.config', /^(?:gcloud|gh)$/],
]
/** Templates of environment files hold names, not values. */
const secretFile =
  /^(?:\.env(?:\.(?!example$|sample$|template$|dist$|defaults$).*)?|\.?_?netrc|\.pgpass|\.git-credentials|\.pypirc|\.htpasswd|id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*\.(?:p12|pfx|jks|keystore|kdbx|ppk))$/
/** Not files at all, whatever they say; the first holds the environment of every process, ours included. */
const machineFolders = ['proc', 'sys', 'dev']

const invisible = /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/g
/** Most names are folded already, and searches ask for very many. */
const alreadyFolded = /^[a-z0-9_.-]*[a-z0-9_-]$/
const fold = (name: string): string =>
  alreadyFolded.test(name) ? name : foldName(name.replace(invisible, ''))
const partsOf = (path: string): string[] =>
  path
    .split(/[/\\]+/)
    .filter((part) => part !== '')
    .map(fold)

/** The name that makes a path (relative to its root) out of bounds for writing, or null. */
export function unwritableName(path: string, more: readonly string[] = []): string | null {
  const parts = partsOf(path)
  const names = [...unwritable, ...more]
  const single = names.find((name) => parts.some((part) => isName(part, fold(name))))
  if (single !== undefined) return single
  const pair = unwritableIn.find(([folder, name]) =>
    parts.some((part, at) => isName(part, folder) && isName(parts[at + 1] ?? '', name)),
  )
  return pair === undefined ? null : pair.join('/')
}

/** Whether a file is one that holds keys by custom. */
export function isSecretPath(path: string): boolean {
  const parts = partsOf(path)
  return (
    parts.some((part) => secretFolders.has(part)) ||
    secretIn.some(([folder, name]) =>
      parts.some((part, at) => part === folder && name.test(parts[at + 1] ?? '')),
    ) ||
    secretFile.test(parts.at(-1) ?? '')
  )
}

/** Devices, and what the kernel shows as files. */
export const isMachinePath = (path: string): boolean =>
  machineFolders.includes(partsOf(path)[0] ?? '') && /^[/\\]/.test(path)

/** Windows also knows `.palimpsest` as `PALIMP~1`. */
function isName(part: string, name: string): boolean {
  if (part === name) return true
  const short = /^([^~]{1,6})~[0-9]{1,3}(?:\.|$)/.exec(part)
  return short !== null && name.replaceAll('.', '').slice(0, 6) === short[1]
}
