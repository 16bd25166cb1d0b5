// `palimpsest/fit` as a page would have it: one file, for a browser, with all it needs.
import { build } from 'esbuild'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'

const root = resolve(import.meta.dirname, '..')

export interface FitBundle {
  readonly text: string
  /** Bytes, and what goes over the wire. */
  readonly bytes: number
  readonly gzipped: number
  /** Files of packages that are in it. */
  readonly packages: readonly string[]
}

export async function fitBundle(): Promise<FitBundle> {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `export { fit } from ${JSON.stringify(resolve(root, 'src/fit/index.ts'))}`,
      resolveDir: root,
    },
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'palimpsest',
    logLevel: 'silent',
  })
  const { text } = outputFiles[0]!
  return {
    text,
    bytes: Buffer.byteLength(text),
    gzipped: gzipSync(text).length,
    packages: Object.keys(metafile.inputs).filter((file) => file.includes('node_modules')),
  }
}
