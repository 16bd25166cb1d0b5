// The next request of every session below a folder, as a build composes it: `{ "<folder>/<session>": { bytes, sha256 } }`.
// The folder is written to: opening a session repairs what a crash left, and what is said is a fact.
import { createHash } from 'node:crypto'
import { readdirSync, existsSync } from 'node:fs'
import { join, relative } from 'node:path'

/** Folders that hold sessions, by name. */
export function sessionRoots(home) {
  const projects = join(home, 'projects')
  return (existsSync(projects) ? readdirSync(projects) : [])
    .toSorted()
    .map((slug) => join(projects, slug, 'sessions'))
}

export async function nextRequests({ createEngine, fileStore }, { countingIds, fixedClock }, home) {
  const rows = {}
  for (const root of sessionRoots(home)) {
    const engine = createEngine({
      store: fileStore({ root }),
      modelId: 'claude-sonnet-4-6',
      system: 'You look at what is there.',
      clock: fixedClock(Date.UTC(2027, 0, 1)),
      ids: countingIds(7),
    })
    for (const id of readdirSync(root).toSorted()) {
      const session = await engine.open(id)
      // Calls that a crash left open are answered by the opening; those of a foreign loop by whoever runs it.
      for (const call of session.openCalls()) await session.result(call.id, 'late')
      await session.say('What comes next?')
      const body = await session.requestBody()
      await session.close()
      rows[relative(home, join(root, id))] = {
        bytes: Buffer.byteLength(body),
        sha256: createHash('sha256').update(body).digest('hex'),
      }
    }
  }
  return rows
}
