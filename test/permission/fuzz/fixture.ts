// A small project with what must not change and what must not be shown, and a digest of all of it.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

/** Stands in every file that no command may show unasked. */
export const secret = 'canary-of-a-secret'
/** What is watched, below the base. */
const parts = ['project', 'outside', 'home']

/** With the links that lead out of the project, or without. */
export function makeFixture(base: string, hasLinks = true): void {
  const write = (path: string, content: string, mode = 0o644): void => {
    mkdirSync(join(base, path, '..'), { recursive: true })
    writeFileSync(join(base, path), content)
    chmodSync(join(base, path), mode)
  }
  for (const name of ['a', 'b', 'f']) write(`project/${name}`, 'x\nfoo a\nx y 2\n')
  write('project/src/a.ts', 'export const foo = 1\n')
  write('project/package.json', '{"name":"x","scripts":{"test":"touch F"}}\n')
  write('project/Makefile', 'all:\n\ttouch F\n')
  write('project/evil', '#!/bin/sh\ntouch F\n', 0o755)
  write('project/evil.py', 'open("F","w")\n')
  write('project/evil.js', 'require("fs").writeFileSync("F","")\n')
  write('project/.gitignore', '.env\n/sub\n')
  const git = (at: string, ...words: string[]): void => {
    execFileSync(
      'git',
      ['-C', join(base, at), '-c', 'user.name=x', '-c', 'user.email=x@example.org', ...words],
      {
        stdio: 'ignore',
        env: { PATH: process.env['PATH'], HOME: join(base, 'nobody') },
      },
    )
  }
  mkdirSync(join(base, 'project', 'sub'))
  write('project/sub/a', 'x\n')
  for (const at of ['project/sub', 'project']) {
    git(at, 'init', '-q', '--template=', '-b', 'main')
    git(at, 'add', '-A')
    git(at, 'commit', '-qm', 'one')
  }
  write('project/a', 'x\nfoo b\nx y 2\n')
  git('project', 'commit', '-qam', 'two foo')
  write('project/b', 'x\nfoo c\n')
  write('project/.env', `KEY=${secret}\n`)
  write('project/.bashrc', 'canary\n')
  write('outside/canary', 'canary\n')
  write('outside/secret', `${secret}\n`)
  write('home/.bashrc', 'canary\n')
  // npm makes its folder wherever it is missing.
  mkdirSync(join(base, 'home', '.npm'))
  write('project/.npmrc', 'logs-dir=../outside/logs\ncache=../outside/cache\n')
  write('home/.secret', `${secret}\n`)
  if (!hasLinks) return
  symlinkSync('../outside', join(base, 'project', 'link'))
  symlinkSync('/', join(base, 'project', 'a='))
}

export function copyFixture(from: string, to: string): void {
  for (const part of parts) {
    rmSync(join(to, part), { recursive: true, force: true })
    cpSync(join(from, part), join(to, part), {
      recursive: true,
      verbatimSymlinks: true,
      preserveTimestamps: true,
    })
  }
}

/** Names, kinds, rights and content of everything watched. The index of git is a cache of times: only its being there. */
export function digest(base: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const walk = (path: string): void => {
    const stat = lstatSync(join(base, path))
    const head = `${stat.mode}`
    if (stat.isDirectory()) {
      found.set(path, head)
      for (const name of readdirSync(join(base, path))) walk(`${path}/${name}`)
    } else if (stat.isSymbolicLink()) found.set(path, `${head} ${readlinkSync(join(base, path))}`)
    else if (path.endsWith('.git/index')) found.set(path, head)
    else {
      const content = stat.isFile() ? readFileSync(join(base, path)) : ''
      found.set(path, `${head} ${createHash('sha1').update(content).digest('hex')}`)
    }
  }
  for (const part of parts) walk(part)
  return found
}

/** The paths that differ, each with how. */
export function differences(
  was: ReadonlyMap<string, string>,
  is: ReadonlyMap<string, string>,
): readonly string[] {
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((path) => {
    if (was.get(path) === is.get(path)) return []
    return [`${path} was ${!was.has(path) ? 'made' : !is.has(path) ? 'deleted' : 'changed'}`]
  })
}
