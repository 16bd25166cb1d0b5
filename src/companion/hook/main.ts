// Where the bundle begins: `node hook.cjs CLIENT` for every event of a client, `node hook.cjs CLIENT status` for its status
// line. It always ends with 0 and within its own clock, whatever stdin, the disk or the machine does.
import { writeSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { mostInputBytes } from './hook-input.ts'
import { hookClients, readOptions, type HookClient } from './options.ts'
import { runHook } from './run-hook.ts'
import { noteSilence } from './state.ts'

const end = (): never => process.exit(0)
process.on('uncaughtException', end)
process.on('unhandledRejection', end)
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, end)

/** Nothing is printed by halves unless the reader goes away. */
function print(text: string, isLate: () => boolean): void {
  const bytes = Buffer.from(text)
  for (let done = 0; done < bytes.length;) {
    try {
      done += writeSync(1, bytes, done)
    } catch (error) {
      // A full pipe is asked again for as long as there is time.
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || isLate()) return
    }
  }
}

function start(root: string, client: HookClient, isStatusLine: boolean): void {
  const begun = performance.now()
  const options = readOptions(root)
  if (options === null) return noteSilence(root, Date.now(), { client, event: '', why: 'options' })
  const isLate = (): boolean => performance.now() - begun >= options.clockMs
  const late = setTimeout(() => {
    noteSilence(root, Date.now(), { client, event: '', why: 'time' })
    end()
  }, options.clockMs)
  const parts: Buffer[] = []
  let bytes = 0
  process.stdin.on('error', end)
  process.stdin.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > mostInputBytes) {
      noteSilence(root, Date.now(), { client, event: '', why: 'input' })
      end()
    }
    parts.push(part)
  })
  process.stdin.on('end', () => {
    clearTimeout(late)
    const stdin = Buffer.concat(parts).toString('utf8')
    print(runHook({ root, client, isStatusLine, stdin, options, now: Date.now(), isLate }), isLate)
    end()
  })
}

const [, script, name, word] = process.argv
const client = hookClients.find((one) => one === name)
if (script !== undefined && client !== undefined && process.platform !== 'win32')
  start(dirname(resolve(script)), client, word === 'status')
