// What an install would write, as data: for each client its files, with their text before and after. Nothing is read or
// written here.
import { join } from 'node:path'
import { pendingPath } from '../hook/state.ts'
import { quoted, jsonText, withStatusLine, withHooks } from './merge.ts'

export interface InstallPlace {
  /** The companion's own folder. */
  readonly root: string
  /** Folders of the clients, as their variables or defaults name them. */
  readonly claude: string
  readonly codex: string
  readonly opencode: string
  /** The program that runs the bundle. */
  readonly node: string
  /** The command that serves memories and audits; null where it lies in a cache that may be emptied. */
  readonly pal: string | null
  /** The plugin of opencode, as it was bundled. */
  readonly opencodePlugin: string
}

export interface PlannedFile {
  readonly path: string
  /** Null where there was none. */
  readonly before: string | null
  readonly after: string
  /** A file of the user's to which entries are added; else one of ours. */
  readonly isShared: boolean
}

export interface InstallPlan {
  readonly files: readonly PlannedFile[]
  /** What the user must know or do. */
  readonly notes: readonly string[]
}

/** The file as it is now, or null. */
export type ReadText = (path: string) => string | null

export const hookName = 'hook.cjs'

const hookCommand = ({ node, root }: InstallPlace, ...words: readonly string[]): string =>
  [node, `${root}/${hookName}`, ...words].map(quoted).join(' ')

/** How long a client may wait for a hook at most; its own clock is far shorter. */
const hookSeconds = 2

// ---- Claude Code: a plugin in the user's own folder, which that program loads by itself, and a status line where none is set ----

/** The plugin's name is the beginning of its commands: `/pal:audit`. */
const pluginName = 'pal'

const claudePlugin = (place: Pick<InstallPlace, 'claude'>): string => join(place.claude, 'skills', pluginName)

export function planClaude(
  place: InstallPlace,
  version: string,
  read: ReadText,
  statusBelow = false,
): InstallPlan {
  const folder = claudePlugin(place)
  const own = (name: string, text: string): PlannedFile => {
    const path = join(folder, name)
    return { path, before: read(path), after: text, isShared: false }
  }
  const settings = join(place.claude, 'settings.json')
  const before = read(settings)
  const after = withStatusLine(before, hookCommand(place, 'claude', 'status'), statusBelow)
  const files = [
    own('.claude-plugin/plugin.json', jsonText(manifest(version))),
    own('hooks/hooks.json', jsonText(claudeHooks(place))),
    ...(place.pal === null
      ? []
      : [
          own('commands/audit.md', auditCommand(place)),
          own(
            '.mcp.json',
            jsonText({
              mcpServers: {
                memory: { command: place.node, args: [place.pal, 'mcp', 'serve-memory'] },
              },
            }),
          ),
        ]),
    ...(after === null ? [] : [{ path: settings, before, after, isShared: true }]),
  ]
  const notes = [
    'Claude Code loads it with the next session; a session that is resumed has one cache break.',
    ...(after === null
      ? [
          `${settings} has a status line or cannot be read as JSON: it is left as it is. With --status-line ours stands below yours.`,
        ]
      : []),
    ...(place.pal === null
      ? [
          'pal runs from a cache here, so /pal:audit and the memory server are left out. Install pal, then install again.',
        ]
      : []),
  ]
  return { files, notes }
}

const manifest = (version: string): object => ({
  name: pluginName,
  version,
  description: 'Puts back what a compaction lost: the words you typed, from a ledger on this machine.',
})

function claudeHooks(place: InstallPlace): object {
  const entry = (command: string): object => ({ type: 'command', command, timeout: hookSeconds })
  const run = hookCommand(place, 'claude')
  // While nothing waits a tool call starts no process.
  const waiting = `[ ! -d ${quoted(pendingPath(place.root))} ] || ${run}`
  return {
    hooks: {
      UserPromptSubmit: [{ hooks: [entry(run)] }],
      PreCompact: [{ hooks: [entry(run)] }],
      SessionStart: [{ hooks: [entry(run)] }],
      PostCompact: [{ hooks: [entry(run)] }],
      PostToolUse: [{ hooks: [entry(waiting)] }],
    },
  }
}

function auditCommand(place: InstallPlace): string {
  const command = [place.node, place.pal ?? '', 'companion', 'audit'].map(quoted).join(' ')
  return `---
description: What the compactions of this session kept, lost and got back
allowed-tools: Bash(${command}:*)
---

!\`${command}\`

Show the user the report above as it is. Change nothing.
`
}

// ---- Codex: entries in hooks.json. The command line never changes with a version, since each definition is approved by hand ----

export function planCodex(place: InstallPlace, read: ReadText): InstallPlan {
  const path = join(place.codex, 'hooks.json')
  const before = read(path)
  const entry = { hooks: [{ type: 'command', command: hookCommand(place, 'codex'), timeout: hookSeconds }] }
  const events = ['UserPromptSubmit', 'PreCompact', 'PostCompact', 'SessionStart']
  const after = withHooks(before, Object.fromEntries(events.map((event) => [event, [entry]])))
  if (after === null)
    return {
      files: [],
      notes: [`${path} cannot be read as JSON. Nothing is changed; fix it and install again.`],
    }
  return {
    files: [{ path, before, after, isShared: true }],
    notes: [
      'Codex runs a hook only after you have approved it: start codex and enter /hooks.',
      'Codex keeps your messages itself, so the block has the files and commands of the work. On the vendor’s own service the summary is encrypted and cannot be audited.',
    ],
  }
}

// ---- opencode: one plugin file in the user's own folder; it runs inside that program ----

/** Stands in the bundle for the companion's folder. */
const rootMark = '__PALIMPSEST_COMPANION_ROOT__'

export function planOpencode(place: InstallPlace, read: ReadText): InstallPlan {
  const path = join(place.opencode, 'plugins', 'palimpsest-companion.js')
  const after = place.opencodePlugin.replaceAll(rootMark, JSON.stringify(place.root).slice(1, -1))
  return {
    files: [{ path, before: read(path), after, isShared: false }],
    notes: ['opencode loads it with its next start.'],
  }
}
