// What no wall can keep a command from making, and what is therefore looked at when the command has ended: files that are
// obeyed later, and repositories that git enters by itself. What was not there before is renamed, so that nobody obeys
// it until the user has looked at it. What was there before is written down while commands run, so that after a crash
// the next start can tell the two apart.
import { lstat, readlink, rename, symlink } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import type { ReadGitlinks } from '../git/gitlinks.ts'
import { findNested, markOf, type Nested } from './nested.ts'

export interface Link {
  readonly path: string
  readonly to: string
}

export interface Watched {
  /** Names that were missing before, and links that were there. */
  readonly absent: readonly string[]
  readonly links: readonly Link[]
  /** Folders that could be written, and the marks of the repositories that were in them before. */
  readonly places: readonly string[]
  readonly known: readonly string[]
}

/** What is known of these folders before a command runs. */
export const watch = (
  places: readonly string[],
  { absent, links }: Pick<Watched, 'absent' | 'links'>,
  nested: readonly Nested[],
): Watched => ({ absent, links, places, known: nested.map(markOf) })

/** Blocks what has appeared since; one line each, for the model and the user. */
export async function block(
  { absent, links, places, known }: Watched,
  gitlinks: ReadGitlinks,
): Promise<readonly string[]> {
  const lines: string[] = []
  const made = 'a command made a file that others obey later'
  for (const name of absent) {
    if (!(await isThere(name))) continue
    // A link in place of its folder: what it leads to is not ours to rename.
    const path = (await isLink(dirname(name))) ? dirname(name) : name
    lines.push(`${made}; ${await renamed(path)}. The user can rename it`)
  }
  for (const { path, to } of links) {
    if ((await readlink(path).catch(() => null)) === to) continue
    if (await isThere(path)) lines.push(`${made}; ${await renamed(path)}. The user can rename it`)
    if (!(await symlink(to, path).then(done, failed)))
      lines.push(`${path} was a link to ${to} and is none now`)
  }
  const { nested, odd, problems } = await findNested(places, gitlinks)
  for (const one of nested) {
    if (one.isKept || known.includes(markOf(one))) continue
    const folder = dirname(one.entry)
    lines.push(
      `${folder} is a repository in the index of another one, which it was not before, and git would enter it and run what its configuration names; ${await renamed(one.entry)}. The user can look at its config and hooks and rename it back, or take it out of the index: git rm --cached ${basename(folder)}`,
    )
  }
  for (const path of odd) {
    const from = Buffer.concat([path, Buffer.from('/.git')])
    const to = Buffer.concat([from, Buffer.from('.blocked')])
    if (await rename(from, to).then(done, failed))
      lines.push(
        `${String(path)} is a repository in the index under a name that is no text; its .git is now .git.blocked`,
      )
  }
  for (const problem of problems)
    lines.push(
      `${problem}, so it is not known which repositories git would enter; look before you run git there`,
    )
  return lines
}

async function renamed(path: string): Promise<string> {
  let to = `${path}.blocked`
  for (let nr = 2; await isThere(to); nr++) to = `${path}.blocked-${nr}`
  return (await rename(path, to).then(done, failed))
    ? `${path} is now ${to}`
    : `${path} could not be renamed: remove it before you go on`
}

const done = (): boolean => true
const failed = (): boolean => false
const isThere = (path: string): Promise<boolean> => lstat(path).then(done, failed)
const isLink = (path: string): Promise<boolean> => lstat(path).then((stat) => stat.isSymbolicLink(), failed)
