// Files and pictures named in what a person types: @path, @"path with blanks", or the bare path of a picture that was
// dropped on the terminal. The words stay as they were typed; what they name is added beside them.
import { stat } from 'node:fs/promises'
import { isAbsolute, resolve } from 'node:path'

const mention = /(?:^|(?<=[\s(]))@(?:"([^"\n]+)"|([^\s"]+))/g
const picture = /\.(?:png|jpe?g|gif|webp)$/i
/** What a dropped file looks like: one path alone in a line, quoted or with its blanks escaped. */
const dropped = /^\s*(?:'([^'\n]+)'|"([^"\n]+)"|(\/(?:\\.|[^\s\\])+))\s*$/gm

export interface Named {
  /** As it was written. */
  readonly written: string
  readonly path: string
  readonly isPicture: boolean
}

/** Each once, in the order they were written. */
export function namedIn(words: string, cwd: string, userHome: string): readonly Named[] {
  const at = (written: string): Named => {
    // A mark that ends a sentence is no part of a name.
    const plain = written.replace(/[.,;:!?)]+$/, '')
    return { written: plain, path: pathOf(plain, cwd, userHome), isPicture: picture.test(plain) }
  }
  const mentioned = [...words.matchAll(mention)].map((found) => at(found[1] ?? found[2] ?? ''))
  const pictures = [...words.matchAll(dropped)]
    .map((found) => at(found[1] ?? found[2] ?? (found[3] ?? '').replaceAll(/\\(.)/g, '$1')))
    .filter(({ isPicture }) => isPicture)
  const all = [...mentioned, ...pictures].filter(({ written }) => written !== '')
  return all.filter(({ path }, index) => all.findIndex((other) => other.path === path) === index)
}

function pathOf(written: string, cwd: string, userHome: string): string {
  if (written.startsWith('~/')) return resolve(userHome, written.slice(2))
  return isAbsolute(written) ? written : resolve(cwd, written)
}

/** Of what looks like a path, what is one. */
export async function existing(named: readonly Named[]): Promise<readonly string[]> {
  const found = await Promise.all(
    named.map(({ path }) =>
      stat(path).then(
        (there) => (there.isFile() ? [path] : []),
        () => [],
      ),
    ),
  )
  return found.flat()
}
