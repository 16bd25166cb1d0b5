// A program of a few lines as one file, for benches that start it.
import { dirname, join } from 'node:path'
import { build, type BuildOptions } from 'esbuild'

const root = dirname(import.meta.dirname)
const requireShim = `import { createRequire as make } from 'node:module'; const require = make(import.meta.url);`

/** Written into this folder; its packages are in it unless `how` leaves them out. */
export async function smallProgram(
  folder: string,
  name: string,
  contents: string,
  how: Pick<BuildOptions, 'minifySyntax' | 'minifyWhitespace' | 'packages'> = {},
): Promise<string> {
  const outfile = join(folder, `${name}.mjs`)
  await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    ...(how.packages === 'external' ? {} : { banner: { js: requireShim } }),
    logLevel: 'error',
    ...how,
  })
  return outfile
}
