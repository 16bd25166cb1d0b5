// Runs many commands in one bash behind bubblewrap. The project of the judge stays untouched: what runs there sees a copy
// of it under the same path.
import { spawn } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOnlyEnvironment } from '../../../src/tools/shell/environment.ts'
import { behindWall } from '../wall.ts'
import { copyFixture, makeFixture } from './fixture.ts'
import { programs } from './words.ts'

/** A command that says nothing for so long is ended and passed over. */
const STALL_MS = 8000
/** Until the first sign comes nothing has begun but bash: a busy machine may take its time. */
const BEGIN_MS = 120_000

export interface Jail {
  /** Where the judge and the commands believe the project to be. */
  readonly project: string
  readonly home: string
  /** The folder of a worker on this side of the wall. */
  readonly at: (worker: number) => string
  readonly restore: (worker: number) => void
  /** Runs a script over the commands; gives how many were ended because they stalled. */
  readonly run: (worker: number, script: string, commands: readonly string[]) => Promise<readonly number[]>
  readonly end: () => void
}

export function createJail(workers: number): Jail {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'pal-fuzz-')))
  const model = join(base, 'model')
  mkdirSync(model)
  makeFixture(model)
  const at = (worker: number): string => join(base, `worker-${worker}`)
  const restore = (worker: number): void => copyFixture(model, at(worker))
  for (let worker = 0; worker < workers; worker++) {
    mkdirSync(join(at(worker), 'out'), { recursive: true })
    restore(worker)
    makeStubs(join(at(worker), 'stubs'))
  }
  const environment = readOnlyEnvironment(
    {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: join(model, 'home'),
      LANG: 'C.UTF-8',
    },
    [join(model, 'project')],
  )

  const once = (worker: number, script: string, commands: readonly string[]): Promise<number> => {
    writeFileSync(join(at(worker), 'commands'), commands.map((command) => `${command}\0`).join(''))
    writeFileSync(join(at(worker), 'script'), script)
    const child = spawn(
      'bwrap',
      [
        ...behindWall,
        '--tmpfs',
        '/tmp',
        '--bind',
        at(worker),
        model,
        '--chdir',
        join(model, 'project'),
        '/bin/bash',
        join(model, 'script'),
        model,
      ],
      { env: environment, stdio: ['ignore', 'pipe', 'inherit'] },
    )
    return new Promise((resolve, reject) => {
      let begun = 0
      let timer = setTimeout(() => child.kill('SIGKILL'), BEGIN_MS)
      child.stdout.on('data', (data: Buffer) => {
        begun += data.length
        clearTimeout(timer)
        timer = setTimeout(() => child.kill('SIGKILL'), STALL_MS)
      })
      child.on('error', reject)
      child.on('close', () => {
        clearTimeout(timer)
        resolve(begun)
      })
    })
  }
  return {
    project: join(model, 'project'),
    home: join(model, 'home'),
    at,
    restore,
    async run(worker, script, commands) {
      const stalled: number[] = []
      // One sign before each command and one at the end: fewer than that, and the last one begun did not end.
      for (let from = 0; from < commands.length;) {
        const begun = await once(worker, script.replaceAll('@FROM@', String(from)), commands.slice(from))
        if (begun > commands.length - from) break
        if (begun === 0) throw new Error('bash did not begin behind bubblewrap')
        from += begun
        stalled.push(from - 1)
      }
      return stalled
    },
    end: () => rmSync(base, { recursive: true, force: true }),
  }
}

/** Programs that hand on are real; every other name is a script that writes down what it was given. */
function makeStubs(folder: string): void {
  mkdirSync(folder)
  for (const name of ['env', 'timeout', 'nice']) {
    const real = ['/usr/bin', '/bin'].map((one) => join(one, name)).find((path) => existsSync(path))
    if (real !== undefined) symlinkSync(real, join(folder, name))
  }
  writeFileSync(
    join(folder, '.stub'),
    `#!/bin/sh\nprintf '%s\\0' "#$FUZZ_AT" "$(($# + 1))" "\${0##*/}" "$@" >> "$FUZZ_RECORD"\nexit "$FUZZ_STATUS"\n`,
    { mode: 0o755 },
  )
  for (const name of new Set(programs.flatMap(({ names }) => names.map((one) => one.split(' ')[0]!))))
    symlinkSync('.stub', join(folder, name))
}

/** Every command with the programs of the machine, each with its output in a file of its own. */
export const realScript = `
ulimit -f 2048 -c 0
exec 9<"$1/commands"
FUZZ_OUT=$1/out FUZZ_AT=@FROM@
unset -v BASH_ENV
tail() { timeout 0.3 tail "$@"; }
sleep() { return 0; }
while IFS= builtin read -r -d '' FUZZ_LINE <&9; do
  builtin printf .
  ( exec 9<&-; builtin eval "$FUZZ_LINE" ) </dev/null >"$FUZZ_OUT/$FUZZ_AT" 2>&1
  FUZZ_AT=$((FUZZ_AT + 1))
done
builtin printf .
`

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Every command with functions in place of programs, which write down their words and give the status asked for. */
export const recordScript = (names: Iterable<string>, status: number): string => `
exec 9<"$1/commands"
export FUZZ_RECORD=$1/record FUZZ_AT=@FROM@ FUZZ_STATUS=${status} PATH=$1/stubs
shopt -s expand_aliases; shopt -u expand_aliases
fuzz_record() { builtin printf '%s\\0' "#$FUZZ_AT" "$#" "$@" >>"$FUZZ_RECORD"; return ${status}; }
command_not_found_handle() { fuzz_record "$@"; }
${[...names]
  .filter(
    (name) =>
      /^[\w./+[:-]+$/.test(name) &&
      !/(?:^|\/)(?:env|timeout|nice|command|builtin|exec|eval|time)$/.test(name),
  )
  .map((name) => `function ${name} { fuzz_record ${quoted(name)} "$@"; }`)
  .join('\n')}
function command { case $1 in -*) fuzz_record command "$@";; '') ;; *) "$@";; esac; }
while IFS= builtin read -r -d '' FUZZ_LINE <&9; do
  builtin printf .
  ( exec 9<&-; set -f; builtin eval "$FUZZ_LINE" ) </dev/null >/dev/null 2>&1
  FUZZ_AT=$((FUZZ_AT + 1))
done
builtin printf .
`

/** What the stubs wrote down: the words of every command that ran, by the number of its line. */
export function recordsIn(file: string): ReadonlyMap<number, readonly (readonly string[])[]> {
  const found = new Map<number, string[][]>()
  const fields = existsSync(file) ? readFileSync(file, 'utf8').split('\0') : []
  for (let at = 0; at + 1 < fields.length;) {
    const line = Number(fields[at]!.slice(1))
    const count = Number(fields[at + 1])
    found.set(line, [...(found.get(line) ?? []), fields.slice(at + 2, at + 2 + count)])
    at += 2 + count
  }
  return found
}
