// Codex: entries in hooks.json. The command line never changes with a version, since each definition is approved by hand.
import { join } from 'node:path'
import { withHooks } from './merge.ts'
import { hookCommand, hookSeconds, type InstallPlace, type InstallPlan, type ReadText } from './plan.ts'

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
