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
  ['.config', /^(?:gcloud|gh|hub|rclone)$/],
  ['.cargo', /^credentials/],
  ['.gem', /^credentials$/],
  ['.m2', /^settings-security\.xml$/],
  ['containers', /^auth\.json$/],
]
/** Environment files, by whatever ending; also `prod.env`. */
const environmentFile = /^(?:\.env(?:rc)?(?:[._-].*)?|[^.].*\.env)$/
/** Templates of them hold names, not values, and types and pages about them are code. */
const environmentTemplate = /[._-](?:example|sample|template|dist|defaults|schema|md|[cm]?[jt]s|py|rb|go|rs)$/
const certificateFile = /.\.(?:pem|key|p8|p12|pkcs12|pfx|jks|jceks|keystore|kdbx|ppk)$/
const secretFile = new RegExp(
  [
    '[._]netrc',
    '\\.pgpass',
    '\\.my\\.cnf',
    '\\.mylogin\\.cnf',
    '\\.git-credentials',
    '\\.npmrc',
    '\\.pypirc',
    '\\.htpasswd',
    '\\.dockercfg',
    '\\.s3cfg',
    '\\.boto',
    '\\.vault-token',
    '\\.secrets?',
    'secrets\\.(?:ya?ml|json|toml|ini|properties)',
    'kubeconfig',
    '.*\\.kubeconfig',
    'client_secrets?.*\\.json',
    'service[-_]account.*\\.json',
    'application_default_credentials\\.json',
    // Keys of ssh under any further name, without their public halves.
    'id_(?:rsa|dsa|ecdsa|ed25519|xmss)(?![a-z0-9])(?!.*\\.pub$).*',
  ]
    .map((name) => `^(?:${name})$`)
    .join('|'),
)
/** What editors and hands put at the end of a copy. */
const copyEnding = /(?:~|#|\.(?:bak|backup|old|orig|save|copy|swp|swo|tmp))+$/
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
export function unwritableName(path: string): string | null {
  const parts = partsOf(path)
  const single = unwritable.find((name) => parts.some((part) => isName(part, fold(name))))
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
    isSecretName(parts.at(-1) ?? '')
  )
}

function isSecretName(name: string): boolean {
  const original = name.replace(copyEnding, '')
  // An editor's own copy of a hidden file has a second dot before it, or a sharp.
  const plain = original === name ? name : original.replace(/^(?:#|\.(?=\.))/, '')
  return [name, plain].some(
    (one) =>
      (environmentFile.test(one) && !environmentTemplate.test(one)) ||
      secretFile.test(one) ||
      certificateFile.test(one),
  )
}

/** Keys and certificates by their ending, which are as often made for a test as for use. */
export const isCertificateName = (path: string): boolean => certificateFile.test(partsOf(path).at(-1) ?? '')

/** Devices, and what the kernel shows as files. */
export const isMachinePath = (path: string): boolean =>
  machineFolders.includes(partsOf(path)[0] ?? '') && /^[/\\]/.test(path)

/** Windows also knows `.palimpsest` as `PALIMP~1`. */
function isName(part: string, name: string): boolean {
  if (part === name) return true
  const short = /^([^~]{1,6})~[0-9]{1,3}(?:\.|$)/.exec(part)
  return short !== null && name.replaceAll('.', '').slice(0, 6) === short[1]
}

/** Globs that find all names of `isSecretPath` and more, for those who list files by them. */
export const secretNameGlobs: readonly string[] = (
  '.env* *.env *netrc* .pgpass* .my*.cnf* .git-credentials* .npmrc* .pypirc* .htpasswd* .dockercfg* .s3cfg* .boto* ' +
  '.vault-token* .secret* secrets.* *kubeconfig* client_secret* service[-_]account* application_default_credentials* ' +
  'id_* *.pem *.key *.p8 *.p12 *.pkcs12 *.pfx *.jks *.jceks *.keystore *.kdbx *.ppk'
).split(' ')
