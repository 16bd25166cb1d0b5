// Where `pal` begins. What every start pays for stands here; everything else is loaded when it is needed.
import * as module from 'node:module'

/** Put in when the command is bundled. */
declare const PAL_VERSION: string

// Compiled code is kept between starts where Node can do that.
const cache: { readonly enableCompileCache?: () => unknown } = module
cache.enableCompileCache?.()

const words = process.argv.slice(2)
if (words.length === 1 && (words[0] === '--version' || words[0] === '-V')) {
  process.stdout.write(`${PAL_VERSION}\n`)
} else {
  const [{ processIo }, { runProgram }] = await Promise.all([
    import('./terminal/io.ts'),
    import('./program.ts'),
  ])
  process.exitCode = await runProgram(processIo(), words, PAL_VERSION)
}
