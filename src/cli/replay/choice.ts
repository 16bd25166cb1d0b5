// What the words of `pal replay` choose: recordings and policies.
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  dial,
  layers,
  policies,
  policyFrom,
  policyNamed,
  texts,
  type Policy,
  type Source,
} from '../../lab/index.ts'
import { defaults } from '../../settings/defaults.ts'
import { exits, refuse, type Refusal } from '../exit-codes.ts'

/** In a fixed order, so that the same sessions are held out wherever they lie. */
export async function sourcesAt(path: string): Promise<readonly Source[] | Refusal> {
  try {
    if (!(await stat(path)).isDirectory()) return [{ kind: 'file', path }]
    const found = await readdir(path, { recursive: true })
    const names = found.filter((name) => /\.jsonl(?:\.gz)?$/.test(name)).sort()
    if (names.length === 0) return refuse(exits.usage, `${path} holds no recording (*.jsonl or *.jsonl.gz)`)
    return names.map((name) => ({ kind: 'file', path: join(path, name) }))
  } catch (error) {
    return refuse(exits.usage, `${path} cannot be read (${(error as Error).message})`)
  }
}

const groups: ReadonlyMap<string, readonly Policy[]> = new Map([
  ['all', policies],
  ['dial', dial],
  ['layers', layers],
  ['texts', texts],
])

/** Names or files, with commas between; `all` are all that have a name. */
export async function policiesIn(words: string): Promise<readonly Policy[] | Refusal> {
  const chosen: Policy[] = []
  for (const word of words.split(',')) {
    const found = await policiesFor(word.trim())
    if ('exit' in found) return found
    chosen.push(...found)
  }
  return chosen
}

async function policiesFor(word: string): Promise<readonly Policy[] | Refusal> {
  const group = groups.get(word)
  if (group !== undefined) return group
  const named = policyNamed(word)
  if (named !== undefined) return [named]
  const names = policies.map(({ name }) => name).join(', ')
  try {
    const { size } = await stat(word)
    if (size > defaults.lab.maxPolicyBytes) return refuse(exits.usage, `${word} is too long for a policy`)
    const read = policyFrom(word, await readFile(word, 'utf8'))
    return read.ok ? [read.policy] : refuse(exits.usage, read.failure.message)
  } catch {
    const sets = [...groups.keys()].join(', ')
    return refuse(
      exits.usage,
      `${word} is neither a policy nor a file; there are ${names}, and the sets ${sets}`,
    )
  }
}
