// A picture from the clipboard, through whatever program of the machine can give one. It is written to a file of the
// user's temporary folder that only they can read, and named in the input like any other.
import { execFile } from 'node:child_process'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { defaults } from '../../settings/defaults.ts'

const run = promisify(execFile)
const programs: readonly (readonly [program: string, ...words: string[]])[] = [
  ['wl-paste', '--type', 'image/png'],
  ['xclip', '-selection', 'clipboard', '-target', 'image/png', '-out'],
  ['pngpaste', '-'],
]
const png = Buffer.from([0x89, 0x50, 0x4e, 0x47])
const ownerOnly = 0o600

export type Pasted =
  | { readonly ok: true; readonly path: string }
  | { readonly ok: false; readonly why: string }

export async function clipboardPicture(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<Pasted> {
  for (const [program, ...words] of programs) {
    const picture = await run(program, words, {
      env: { ...environment },
      encoding: 'buffer',
      timeout: defaults.cli.probeMs,
      maxBuffer: defaults.cli.stdinBytes,
    }).then(
      ({ stdout }) => stdout,
      () => null,
    )
    if (picture === null || !picture.subarray(0, png.length).equals(png)) continue
    const path = join(await mkdtemp(join(tmpdir(), 'pal-picture-')), 'picture.png')
    await writeFile(path, picture, { mode: ownerOnly })
    return { ok: true, path }
  }
  return {
    ok: false,
    why: 'there is no picture in the clipboard, or no program to read it: wl-paste, xclip or pngpaste. The path of a picture works too: @picture.png',
  }
}
