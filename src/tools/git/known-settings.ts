// The settings of git that are left in force when it runs unasked: those that say how a repository is laid out, where its
// branches come from and how text is shown. A list of what is known to be harmless, since nobody can list all that makes
// git run a program, read a file or connect: what is not here does not count.

export interface GitSetting {
  /** As git writes it: section and name in small letters, what stands between as it is. */
  readonly key: string
  /** Null where only the name stands, which means yes. */
  readonly value: string | null
}

const plain = new Set(
  `core.repositoryformatversion core.filemode core.ignorecase core.precomposeunicode core.symlinks core.autocrlf core.eol
  core.quotepath core.abbrev core.sparsecheckout core.sparsecheckoutcone core.protecthfs core.protectntfs
  core.logallrefupdates core.trustctime core.checkstat core.bigfilethreshold core.whitespace
  core.preloadindex core.splitindex core.untrackedcache core.commitgraph core.multipackindex core.deltabasecachelimit
  extensions.objectformat extensions.refstorage extensions.preciousobjects extensions.noop
  user.name user.email user.useconfigonly init.defaultbranch
  status.showuntrackedfiles status.short status.branch status.relativepaths status.showstash status.aheadbehind
  status.renames status.renamelimit
  log.date log.decorate log.abbrevcommit log.follow log.mailmap log.showroot
  diff.algorithm diff.renames diff.renamelimit diff.context diff.interhunkcontext diff.mnemonicprefix diff.noprefix
  diff.indentheuristic diff.suppressblankempty diff.statgraphwidth diff.wserrorhighlight diff.colormoved
  blame.date blame.showemail blame.showroot tag.sort branch.sort
  i18n.commitencoding i18n.logoutputencoding feature.manyfiles index.version
  pull.rebase pull.ff push.default merge.conflictstyle fetch.prune rerere.enabled
  gc.auto gc.autodetach maintenance.auto`.split(/\s+/),
)
const ofNamed =
  /^(?:remote\..+\.(?:url|pushurl|fetch|tagopt)|branch\..+\.(?:remote|merge|rebase|description)|advice\.[a-z]+)$/s

export const isKnownSetting = (key: string): boolean => plain.has(key) || ofNamed.test(key)

/** What `git config --list --null` prints. */
export const settingsIn = (listed: string): readonly GitSetting[] =>
  listed
    .split('\0')
    .filter((record) => record !== '')
    .map((record) => {
      const at = record.indexOf('\n')
      return at < 0 ? { key: record, value: null } : { key: record.slice(0, at), value: record.slice(at + 1) }
    })

/** A configuration file of these settings, in their order. */
export const configText = (settings: readonly GitSetting[]): string =>
  settings
    .map(lineOf)
    .filter((line) => line !== null)
    .join('')

function lineOf({ key, value }: GitSetting): string | null {
  const match = /^([a-z0-9-]+)(?:\.(.+))?\.([a-z][a-z0-9-]*)$/s.exec(key)
  if (match === null) return null
  const [, section, named, name] = match
  if (named !== undefined && /[\n\0]/.test(named)) return null
  const head = named === undefined ? `[${section}]` : `[${section} "${named.replace(/["\\]/g, '\\$&')}"]`
  return `${head}\n\t${name}${value === null ? '' : ` = "${escaped(value)}"`}\n`
}

const escaped = (value: string): string =>
  value.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll('\t', '\\t').replaceAll('\b', '\\b')
