// Commands that run another command. A few hand it on unchanged and are looked through; of the others every way to read
// their words as a command is listed, so that a rule which denies finds what hides behind them.
import { basename } from 'node:path/posix'
import type { MaybeWord } from './word.ts'

/** A command's own name, whatever folder it is called from. */
export const nameOf = (words: readonly MaybeWord[]): string | null => {
  const first = words[0]
  return first === undefined || first === null ? null : basename(first.value)
}

const runners = new Set(
  (
    'env timeout nice nohup command builtin exec eval sudo doas su runuser xargs find fd parallel watch script stdbuf ' +
    'setsid ionice chrt taskset chroot unshare nsenter bwrap flock strace ltrace gdb time coproc trap busybox toybox ' +
    'sh bash dash zsh ksh mksh fish ash rbash ssh entr make npx pnpx bunx mapfile readarray compgen complete bind ' +
    '! { if then elif else do while until for case enable source . systemd-run at batch crontab git tar rsync awk gawk mawk perl python python3 node ruby php expect'
  ).split(' '),
)

/** Whether a command may run what its words say. */
export const runsOthers = (words: readonly MaybeWord[]): boolean => {
  const name = nameOf(words)
  return name === null || runners.has(name)
}

/** The command inside one that changes nothing about it, or null. Anything unusual is not looked through. */
export function handedOn(words: readonly MaybeWord[]): readonly MaybeWord[] | null {
  const [name, ...rest] = words
  const values = rest.map((word) => (word === null ? null : word.value))
  if (name === undefined || name === null || !name.isBare) return null
  const skip = skipped(name.value, values)
  const inner = skip === null ? [] : rest.slice(skip)
  return inner.length === 0 || inner[0]?.value.startsWith('-') === true ? null : inner
}

const duration = /^\d+(?:\.\d+)?[smhd]?$/
const isNumber = (text: string | null | undefined): boolean => /^[+-]?\d+$/.test(text ?? '')

/** How many words belong to the wrapper itself. */
function skipped(name: string, values: readonly (string | null)[]): number | null {
  switch (name) {
    case 'timeout': {
      let at = 0
      for (;;) {
        const value = values[at] ?? ''
        if (value === '-k' || value === '-s') at += 2
        else if (/^--(?:foreground|preserve-status|kill-after=\S+|signal=\w+)$/.test(value)) at++
        else return duration.test(value) ? at + 1 : null
      }
    }
    case 'nice':
      if (values[0] === '-n' && isNumber(values[1])) return 2
      return /^-(?:n)?\d+$|^--adjustment=-?\d+$/.test(values[0] ?? '') ? 1 : 0
    case 'env':
    case 'command':
      // With an assignment or an option it is more than a plain hand-over.
      return /^[^-=]+$/.test(values[0] ?? '') ? 0 : null
    default:
      return null
  }
}
