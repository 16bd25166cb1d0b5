// The program that a command line is about, as a name: arguments, variables and what only leads up to it are left out.

const leading = new Set([
  'cd',
  'export',
  'source',
  'set',
  'env',
  'sudo',
  'time',
  'timeout',
  'nohup',
  'command',
  'exec',
])
const mostChars = 4000

/** Empty where none can be told. */
export function programOf(command: string): string {
  for (const part of command.slice(0, mostChars).split(/&&|\|\||[;\n|]/)) {
    for (const word of part.trim().split(/\s+/)) {
      if (word === '' || /^[A-Za-z_]\w*=/.test(word) || word.startsWith('-') || /^\d+[smh]?$/.test(word))
        continue
      if (word === 'cd' || word === 'export' || word === 'source' || word === 'set') break
      if (leading.has(word)) continue
      const name = word.slice(word.lastIndexOf('/') + 1)
      return /^[A-Za-z0-9_.+-]{1,40}$/.test(name) ? name : ''
    }
  }
  return ''
}
