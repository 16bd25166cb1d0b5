// A made-up project: files of lines that name each other's functions, so that what is found in one place is used in
// another. The lines change as they are edited.
import type { Chance } from './chance.ts'

export interface SourceFile {
  readonly path: string
  readonly lines: string[]
}

export interface Project {
  readonly files: readonly SourceFile[]
  readonly names: readonly string[]
}

const areas = ['billing', 'orders', 'stock', 'reports', 'users', 'mail', 'search', 'export'] as const
const nouns = ['Row', 'Total', 'Batch', 'Cursor', 'Ledger', 'Quota', 'Window', 'Record', 'Digest'] as const
const verbs = ['parse', 'merge', 'apply', 'check', 'load', 'split', 'count', 'render', 'resolve'] as const

export function projectOf(chance: Chance, files: number, lines: number): Project {
  const names = Array.from(
    { length: files * 4 },
    (_, index) => `${chance.pick(verbs)}${chance.pick(nouns)}${index}`,
  )
  return {
    names,
    files: Array.from({ length: files }, (_, index) => fileOf(chance, names, index, lines)),
  }
}

function fileOf(chance: Chance, names: readonly string[], index: number, most: number): SourceFile {
  const area = areas[index % areas.length]!
  const path = `src/${area}/${chance.pick(nouns).toLowerCase()}-${index}.ts`
  const own = names.slice(index * 4, index * 4 + 4)
  const lines = [`// ${area}: ${own.join(', ')}`, '']
  const wanted = chance.between(Math.ceil(most / 3), most)
  while (lines.length < wanted) lines.push(...functionOf(chance, names, chance.pick(own), lines.length))
  return { path, lines }
}

function functionOf(chance: Chance, names: readonly string[], name: string, at: number): readonly string[] {
  const limit = chance.between(100, 99_999)
  const body = Array.from({ length: chance.between(3, 9) }, (_, row) => {
    const other = chance.pick(names)
    return chance.pick([
      `  const part_${at + row} = ${other}(input.slice(${row}), { limit: ${limit + row} })`,
      `  if (part.size > ${limit + row}) throw new RangeError('${other} gave more than ${limit + row} rows')`,
      `  for (const entry of ${other}(options)) seen.set(entry.key_${at + row}, entry)`,
      `  // ${other} has counted these already, so they must not be counted again.`,
    ])
  })
  return [
    `export function ${name}_${at}(input: Input, options: Options): Output {`,
    ...body,
    `  return finish(seen, ${limit})`,
    '}',
    '',
  ]
}
