// Where `pal` begins. What every start pays for stands here; everything else is loaded when it is needed.
import * as module from 'node:module'

/** Put in when the command is bundled. */
declare const PAL_VERSION: string

// Compiled code is kept between starts where Node can do that.
const cache: { readonly enableCompileCache?: () => unknown } = module
cache.enableCompileCache?.()

const args = process.argv.slice(2)
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.write(`${PAL_VERSION}\n`)
} else {
  const [{ processIo }, { runProgram }] = await Promise.all([
    import('./terminal/io.ts'),
    import('./program.ts'),
  ])
  process.exitCode = await runProgram(processIo(), args, PAL_VERSION)
}
