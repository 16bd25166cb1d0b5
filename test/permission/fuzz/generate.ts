// Command lines at random from a seed: built from the words of programs, or a known line with something changed in it.
import { acting, looking } from '../commands.ts'
import type { Random } from './random.ts'
import { before, inputs, odd, programs, redirections, separators, wrappers, type Program } from './words.ts'

const seeds: readonly string[] = [...looking, ...looking, ...looking, ...acting]

/**
 * Every option of every program before every word of it that acts, in case the one is taken to swallow the other, and
 * every two letters as a cluster before names of files, in case the program reads the cluster otherwise.
 */
export function* sweep(): Generator<string> {
  for (const { names, options, letters, acts, operands } of programs)
    for (const name of names) {
      for (const act of acts) {
        yield `${name} ${act}`
        for (const option of options) {
          yield `${name} ${option} ${act}`
          yield `${name} ${operands[0]} ${option} ${act}`
        }
      }
      for (const input of name === 'node' || name === 'python3' ? inputs : [])
        for (const option of options) yield `${name} ${option} ${input}`
      if (name !== names[0]) continue
      for (const one of letters)
        for (const other of letters) {
          yield `${name} -${one}${other} ${operands[0]} F`
          yield `${name} -${one}${other} 1 F`
        }
    }
}

export function randomCommand(random: Random): string {
  const kind = random.below(100)
  if (kind < 45) return built(random)
  if (kind < 55) return swallowing(random)
  if (kind < 70) return changedText(random.pick(seeds), random)
  if (kind < 92) return changedWords(random.pick(seeds), random)
  const parts = Array.from({ length: 2 + random.below(2) }, () =>
    random.chance(0.5) ? built(random) : random.pick(seeds),
  )
  return parts.reduce((text, part) => `${text}${random.pick(separators)}${part}`)
}

function swallowing(random: Random): string {
  const program = random.pick(programs)
  const words = [random.pick(program.names), wordOf(program, random), random.pick(program.options)]
  words.push(random.pick(program.acts), random.pick(program.operands))
  if (random.chance(0.5)) words.splice(1, 1)
  if (random.chance(0.5)) words.pop()
  if (random.chance(0.3)) words.splice(1 + random.below(words.length), 0, random.pick(redirections))
  return words.join(' ')
}

function built(random: Random): string {
  const program = random.pick(programs)
  const words = [random.pick(program.names)]
  const count = 1 + random.below(5)
  for (let at = 0; at < count; at++) words.push(wordOf(program, random))
  // A line of a plain shape is likelier to be let run, and then worth running.
  const isOdd = random.chance(0.35)
  const spelled = words.map((word, at) =>
    isOdd && at > 0 && random.chance(0.3) ? spell(word, random) : word,
  )
  if (random.chance(0.3)) spelled.splice(1 + random.below(spelled.length), 0, random.pick(redirections))
  if (isOdd && random.chance(0.4)) spelled.splice(1 + random.below(spelled.length), 0, random.pick(odd))
  let text = spelled.join(' ')
  if (random.chance(0.08)) text = `${random.pick(wrappers)}${text}`
  const reads = program.names.includes('node')
  if (random.chance(reads ? 0.5 : 0.03)) text = `${text} ${random.pick(inputs)}`
  if (random.chance(reads ? 0.3 : 0.05)) text = `${random.pick(before)}${text}`
  return text
}

function wordOf(program: Program, random: Random): string {
  const kind = random.below(10)
  if (kind < 5) return random.pick(program.options)
  if (kind < 7) {
    const count = 1 + random.below(3)
    const letters = Array.from(
      { length: count },
      () => program.letters[random.below(program.letters.length)]!,
    )
    return `-${letters.join('')}`
  }
  return random.pick(program.operands)
}

/** The same word written otherwise; most of the time it means the same to a shell. */
function spell(word: string, random: Random): string {
  const at = random.below(word.length + 1)
  const [head, tail] = [word.slice(0, at), word.slice(at)]
  switch (random.below(11)) {
    case 0:
      return `'${word.replaceAll("'", '')}'`
    case 1:
      return `"${word}"`
    case 2:
      return `${head}''${tail}`
    case 3:
      return `${head}\\${tail}`
    case 4:
      return `$'${word.replaceAll("'", '')}'`
    case 5:
      return `${head}$'${Array.from(tail, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`).join('')}'`
    case 6:
      return `${head}\\\n${tail}`
    case 7:
      return `{${word},${random.pick(odd)}}`
    case 8:
      return `${head}""${tail}`
    case 9:
      return `${word}${random.pick(odd)}`
    default:
      return `${head}$''${tail}`
  }
}

/** Whole words put in, left out, doubled, swapped or spelled otherwise. */
function changedWords(line: string, random: Random): string {
  const words = line.split(/(?<=\S)[ ]+/)
  for (let times = 1 + random.below(3); times > 0; times--) {
    const at = random.below(words.length + 1)
    switch (random.below(7)) {
      case 0:
      case 1:
        words.splice(at, 0, random.pick(redirections))
        break
      case 2:
        words.splice(at, 0, random.pick(odd))
        break
      case 3:
        words.splice(at, 0, wordOf(random.pick(programs), random))
        break
      case 4:
        words.splice(at, 1)
        break
      case 5:
        if (words[at] !== undefined) words[at] = spell(words[at], random)
        break
      default:
        words.splice(at, 0, words[random.below(words.length)] ?? '')
    }
  }
  return words.join(' ')
}

const pieces = [
  ...Array.from('\'"\\$`;|&<>(){}[]*?~!#=-, \n\t0123456789aFxeow'),
  '$(',
  '${',
  "$'",
  '>&',
  '<<',
  '&&',
  '||',
  "''",
]

/** Single characters put in, left out or swapped. */
function changedText(line: string, random: Random): string {
  let text = line
  for (let times = 1 + random.below(4); times > 0; times--) {
    const at = random.below(text.length + 1)
    const kind = random.below(3)
    const gone = kind === 0 ? 0 : 1
    text = `${text.slice(0, at)}${kind === 1 ? '' : random.pick(pieces)}${text.slice(at + gone)}`
  }
  return text
}
