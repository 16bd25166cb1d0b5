// Where `pal` begins. What every start pays for stands here; everything else is loaded when it is needed.
import * as module from 'node:module'

/** Put in when the command is bundled. */
declare const PAL_VERSION: string

// Compiled code is kept between starts where Node can do that.
const cache: { readonly enableCompileCache?: () => unknown } = module
cache.enableCompileCache?.()

const args = process.argv.slice(2)
if (args.length === 1 && (args[0] === '--version' || args[0] === '-V')) {
  process.stdout.on('error', ({ message }) => {
    process.stderr.write(`pal: stdout cannot be written to, so output is lost: ${message}\n`)
    process.exitCode = 1
  })
  process.stdout.write(`${PAL_VERSION}\n`)
} else if (process.platform === 'win32') {
  // Locks, durable writes, rules about paths and the shell are built for Unix: here none of it would hold.
  process.stderr.write(
    'pal: Windows is not supported yet. Run pal inside WSL (wsl --install, then Node and pal in the Linux shell); keep the project on the Linux file system.\n',
  )
  process.exitCode = 1
} else {
  const [{ processIo, startPlace }, { runProgram }] = await Promise.all([
    import('./terminal/io.ts'),
    import('./program.ts'),
  ])
  const started = startPlace()
  if (started.ok) process.exitCode = await runProgram(processIo(started), args, PAL_VERSION)
  else {
    process.stderr.write(`pal: ${started.why}.\n`)
    process.exitCode = 1
  }
}
