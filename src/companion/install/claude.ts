// Claude Code: a plugin in the user's own folder, which that program loads by itself, and a status line where none is set.
import { join } from 'node:path'
import { pendingPath } from '../hook/state.ts'
import { withStatusLine } from './merge.ts'
import {
  hookCommand,
  hookSeconds,
  jsonText,
  quoted,
  type InstallPlace,
  type InstallPlan,
  type PlannedFile,
  type ReadText,
} from './plan.ts'

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
